// Package mqs is the model of the MPI message queue interface (MQS), in the
// standard's names: communicators, and on each the pending sends, the pending
// receives and the unexpected messages, in the order of matching.
//
// A [Source] reads them out of one process; [Collect] turns a source into a
// [Process] that can be rendered, stored and merged.
package mqs

import (
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs/target"
)

// Maybe is a value that may be unknown. Unknown is null in JSON and never a guess.
type Maybe[T any] struct {
	Value T
	Known bool
}

// Known returns a value that is known.
func Known[T any](v T) Maybe[T] { return Maybe[T]{v, true} }

// AnyRank is the desired rank of a receive from any source.
const AnyRank = -1

// Status is enum mqs_status of the interface, in words.
type Status string

// The states of an operation.
const (
	Pending  Status = "pending"  // mqs_st_pending
	Matched  Status = "matched"  // mqs_st_matched: its peer is known, its data is not all there
	Complete Status = "complete" // mqs_st_complete: not yet collected by a wait or a test
)

// OpClass is enum mqs_op_class of the interface: one of the three queues.
type OpClass int

// The three queues of a communicator.
const (
	PendingSends OpClass = iota
	PendingReceives
	UnexpectedMessages
)

// OpClasses lists the three queues in the interface's order.
var OpClasses = []OpClass{PendingSends, PendingReceives, UnexpectedMessages}

// String returns the queue's key in JSON.
func (c OpClass) String() string {
	return [...]string{"pending_sends", "pending_receives", "unexpected_messages"}[c]
}

// words is the queue's name in a sentence.
func (c OpClass) words() string { return strings.ReplaceAll(c.String(), "_", " ") }

// Communicator is mqs_communicator of the interface, and its groups.
type Communicator struct {
	// UniqueID tells communicators of one process apart.
	UniqueID target.Addr
	// LocalRank is the rank of this process in the communicator.
	LocalRank Maybe[int32]
	// Size is that of the communicator, of the local group if it is an intercommunicator.
	Size Maybe[int32]
	// Name as set by the program or, by default, by the MPI library.
	Name Maybe[string]
	// Group holds the global rank of each local rank; entries of processes
	// that are not in this MPI_COMM_WORLD are unknown. Nil if it can't be read.
	Group []Maybe[int32]
	// RemoteGroup is the same for the remote group of an intercommunicator, else nil.
	RemoteGroup []Maybe[int32]
	// Inter is true for an intercommunicator: ranks of peers are ranks in the remote group. The
	// queue interface does not tell, nor what a stripped library or a freed communicator leaves.
	Inter Maybe[bool]
	// Internal is true for what the MPI library made for itself.
	Internal bool
	// Context is what all members call the communicator, empty if not known:
	// with its groups it tells which communicators of two processes are one.
	Context string
}

// Peers returns the group that the ranks of operations count in.
func (c *Communicator) Peers() []Maybe[int32] {
	if c.Inter == Known(true) {
		return c.RemoteGroup
	}
	return c.Group
}

// GlobalRank translates a peer's local rank.
func (c *Communicator) GlobalRank(local int32) Maybe[int32] {
	if peers := c.Peers(); local >= 0 && int(local) < len(peers) {
		return peers[local]
	}
	return Maybe[int32]{}
}

// Rendezvous stands in the ExtraText of an unexpected message whose sender waits until a receive
// matches it.
const Rendezvous = "rendezvous"

// NonBlockingCollective stands in the ExtraText of a message that the library carries out a
// non-blocking collective with: the program's, or one that a call of its makes inside.
const NonBlockingCollective = "of a non-blocking collective"

// PendingOperation is mqs_pending_operation of the interface, and what more is known.
type PendingOperation struct {
	Status Status
	// DesiredLocalRank is the rank of the target or source, [AnyRank] for any.
	DesiredLocalRank Maybe[int32]
	// DesiredGlobalRank is the same in MPI_COMM_WORLD.
	DesiredGlobalRank Maybe[int32]
	// TagWild is true for a receive with any tag.
	TagWild Maybe[bool]
	// DesiredTag is unknown if TagWild.
	DesiredTag Maybe[int32]
	// DesiredLength is the length of the buffer in bytes.
	DesiredLength Maybe[int64]
	// SystemBuffer is true if the data stands in a buffer of the library's.
	SystemBuffer Maybe[bool]
	// Buffer is where the data is.
	Buffer Maybe[target.Addr]

	// The actual values are known once the operation has matched, and of sends
	// and unexpected messages always. ActualLength is in bytes.
	ActualLocalRank  Maybe[int32]
	ActualGlobalRank Maybe[int32]
	ActualTag        Maybe[int32]
	ActualLength     Maybe[int64]

	// ExtraText is up to five lines of what else is known. See [Rendezvous].
	ExtraText []string

	// Kind is how the operation was started ("isend", "irecv", …), empty if not known.
	Kind string
	// Datatype is the MPI name of the buffer's type, empty of a type that has none.
	Datatype Maybe[string]
	// Count is the number of its elements.
	Count Maybe[int64]
	// Request is the address of the request object.
	Request Maybe[target.Addr]
	// MessageID is what its message carries of a send that waits for an answer: the
	// unexpected message at the receiver has the same. Its sender has given it.
	MessageID Maybe[uint64]
	// Internal is true for traffic that the library made for itself (collectives).
	Internal bool
}
