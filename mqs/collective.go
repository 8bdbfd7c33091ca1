package mqs

import "github.com/mpi-queues/mpi-queues/mqs/inferior"

// CollectiveRequest is a request of a non-blocking or persistent collective that the program or, for a
// call of its own, the library has made.
type CollectiveRequest struct {
	// Request is the address of the request object.
	Request inferior.Addr `json:"request"`
	// Comm is the unique id of its communicator.
	Comm Maybe[inferior.Addr] `json:"communicator"`
	// Sequence is its number among the non-blocking and persistent collectives that this process has begun
	// on the communicator, from 1, in which those of the library's own count, as for MPI_Comm_dup. All
	// members give a collective the same number.
	Sequence Maybe[int64] `json:"sequence" document:"min=1"`
	// Call is the MPI function that has made it, if that is known.
	Call string `json:"call" document:"null"`
	// Status is how far it has come.
	Status Status `json:"status" document:"null"`
	// Persistent is true if it can be started again.
	Persistent bool `json:"persistent"`
	// Tag is that of the messages by which the library carries it out.
	Tag Maybe[int32] `json:"tag"`
	// Messages are the requests of those of them that are under way, which may be on communicators of the
	// library's own; nil if they are not known.
	Messages []inferior.Addr `json:"messages" document:"line,null"`
}
