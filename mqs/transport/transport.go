// Package transport is the shape in which a library beneath an MPI shows the messages that it
// matches by tags: where messages match, what is posted there, what is on its way and what has
// come unexpected. The packages below it read one such library each. What a tag means to an MPI,
// who a peer is and which of the MPI's requests a request belongs to is the MPI's to say.
package transport

import (
	"errors"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// State is how far a request has come.
type State int

// The states of a request.
const (
	Posted   State = iota // a receive that has not matched, or a send
	Matched               // a receive whose data is not all there, or a send that its receiver has answered
	Complete              // not released by the MPI yet
)

// Status is what the state is to MPI.
func (s State) Status() mqs.Status {
	return [...]mqs.Status{Posted: mqs.Pending, Matched: mqs.Matched, Complete: mqs.Complete}[s]
}

// Peer is a process as a transport calls it: the address of an endpoint of UCX, the number of an address of
// libfabric.
type Peer = mqs.Maybe[uint64]

// Request is what sends and receives have in common.
type Request struct {
	// Addr is that of the transport's own request.
	Addr inferior.Addr
	// User is where the MPI's own part of the request is, UserData what the MPI gave with it; 0 where there is none.
	User, UserData inferior.Addr
	State          State
	// Buffer is where the data is, 0 if it is not contiguous or not known: then Generic is what the MPI
	// keeps of it for the transport, 0 if it keeps nothing.
	Buffer, Generic inferior.Addr
	// Length is that of the data, or of the buffer of a receive, in bytes; -1 if not known.
	Length int64
	// Done is the function that is called on completion, 0 if there is none.
	Done inferior.Addr
	// Released is true if the MPI does not wait for it any more.
	Released bool
}

// Send is a request of a tag send.
type Send struct {
	Request
	// Tag is of no meaning if TagLost is true.
	Tag uint64
	// TagLost is true if what has become of the request is known to have written over its tag, and TagKept if nothing
	// can have done so.
	TagLost, TagKept bool
	// SourceLost is true if the tag lacks the sender's rank, though tags have it.
	SourceLost bool
	// Sync is true if it completes only once a receive has matched.
	Sync bool
	// OfCall is true of one that a blocking call has made which holds its address: nothing of the MPI's leads to it.
	OfCall bool
	// Peer is where it goes to.
	Peer Peer
	// ID is what its message calls it ([Message.Sender]), 0 if the receiver does not answer.
	ID uint64
}

// Receive is a request of a tag receive.
type Receive struct {
	Request
	// Tag and Mask say which tags match: those that differ in no bit of the mask. TagLost is true if it is not
	// known whether the program has asked for a tag or for any, AskLost if nothing of what it asks for is.
	Tag, Mask        uint64
	TagLost, AskLost bool
	// Peer is from where alone it receives. It is not known of one that receives from anywhere, nor
	// where that is left to the tag, or to Beside: what alone a message may have beside its tag.
	Peer   Peer
	Beside mqs.Maybe[uint64]
	// Sequence numbers a matcher's receives in the order of posting.
	Sequence uint64
	// SenderTag is the message's tag, SenderPeer where it came from, SenderBeside what it has beside its tag, and
	// Received its length in bytes, -1 if not known. They are of no meaning before it has matched.
	SenderTag    uint64
	SenderPeer   Peer
	SenderBeside mqs.Maybe[uint64]
	Received     int64
	// MessageLost is true if it is not known what message it has matched.
	MessageLost bool
	// Offloaded is true if a network card has been given the receive.
	Offloaded bool
	// Cancelled is true if it is complete since it has been cancelled.
	Cancelled bool
}

// Message is an unexpected message: one that no posted receive has matched.
type Message struct {
	// Addr is that of what the transport keeps of it.
	Addr inferior.Addr
	Tag  uint64
	// Peer is where it came from, not known if that is left to the tag.
	Peer Peer
	// Beside is what its sender has sent beside the tag, if that is kept.
	Beside mqs.Maybe[uint64]
	// Length is that of the whole message in bytes, -1 if not known.
	Length int64
	// Rendezvous is true if the data is still with the sender.
	Rendezvous bool
	// Data is where its first bytes are in this process, 0 for none.
	Data inferior.Addr
	// Sender is what the sender calls its request ([Send.ID]), 0 if it does not wait for an answer.
	Sender uint64
}

// Queues are what one matcher has.
type Queues struct {
	// Posted are the receives that have not matched, in the order in which they are looked at for a message.
	Posted []Receive
	// Matched are the receives in use that have matched, the complete ones among them, and Sends the
	// sends in use, each in the order of their requests in memory. SendsErr is why there may be more of the latter.
	Matched  []Receive
	Sends    []Send
	SendsErr error
	// Unexpected are the messages that no receive has matched, in the order in which a new receive
	// looks at them, and UnexpectedErr is why there may be more.
	Unexpected    []Message
	UnexpectedErr error
	// Dropped counts the sends of which it can't be told whether they are this matcher's.
	Dropped int
	// Offload is the note that a network card may match messages of the matcher too ([OffloadNote]), empty if none may.
	Offload string
	// Waited counts the receives that have had to wait for their messages, if the transport does.
	Waited    uint64
	Uncounted bool
}

// ErrNoMessage means that a message that was taken out of a queue has been received.
var ErrNoMessage = errors.New("there is no message any more")

// Matcher is where messages match: a worker of UCX, an endpoint of libfabric.
type Matcher interface {
	// Addr is that of the transport's object.
	Addr() inferior.Addr
	// Queues are all that it has; they are not to be changed.
	Queues() *Queues
	// SendAt returns the send whose request stands at a, where nothing of the transport's leads to: an
	// MPI may keep that of a blocking call on its stack. It is proved if its message knows it by its
	// address; else only what is written there says that it is one.
	SendAt(a inferior.Addr) (s Send, proved, ok bool)
	// ReceiveAt returns the receive that has matched whose request stands at a, outside of all queues.
	ReceiveAt(a inferior.Addr) (Receive, bool)
	// MessageAt reads the message at a, which may have been taken out of the queue. It fails with [ErrNoMessage] if
	// there is none any more.
	MessageAt(a inferior.Addr) (Message, error)
}

// Transport is the transport of one process during one stop.
type Transport interface {
	// Name is what people call it: "UCX".
	Name() string
	// LayoutName is the release whose layouts the process was read by, empty if they are from debug information.
	LayoutName() string
	// Matchers are those of the process that are the MPI's, in the order of their making.
	Matchers() []Matcher
}
