package callstack

import (
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// BlockingSends and BlockingRecvs are the calls that wait for a request of their own, with the kind of this
// request. MPI_Sendrecv may have one of each. For an eager message, or MPI_PROC_NULL, it has none, so that
// a request that it holds need not be its own.
var (
	BlockingSends = map[string]string{"MPI_Send": "send", "MPI_Ssend": "ssend", "MPI_Rsend": "rsend",
		"MPI_Sendrecv": KindNotKnown, "MPI_Sendrecv_replace": KindNotKnown}
	BlockingRecvs = map[string]string{"MPI_Recv": "recv", "MPI_Mrecv": "mrecv",
		"MPI_Sendrecv": KindNotKnown, "MPI_Sendrecv_replace": KindNotKnown}
)

// KindNotKnown is the kind of a request that may or may not belong to a call.
const KindNotKnown = ""

// pointToPoint are the beginnings of the names of the calls for the program's own messages (MPI 4.1,
// chapters 3 and 4).
var pointToPoint = []string{
	"MPI_Send", "MPI_Bsend", "MPI_Ssend", "MPI_Rsend", "MPI_Isend", "MPI_Ibsend", "MPI_Issend", "MPI_Irsend",
	"MPI_Buffer_", "MPI_Comm_detach_buffer", "MPI_Comm_flush_buffer", "MPI_Session_detach_buffer", "MPI_Session_flush_buffer",
	"MPI_Recv", "MPI_Irecv", "MPI_Mrecv", "MPI_Imrecv", "MPI_Probe", "MPI_Iprobe", "MPI_Mprobe", "MPI_Improbe",
	"MPI_Wait", "MPI_Test", "MPI_Start", "MPI_Request_", "MPI_Cancel",
	"MPI_Psend_init", "MPI_Precv_init", "MPI_Pready", "MPI_Parrived",
}

// IsPointToPoint says whether a call is about the program's own messages, so that it waits for none that
// the library has made for itself. call is its plain name in C.
func IsPointToPoint(call string) bool {
	return slices.ContainsFunc(pointToPoint, func(begins string) bool { return strings.HasPrefix(call, begins) })
}

// HasWindow says whether a call works on a window that is there before.
func HasWindow(call string) bool {
	return strings.HasPrefix(call, "MPI_Win_") && !strings.HasPrefix(call, "MPI_Win_create") && !strings.HasPrefix(call, "MPI_Win_allocate")
}

// HasFile is the same of a file.
func HasFile(call string) bool {
	return strings.HasPrefix(call, "MPI_File_") && call != "MPI_File_open" && call != "MPI_File_delete"
}

// HasTarget says whether a call is about the memory of one rank of a window: it locks, unlocks or flushes it.
func HasTarget(call string) bool {
	switch call {
	case "MPI_Win_lock", "MPI_Win_unlock", "MPI_Win_flush", "MPI_Win_flush_local":
		return true
	}
	return false
}

// Kind is the kind of a request that a blocking call holds.
type Kind struct {
	// Name is "recv", "ssend" and so on; [KindNotKnown] if the request may or may not be the call's own.
	Name string
	// Call is the call that has made the request for itself; nil if the name is not known.
	Call *Call
}

// Kinds are the kinds of requests that blocking calls may have made for themselves, by the address of the
// request. No blocking call has made a request that is not among them.
type Kinds map[inferior.Addr]Kind

// OwnRequests holds the requests of one class that a blocking call may have made for itself.
type OwnRequests struct {
	Requests []inferior.Addr
	// Proved is true if there is just one, and it is known to be the call's own.
	Proved bool
}

// KindsOf finds the requests of blocking calls. Nothing in a request tells MPI_Recv from MPI_Irecv, but a
// thread that waits in MPI_Recv holds the request's address. It may hold other addresses too, since the
// stack keeps old values, and registers may hold the program's variables. own returns the requests of a
// class (sends or receives) that a call can have made. If two calls have the same request, the later
// call counts.
func KindsOf(calls []Call, own func(c *Call, class mqs.OpClass) OwnRequests) Kinds {
	out := Kinds{}
	for i := range calls {
		c := &calls[i]
		for class, kinds := range [...]map[string]string{mqs.PendingSends: BlockingSends, mqs.PendingReceives: BlockingRecvs} {
			name, ok := kinds[c.Function]
			if !ok {
				continue
			}
			of := own(c, mqs.OpClass(class))
			kind := Kind{}
			if of.Proved && name != KindNotKnown {
				kind = Kind{Name: name, Call: c}
			}
			for _, a := range of.Requests {
				out[a] = kind
			}
		}
	}
	return out
}

// KindsNotKnown returns the kinds of requests that blocking calls may or may not have made.
func KindsNotKnown(requests ...inferior.Addr) Kinds {
	out := Kinds{}
	for _, a := range requests {
		out[a] = Kind{}
	}
	return out
}
