package mqs

import "github.com/mpi-queues/mpi-queues/mqs/inferior"

// InactiveRequest is a persistent request that is not started: nothing of it is pending, and no queue has it.
type InactiveRequest struct {
	// Request is the address of the request object.
	Request inferior.Addr `json:"request"`
	// Kind is how it was made: "send_init", "recv_init", …
	Kind string `json:"kind" document:"null"`
	// Comm is the unique id of its communicator.
	Comm inferior.Addr `json:"communicator"`
	// Peer is the local rank of the target or source, [AnyRank] for any.
	Peer Maybe[int32] `json:"peer" document:"min=-1"`
	// Tag is the one that it sends with or asks for, -1 for any.
	Tag Maybe[int32] `json:"tag" document:"min=-1"`
}

// MaxInactive bounds how many of them are listed of a process.
const MaxInactive = 1000
