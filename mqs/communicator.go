package mqs

import (
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Is says whether a user who writes name means this communicator.
func (c *Communicator) Is(name string) bool {
	return c.Name.Known && c.Name.Value == name || strings.EqualFold(c.UniqueID.String(), name)
}

// IsSame says whether two processes are known to mean the same communicator: by what its members call it, and
// by who these are. Communicators without a member in common can be called the same.
func (c *Communicator) IsSame(other *Communicator) bool {
	if c.Context == "" || c.Context != other.Context || !allKnown(c.Group) || !allKnown(other.Group) {
		return false
	}
	return slices.Equal(c.Group, other.Group) && slices.Equal(c.RemoteGroup, other.RemoteGroup) ||
		slices.Equal(c.Group, other.RemoteGroup) && slices.Equal(c.RemoteGroup, other.Group) // the other side of an intercommunicator
}

// allKnown says whether a group is known, and each of its members.
func allKnown(group []Maybe[int32]) bool {
	return group != nil && !slices.Contains(group, Maybe[int32]{})
}

// Serves names the window or the file that the library has made the communicator for, in a sentence:
// window "ghost cells". It is empty for the program's own.
func (c *Communicator) Serves() string {
	switch {
	case c.Window.Known:
		return label("window", c.Window)
	case c.File.Known:
		return label("file", c.File)
	}
	return ""
}

// Label is what the communicator serves, else its name or, if it has none, its id.
func (c *Communicator) Label() string {
	if serves := c.Serves(); serves != "" {
		return serves
	}
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
	// Handle is the MPI_Comm of C: an address, or a number of 32 bits.
	Handle Maybe[inferior.Addr] `json:"handle"`
	// FortranHandle is the INTEGER of the Fortran bindings.
	FortranHandle Maybe[int32] `json:"fortran_handle"`
	// Window is the name of the window that the library has made the communicator for, empty of one
	// that has none.
	Window Maybe[string] `json:"window"`
	// File is the same of a file.
	File Maybe[string] `json:"file"`
	// Topology is how its processes are arranged.
	Topology Topology `json:"topology" document:"null"`
	// Dimensions are those of a Cartesian topology; nil without one.
	Dimensions []Dimension `json:"dimensions" document:"null,tuple"`
	// Sources are the local ranks of the neighbours that this process receives from in a graph; nil
	// without one.
	Sources []int32 `json:"sources" document:"null,min=0"`
	// Destinations are those that it sends to.
	Destinations []int32 `json:"destinations" document:"null,min=0"`
	// NonBlockingCollectives is how many non-blocking and persistent collectives this process has begun on
	// it, as in [CollectiveRequest].
	NonBlockingCollectives Maybe[int64] `json:"non_blocking_collectives" document:"min=0"`
	// Revoked is true after MPI_Comm_revoke, here or at another member.
	Revoked Maybe[bool] `json:"revoked"`
	// Failed are the local ranks of the members that are known to have failed; nil if the library
	// does not say.
	Failed []int32 `json:"failed" document:"null,min=0"`
	// Flags are this rank's own flags for collectives among the ranks of one machine; none if there are none, or they are unknown.
	Flags []Flag `json:"flags" document:"omit,max=2"`
}

// Topology is how the processes of a communicator are arranged, in the words of MPI_Topo_test.
type Topology string

// The topologies. The empty one is not known.
const (
	NoTopology       Topology = "none"
	Cartesian        Topology = "cartesian"
	Graph            Topology = "graph"
	DistributedGraph Topology = "distributed_graph"
)

// Dimension is one of a Cartesian topology.
type Dimension struct {
	Size       int32
	Periodic   int32 // 1 if it is, else 0
	Coordinate int32 // of this process
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
