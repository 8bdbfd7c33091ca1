package ob1

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
)

// peerLists is ob1's state of a communicator.
type peerLists struct {
	comm  comm
	procs map[int]commProc // by local rank; absent before first contact
	ranks []int
}

// peers reads ob1's state of a communicator and of each peer it has been in contact with.
func (q *queues) peers(of *ompi.Comm) (*peerLists, error) {
	if of.PMLComm == 0 {
		return &peerLists{}, nil // MPI_COMM_NULL, or one that is being made
	}
	at := inferior.Ptr[comm](of.PMLComm)
	if err := ompi.ProveClass(q.Process, &q.Comm, at); err != nil {
		return nil, err
	}
	c, err := q.Comm.Read(q.R, at)
	if err != nil {
		return nil, err
	}
	if c.NumProcs > ompi.MaxGroup {
		return nil, fmt.Errorf("it has %d peers", c.NumProcs)
	}
	procs, err := inferior.ReadPointers(q.R, c.Procs, int(c.NumProcs))
	if err != nil {
		return nil, err
	}
	var ranges []inferior.Range
	for _, at := range procs {
		ranges = append(ranges, inferior.Range{Addr: at.Addr(), Len: q.CommProc.Size()})
	}
	if err := q.R.Prefetch(ranges); err != nil {
		return nil, err
	}
	out := &peerLists{comm: c, procs: map[int]commProc{}}
	for rank, at := range procs {
		if at == 0 {
			continue
		}
		p, err := q.CommProc.Read(q.R, at)
		if err != nil {
			return out, err
		}
		out.procs[rank] = p
		out.ranks = append(out.ranks, rank)
	}
	return out, nil
}

// Traffic counts messages by ob1's sequence numbers, of 16 bits on the wire.
func (q *queues) Traffic(c *mqs.Communicator) []mqs.Traffic {
	of, ok := q.Comms[c.UniqueID]
	if !ok {
		return nil
	}
	peers, err := q.peers(of)
	if err != nil {
		return nil
	}
	if _, ok := inferior.OffsetOf(&q.CommProc, func(p *commProc) *uint16 { return &p.ExpectedSequence }); !ok && len(peers.ranks) > 0 {
		return nil
	}
	out := []mqs.Traffic{}
	for _, rank := range peers.ranks {
		p := peers.procs[rank]
		t := mqs.Traffic{Peer: int32(rank), Sent: uint16(p.SendSequence), Arrived: p.ExpectedSequence - 1}
		if t.Sent != 0 || t.Arrived != 0 {
			out = append(out, t)
		}
	}
	return out
}
