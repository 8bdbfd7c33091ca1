package mqs

import (
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Is says whether a user who writes name means this communicator.
func (c *Communicator) Is(name string) bool {
	return c.Name.Known && c.Name.Value == name || strings.EqualFold(c.UniqueID.String(), name)
}

// Label is the communicator's name or, if it has none, its id.
func (c *Communicator) Label() string {
	if c.Name.Known && c.Name.Value != "" {
		return c.Name.Value
	}
	return "communicator " + c.UniqueID.String()
}

// Communicator is mqs_communicator of the interface, and its groups.
type Communicator struct {
	// UniqueID tells the communicators of one process apart.
	UniqueID inferior.Addr `json:"unique_id"`
	// LocalRank is the rank of this process in the communicator, in the local group of an
	// intercommunicator.
	LocalRank Maybe[int32] `json:"local_rank"`
	// Size is that of the communicator, of the local group if it is an intercommunicator.
	Size Maybe[int32] `json:"size" document:"min=0"`
	// Name is set by the program or, by default, by the MPI library.
	Name Maybe[string] `json:"name"`
	// Inter is true for an intercommunicator: ranks of peers are ranks in the remote group. The
	// queue interface does not tell, nor what a stripped library or a freed communicator leaves.
	Inter Maybe[bool] `json:"inter"`
	// Internal is true for what the MPI library made for itself.
	Internal bool `json:"internal"`
	// Context is what all members call the communicator, if that is known: with its groups it
	// tells which communicators of two processes are one.
	Context string `json:"context" document:"null"`
	// Group is the global rank of each local rank, not known of a process of another
	// MPI_COMM_WORLD; nil if it can't be read.
	Group []Maybe[int32] `json:"group" document:"null,min=0"`
	// RemoteGroup is the same for the remote group of an intercommunicator, else nil.
	RemoteGroup []Maybe[int32] `json:"remote_group" document:"null,min=0"`
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
