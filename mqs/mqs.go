// Package mqs is the model of the MPI message queue interface (MQS), in the
// standard's names: communicators, and on each the pending sends, the pending
// receives and the unexpected messages, in the order of matching.
package mqs

import (
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
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
	Pending  Status = "pending"  // it has not matched (mqs_st_pending)
	Matched  Status = "matched"  // its peer is known, its data is not all there (mqs_st_matched)
	Complete Status = "complete" // no wait or test has collected it yet (mqs_st_complete)
	Inactive Status = "inactive" // a persistent request that is not started, which is in no queue
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

// Words is the queue's name in a sentence.
func (c OpClass) Words() string { return strings.ReplaceAll(c.String(), "_", " ") }

// PendingOperation is one operation of a queue: mqs_pending_operation of the interface, and what
// more is known.
type PendingOperation struct {
	// Status is how far the operation has come, if that is known.
	Status Status `json:"status" document:"null"`
	// DesiredLocalRank is the rank of the target or source, [AnyRank] for any.
	DesiredLocalRank Maybe[int32] `json:"desired_local_rank" document:"min=-1"`
	// DesiredGlobalRank is the same in MPI_COMM_WORLD.
	DesiredGlobalRank Maybe[int32] `json:"desired_global_rank" document:"min=-1"`
	// TagWild is true for a receive with any tag.
	TagWild Maybe[bool] `json:"tag_wild"`
	// DesiredTag is not known if [PendingOperation.TagWild].
	DesiredTag Maybe[int32] `json:"desired_tag"`
	// DesiredLength is the length of the buffer in bytes.
	DesiredLength Maybe[int64] `json:"desired_length" document:"min=0"`
	// SystemBuffer is true if the data stands in a buffer of the library's.
	SystemBuffer Maybe[bool] `json:"system_buffer"`
	// Buffer is where the data is.
	Buffer Maybe[inferior.Addr] `json:"buffer"`

	// ActualLocalRank is the rank of the peer. As all actual values, it is known of sends, of
	// unexpected messages, and of receives that have matched.
	ActualLocalRank Maybe[int32] `json:"actual_local_rank" document:"min=-1"`
	// ActualGlobalRank is the same in MPI_COMM_WORLD.
	ActualGlobalRank Maybe[int32] `json:"actual_global_rank" document:"min=-1"`
	// ActualTag is the tag of the message.
	ActualTag Maybe[int32] `json:"actual_tag"`
	// ActualLength is the length of the message in bytes.
	ActualLength Maybe[int64] `json:"actual_length" document:"min=0"`

	// ExtraText is up to five lines of what else is known, such as [Rendezvous].
	ExtraText []string `json:"extra_text" document:"max=5"`

	// Kind is how the operation was started: "isend", "issend", "ibsend", "irsend", "bsend",
	// "irecv", "probe", and for persistent ones "send_init", "recv_init", …
	Kind string `json:"kind" document:"null"`
	// Datatype is the MPI name of the buffer's type, empty of a type that has none.
	Datatype Maybe[string] `json:"datatype"`
	// DatatypeConstruction is how a type without a name was built, as in [Datatype].
	DatatypeConstruction string `json:"datatype_construction" document:"null"`
	// Count is the number of its elements.
	Count Maybe[int64] `json:"count" document:"min=0"`
	// Request is the address of the request object.
	Request Maybe[inferior.Addr] `json:"request"`
	// MessageID is what its message carries of a send that waits for an answer: the
	// unexpected message at the receiver has the same. Its sender has given it. Both sides of a partitioned
	// one have it once they have met.
	MessageID Maybe[uint64] `json:"message_id" document:"hex"`
	// Internal is true for traffic that the library made for itself (collectives).
	Internal bool `json:"internal"`
}
