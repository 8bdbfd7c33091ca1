package mpir

import (
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Device is what differs between the devices of MPICH. Of what a device does not have, its methods say
// that there is none.
type Device interface {
	// Open opens what is beneath the device. It is called once the layouts are proved.
	Open()
	// Group returns the global ranks of one group of a communicator, which has size members: the local
	// one of an intercommunicator, or else the group that ranks of peers count in. It is asked where
	// [Library.HasGroups] is false.
	Group(c *Communicator, isLocal bool, size int32) ([]mqs.Maybe[int32], error)
	// Transport is what carries messages, as [mqs.Process] has it.
	Transport() string
	// Progress counts what the process has got done, as [mqs.Process] has it.
	Progress() mqs.Maybe[uint64]
	// Arriving says whether messages lie before the process that it has not looked at yet, as
	// [mqs.Process] has it.
	Arriving() mqs.Maybe[bool]

	// Posted returns the first ones of the lists of receives that nothing has matched, Unexpected those of
	// the lists of messages that no receive has matched. Each list is in the order of matching.
	Posted() ([]inferior.Ptr[Request], error)
	Unexpected() ([]inferior.Ptr[Request], error)
	// SentToSelf returns the first one of the list of sends to oneself, on communicators of one process, that
	// no receive has matched, in the order of matching; false if there is no such list, or none is known.
	SentToSelf() (first inferior.Ptr[Request], ok bool)
	// Join finds requests in what a network library beneath the device has, and gives them their
	// communicators, which those that the network library carries out do not know themselves. listed are the receives of
	// the device's own lists. It returns all that nothing has matched, in the order of matching, and the communicators
	// that are in none of comms any more, but on which something is under way there: of them no more is known than the
	// context.
	Join(requests map[inferior.Ptr[Request]]*Operation, comms []*Communicator, listed []*Operation) (posted []*Operation, freed []*Communicator)
	// IsPartner tells a request that is only the other half of one operation.
	IsPartner(r *Operation) bool

	// Send returns what the program has asked for by a send, as far as the device keeps it. blocking is the
	// kind of the send ("ssend") if a blocking call is known to have made it, else empty.
	Send(r *Operation, c *Communicator, blocking string) Arguments
	// Receive does so for a receive, which nothing has matched if isPending is true.
	Receive(r *Operation, c *Communicator, isPending bool) Arguments
	// Persistent does so for a persistent request.
	Persistent(r *Operation) Arguments
	// Partitioned does so for a partitioned operation of a persistent request; false if the types do not tell
	// how those are kept.
	Partitioned(r *Operation) (p Partitioned, ok bool, err error)

	// UnknownSends is the sentence for the user of a process where not all of a send is known.
	UnknownSends() string
	// Matched returns the message that a receive has matched that is in no list and not complete; false if
	// it is not known to have matched any.
	Matched(r *Operation) (Message, bool)
	// Arrived describes a message that has arrived, of the lists of [Device.Unexpected].
	Arrived(r *Operation) Message
	// Taken describes a message on a communicator that MPI_Mprobe has taken.
	Taken(r *Operation, c *Communicator) Message
	// ToSelf returns the message that a send to oneself is, on a communicator of one process; false if such
	// a message does not wait in its send until a receive matches it.
	ToSelf(r *Operation) (Message, bool)
	// Messages returns the messages on a communicator that no receive has matched in a network library, in the
	// order of matching, and an error if there may be more there.
	Messages(c *Communicator) ([]mqs.PendingOperation, error)
	// LockWaiters are the ranks that have asked for a lock of this process's memory in a window and do not have it
	// yet; nil if the device does not keep them, or they can't be read.
	LockWaiters(w *Window) []int32
	// LockTarget returns the local rank whose memory a call that waits in MPI_Win_lock wants to lock, if the device keeps it.
	LockTarget(w *Window) mqs.Maybe[int32]
	// CountsPosts says whether MPI_Win_start goes on after as many posts as its group has ranks, whoever makes them.
	CountsPosts() bool

	// MayRefuse says whether what is beneath the device may refuse a send for as long as its peer computes. The device
	// tries again then, inside of the call and maybe before there is a request.
	MayRefuse() bool
	// OwnFlags are the flags in shared memory that this process raises for collectives on a communicator, and AwaitedFlags those for
	// which a call waits there; none if there are none, or they are unknown. isDirect is true if the call was given that communicator.
	OwnFlags(c *Communicator) []mqs.Flag
	AwaitedFlags(c *Communicator, call string, isDirect bool) []mqs.Flag
	// Epochs returns those that are open on a window in this process, nil if they are not known.
	Epochs(w *Window) []mqs.Epoch
	// Elsewhere says why a communicator's receives and messages are where nothing can be read, nil if they
	// are not.
	Elsewhere(c *Communicator) error
}

// Arguments are what the program asked for, as far as the library keeps it.
type Arguments struct {
	Peer, Tag mqs.Maybe[int32] // with MPICH's own values for any
	Buffer    mqs.Maybe[inferior.Addr]
	Count     mqs.Maybe[int64]
	Bytes     mqs.Maybe[int64] // where count and datatype are not kept
	Datatype  mqs.Maybe[uint32]
	Kind      string
	// Context is what the operation's context id adds to the communicator's:
	// 0 for the program's messages, 1 for those of collective operations.
	Context mqs.Maybe[uint32]
}

// WithBuffer returns the arguments with a buffer, the number of its elements and the handle of their type.
func (a Arguments) WithBuffer(buffer inferior.Addr, count int64, datatype uint32) Arguments {
	a.Buffer, a.Count, a.Datatype = mqs.Known(buffer), mqs.Known(count), mqs.Known(datatype)
	return a
}

// Message is an envelope and where the data is.
type Message struct {
	Source  mqs.Maybe[int32]
	Tag     int32
	Bytes   mqs.Maybe[int64]
	Context uint32 // the receiver's id
	Buffer  inferior.Addr
	// Protocol is [mqs.Eager] or [mqs.Rendezvous], empty if not known.
	Protocol string
	// IsLost is true if nothing else of it is known.
	IsLost bool
	// Sender is the request of a send to oneself that the message waits in, 0 if it waits in none.
	Sender inferior.Ptr[Request]
}

// TagErrorBits are set in the tag of a collective operation's message that
// carries a failure (src/include/mpir_tags.h); a program's tags don't have them.
const TagErrorBits = 0x6000_0000

// ContextCollective is added to a communicator's context id for its collective operations.
const ContextCollective = 1

// Bits of a context id (src/include/mpir_contextid.h): the parts
// of a communicator that the library makes for itself, an intercommunicator's local side.
const (
	contextOfParts = 0x6
	contextOfLocal = 0x8
	// ContextOwn are those that no communicator of the program's has, nor a message of its own.
	ContextOwn = ContextCollective | contextOfParts | contextOfLocal
)
