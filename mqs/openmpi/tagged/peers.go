package tagged

import (
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// peers are the ends of connections: processes by what the transport calls them, and the ranks of
// processes in communicators.
type peers struct {
	procs map[transport.Peer]inferior.Ptr[ompi.Proc]
	ranks map[*ompi.Comm]map[inferior.Ptr[ompi.Proc]]int32
}

// rankOf is the rank of a peer in a communicator, among [ompi.Comm.Peers].
func (q *queues) rankOf(c *ompi.Comm, peer transport.Peer) mqs.Maybe[int32] {
	if c == nil || !peer.Known {
		return mqs.Maybe[int32]{}
	}
	if q.peers == nil {
		q.peers = &peers{q.procsByPeer(), map[*ompi.Comm]map[inferior.Ptr[ompi.Proc]]int32{}}
	}
	ranks, ok := q.peers.ranks[c]
	if !ok {
		ranks = map[inferior.Ptr[ompi.Proc]]int32{}
		entries, _, _ := q.Entries(c.Peers()) // that they can't be read is said where the group is shown
		for rank, e := range entries {
			ranks[e] = int32(rank)
		}
		q.peers.ranks[c] = ranks
	}
	proc, known := q.peers.procs[peer]
	rank, member := ranks[proc]
	return mqs.Maybe[int32]{Value: rank, Known: known && member}
}

// procsByPeer finds the endpoints of all processes that the communicators lead to.
// Each has several slots for endpoints, of which one is the pml's.
func (q *queues) procsByPeer() map[transport.Peer]inferior.Ptr[ompi.Proc] {
	out := map[transport.Peer]inferior.Ptr[ompi.Proc]{}
	offset, ok := inferior.OffsetOf(&q.Proc, func(p *ompi.Proc) *inferior.Embedded[inferior.Addr] { return &p.Endpoints })
	if !ok {
		return out
	}
	slots := (q.Proc.Size() - int(offset)) / q.R.Info().PointerSize
	seen := map[inferior.Ptr[ompi.Proc]]bool{}
	for _, c := range q.Comms {
		entries, _, _ := q.Entries(c.Peers())
		entries = slices.DeleteFunc(entries, func(e inferior.Ptr[ompi.Proc]) bool {
			if e == 0 || ompi.IsSentinel(e) || seen[e] { // nothing has been sent there yet, or known
				return true
			}
			seen[e] = true
			return false
		})
		q.PrefetchProcs(entries)
		for _, e := range entries {
			endpoints, err := q.R.Pointers(e.Addr()+offset, slots)
			if err != nil {
				continue
			}
			for _, endpoint := range endpoints {
				if endpoint != 0 {
					out[q.pml.peer(endpoint)] = e
				}
			}
		}
	}
	return out
}
