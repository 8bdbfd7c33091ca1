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
	// UniqueID tells communicators of one process apart.
	UniqueID inferior.Addr
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
