package ompi

// Ranks and tags with a meaning of their own (ompi/include/mpi.h.in).
const (
	procNull  = -2
	AnySource = -1
	AnyTag    = -1
)

// Values of an ompi_request_t's req_state (ompi/request/request.h).
const (
	RequestInvalid  = 0 // not in use
	RequestInactive = 1 // persistent, not started
	RequestActive   = 2
)

// RequestCompleted is req_complete once the operation is complete; before, it
// is NULL or the address of what a waiting thread sleeps on.
const RequestCompleted = 1

// Values of a send request's mode (ompi/mca/pml/pml_constants.h, mca_pml_base_send_mode_t,
// 4.0 to 6.0). A complete one is a standard send of the library's own.
const (
	ModeSynchronous = iota
	ModeComplete
	ModeBuffered
	ModeReady
	ModeStandard
)

// sendKinds are what MPI calls a send of each mode; a persistent one is named after the call that made it.
var sendKinds = [...]struct{ once, persistent string }{
	ModeSynchronous: {"issend", "ssend_init"},
	ModeComplete:    {"isend", "send_init"},
	ModeBuffered:    {"ibsend", "bsend_init"},
	ModeReady:       {"irsend", "rsend_init"},
	ModeStandard:    {"isend", "send_init"},
}

// SendKind is what MPI calls a send of a mode, empty for one that there is not.
func SendKind(mode int32, isPersistent bool) string {
	switch {
	case mode < 0 || int(mode) >= len(sendKinds):
		return ""
	case isPersistent:
		return sendKinds[mode].persistent
	}
	return sendKinds[mode].once
}

// Tags of the library's own messages (ompi/mca/coll/base/coll_tags.h, 4.0 to 6.0): those of blocking
// collectives, MCA_COLL_BASE_TAG_ALLGATHER to SCATTERV, and of blocking ones among neighbours,
// NEIGHBOR_BASE to NEIGHBOR_END. Most between them are reserved one by one for non-blocking
// collectives, which are on their way whatever the program does meanwhile.
const (
	firstCollectiveTag, lastCollectiveTag = -10, -26
	firstNeighbourTag, lastNeighbourTag   = -1<<30 + 1, firstNeighbourTag - 1024
)

// IsInternal says whether a tag is one of the library's own messages. [AnyTag] is none.
func IsInternal(tag int32) bool { return tag < 0 && tag != AnyTag }

// isOfCollective says whether a tag is one that a blocking collective gives to messages of its own.
func isOfCollective(tag int32) bool {
	return tag <= firstCollectiveTag && tag >= lastCollectiveTag || tag <= firstNeighbourTag && tag >= lastNeighbourTag
}

// IsOfNonBlocking says whether a tag is one of a non-blocking collective's, which are those between.
func IsOfNonBlocking(tag int32) bool { return tag < lastCollectiveTag && tag > firstNeighbourTag }
