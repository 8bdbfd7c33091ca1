package mpich

import (
	"cmp"
	"errors"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs/transport"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport/ucx"
)

// ucxUser is what MPICH keeps behind each request of UCX: of a send, the address of its
// own request (src/mpid/ch4/netmod/ucx/ucx_pre.h, 4.0 to 5.0).
const ucxUser = 8

// How ch4:ucx puts an MPI message's envelope into a tag of UCX (ucx_impl.h, 4.0 to 5.0):
// the context above, the source's rank in the communicator in the middle, the tag below.
const (
	ucxContextShift = 48
	ucxRankShift    = 32
	ucxRankMask     = 0xffff << ucxRankShift
	ucxAnyTagMask   = 0x0fff_ffff // no receive of a single tag looks at none of these
	ucxTagMask      = 0x3fff_ffff
	ucxOwnTag       = 0xc000_0000 // of the library's own: active messages, dynamic processes
)

// Bits of a context id (src/include/mpir_contextid.h): collective operations, the parts
// of a communicator that the library makes for itself, an intercommunicator's local side.
const (
	contextOfParts = 0x6
	contextOfLocal = 0x8
	contextOwn     = contextCollective | contextOfParts | contextOfLocal
)

// envelopeUCX is what a tag of UCX says.
type envelopeUCX struct {
	context uint32
	source  int32
	tag     int32
	own     bool // the library's own
}

func envelopeOf(tag uint64) envelopeUCX {
	context := uint32(tag >> ucxContextShift)
	return envelopeUCX{context, int32(tag & ucxRankMask >> ucxRankShift), int32(tag & ucxTagMask),
		tag&ucxOwnTag != 0 || context&contextOwn != 0}
}

// askInUCX fills in what a receive has asked for.
func askInUCX(op *mqs.PendingOperation, c *mqs.Communicator, r *transport.Receive) {
	e := envelopeOf(r.Tag)
	op.TagWild = mqs.Known(r.Mask&ucxAnyTagMask == 0)
	if !op.TagWild.Value {
		op.DesiredTag = mqs.Known(e.tag)
	}
	op.DesiredLocalRank, op.DesiredGlobalRank = mqs.Known(e.source), c.GlobalRank(e.source)
	if r.Mask&ucxRankMask == 0 {
		op.DesiredLocalRank, op.DesiredGlobalRank = mqs.Known(int32(mqs.AnyRank)), mqs.Known(int32(mqs.AnyRank))
	}
	op.Internal = e.own
}

// arrivedInUCX fills in what a message says of itself.
func arrivedInUCX(op *mqs.PendingOperation, c *mqs.Communicator, tag uint64, length mqs.Maybe[int64]) {
	e := envelopeOf(tag)
	op.ActualLocalRank, op.ActualGlobalRank, op.ActualTag = mqs.Known(e.source), c.GlobalRank(e.source), mqs.Known(e.tag)
	op.ActualLength = length
	op.Internal = e.own
}

// messageInUCX describes a message that no receive has matched.
func messageInUCX(c *mqs.Communicator, m *transport.Message) mqs.PendingOperation {
	op := mqs.PendingOperation{Status: mqs.Pending, TagWild: mqs.Known(false), ExtraText: []string{"eager"}}
	arrivedInUCX(&op, c, m.Tag, mqs.Maybe[int64]{Value: m.Length, Known: m.Length >= 0})
	op.DesiredLocalRank, op.DesiredGlobalRank = op.ActualLocalRank, op.ActualGlobalRank
	op.DesiredTag, op.DesiredLength = op.ActualTag, op.ActualLength
	op.MessageID = mqs.Maybe[uint64]{Value: m.Sender, Known: m.Sender != 0}
	if m.Rendezvous {
		op.ExtraText = []string{mqs.Rendezvous}
	} else if m.Data != 0 {
		op.SystemBuffer, op.Buffer = mqs.Known(true), mqs.Known(m.Data)
	}
	return op
}

// openUCX opens the UCX that a process's MPICH leaves its messages to.
func openUCX(r *inferior.Reader) (*ucx.UCX, error) {
	symbols, err := r.Symbols(ucx.Symbols...)
	if err != nil {
		return nil, err
	}
	return ucx.Open(r, symbols, ucxUser)
}

// inUCX is all that a process's MPICH has in UCX, of all its workers: it has one for each
// virtual interface.
type inUCX struct {
	sends      []transport.Send
	receives   []transport.Receive // matched and complete ones first, then in the order of matching
	unexpected []transport.Message
	offload    bool
	sequence   uint64 // of all receives that had to wait
	// unexpectedErr is why there may be more messages.
	unexpectedErr error
}

// errOtherTags means that an MPICH was configured with other than 16 bits for ranks
// (--with-ch4-ucx-rankbits), or is of a release that puts its tags together in another way.
var errOtherTags = errors.New("receives have masks that mpi-queues does not know: it reads tags with 16 bits for ranks")

// isMask says whether a receive may have a mask: all of the context, the rank or nothing of
// it, and the tag with or without the bits for errors, or what is left of it for any tag.
func isMask(mask uint64) bool {
	rank := mask & ucxRankMask
	return mask>>ucxContextShift == 0xffff && (rank == 0 || rank == ucxRankMask) &&
		slices.Contains([]uint32{0x9fff_ffff, 0xffff_ffff, 0x9000_0000, 0xe000_0000}, uint32(mask))
}

func readUCX(u *ucx.UCX) (*inUCX, error) {
	q := &inUCX{}
	for _, m := range u.Matchers() {
		w := m.Queues()
		q.sends = append(q.sends, w.Sends...)
		q.receives = slices.Concat(q.receives, w.Matched, w.Posted)
		q.unexpected = append(q.unexpected, w.Unexpected...)
		q.offload = q.offload || w.Offload
		q.sequence += w.Waited
		q.unexpectedErr = cmp.Or(q.unexpectedErr, w.UnexpectedErr)
	}
	if len(u.Matchers()) == 0 {
		return nil, errNoWorker
	}
	if slices.ContainsFunc(q.receives, func(r transport.Receive) bool { return r.State != transport.Complete && !isMask(r.Mask) }) {
		return nil, errOtherTags
	}
	return q, nil
}

// errNoWorker means that an MPICH has nothing in UCX, whatever that is there for.
var errNoWorker = errors.New("UCX has no worker: the program has not called MPI_Init yet, has called MPI_Finalize, or its MPICH leaves its messages to another library")

// statusInUCX is what the state of a request of UCX is to MPI.
var statusInUCX = [...]mqs.Status{transport.Posted: mqs.Pending, transport.Matched: mqs.Matched, transport.Complete: mqs.Complete}

// packState is what 4.0 keeps of data that is not contiguous: where it is, how many elements
// of which datatype (struct pack_state, src/mpid/ch4/netmod/ucx/ucx_datatype.c).
type packState struct {
	buffer   inferior.Addr
	count    int64
	datatype uint32
}

// readPackState reads one. Nothing but the datatype's handle proves that it is one.
func readPackState(r *inferior.Reader, at inferior.Addr) (packState, bool) {
	if at == 0 {
		return packState{}, false
	}
	words, err := r.Pointers(at, 2)
	if err != nil {
		return packState{}, false
	}
	handle, err := r.Uint(at+2*inferior.Addr(r.Info().PointerSize), 4)
	if err != nil || proveHandle(uint32(handle), storage(uint32(handle)), objectDatatype, "a datatype") != nil || storage(uint32(handle)) == 0 {
		return packState{}, false
	}
	return packState{words[0], int64(words[1]), uint32(handle)}, int64(words[1]) >= 0
}
