package mpich

import (
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// device is what differs between ch3 and ch4.
type device interface {
	// name is the device's name in MPICH.
	name() string
	// elsewhere is an error that says why nothing here knows a communicator's
	// receives and messages, nil if they are known.
	elsewhere(c *commState) error
	// group reads one group of the communicator at a, up to 4.3.
	group(a inferior.Addr, local bool, size int32) ([]mqs.Maybe[int32], error)
	// progress counts what the process has got done, where the device keeps count.
	progress() mqs.Maybe[uint64]
	// posted returns the first ones of the lists of receives that nothing has
	// matched, unexpected those of messages that no receive has matched; each
	// list is in the order of matching.
	posted() ([]inferior.Addr, error)
	unexpected() ([]inferior.Addr, error)
	// sentToSelf returns the first one of the list of sends to oneself, on communicators of one
	// process, that no receive has matched: in the order of matching; false if there is no such
	// list, or none is known.
	sentToSelf() (inferior.Addr, bool)
	// isHalf tells a request that is only the other half of one operation.
	isHalf(r *requestAt, posted map[inferior.Addr]bool) bool
	// send, receive and persistent say what was asked for.
	send(r *requestAt, c *commState) asked
	receive(r *requestAt, c *commState, pending bool) asked
	persistent(r *requestAt) asked
	// isMatched tells whether the receive, which is in no list and not
	// complete, has matched, and the message that it has then.
	isMatched(r *requestAt) (message, bool)
	// arrived describes a message that has arrived.
	arrived(r *requestAt) message
}

// asked is what the program asked for, as far as the library keeps it.
type asked struct {
	peer, tag mqs.Maybe[int32] // with MPICH's own values for any
	buffer    mqs.Maybe[inferior.Addr]
	count     mqs.Maybe[int64]
	bytes     mqs.Maybe[int64] // where count and datatype are not kept
	datatype  mqs.Maybe[uint32]
	kind      string
	// Context is what the operation's context id adds to the communicator's:
	// 0 for the program's messages, 1 for those of collective operations.
	context mqs.Maybe[uint32]
}

// message is an envelope and where the data is.
type message struct {
	source, tag int32
	bytes       mqs.Maybe[int64]
	context     uint32 // the receiver's id
	buffer      inferior.Addr
	how         string // "eager", "rendezvous", or empty if not known
	// lost: nothing else of it is known.
	lost bool
	// Of a message to oneself on a communicator of one process, its send.
	request inferior.Addr
}

// Ranks and tags with a meaning of their own (src/include/mpi.h.in).
const (
	anySource = -2
	anyTag    = -1
	procNull  = -1
)

// tagErrorBits are set in the tag of a collective operation's message that
// carries a failure (src/include/mpir_tags.h); a program's tags don't have them.
const tagErrorBits = 0x6000_0000

// contextCollective is added to a communicator's context id for its collective operations.
const contextCollective = 1
