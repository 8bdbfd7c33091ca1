package openmpi

import (
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs/transport"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// assignSends gives sends to their communicators. The tag says by which index the receiver
// knows that, the endpoint which process the receiver is.
func (s *source) assignSends(q *ucxQueues, calls []callstack.Call, request func(own, user inferior.Addr) ucxRequest) {
	sends := slices.Clone(q.worker.Queues().Sends)
	for i := range calls {
		eachWord(s.r, &calls[i], func(a inferior.Addr) {
			r, proved, ok := q.worker.SendAt(a)
			if !ok || !calls[i].Words[r.User] {
				return
			}
			if c, _ := s.destination(inferior.Addr(r.Peer.Value), envelopeOf(r.Tag)); proved || c != nil && !r.TagLost && s.isThere(r) {
				sends = append(sends, r)
			}
		})
	}
	lost := q.worker.Queues().Dropped
	for _, r := range sends {
		if r.TagLost && !q.isDone(r.Done, sendsDone...) {
			continue // a part of a message, which UCX sends by itself
		}
		out := ucxSend{Send: r, ucxRequest: request(r.Addr, r.User)}
		to := envelopeOf(r.Tag)
		c, rank := s.destination(inferior.Addr(r.Peer.Value), to)
		if out.TagLost = r.TagLost || c == nil; out.TagLost {
			c = s.commOfRequest(q, &out)
			rank = s.rankAt(c, inferior.Addr(r.Peer.Value))
		}
		out.peer = rank
		id := inferior.Addr(0)
		switch {
		case c != nil:
			id = c.model.UniqueID
		case r.TagLost || r.ID == 0 || s.comms[inferior.Addr(to.context)] != nil:
			// What has been answered by the old protocols may have a tag that is none.
			lost++
			continue
		default:
			out.TagLost, id = false, s.byContext(q, to.context)
		}
		q.sends[id] = append(q.sends[id], out)
	}
	if lost > 0 {
		s.notef("%d sends that the receiver has answered are not shown: UCX does not keep which communicator they are on", lost)
	}
}

// isThere says whether the data of a send can be read, as far as its place is known.
func (s *source) isThere(r transport.Send) bool {
	if r.Buffer == 0 || r.Length <= 0 {
		return r.Length >= 0
	}
	_, err := s.r.Bytes(r.Buffer+inferior.Addr(r.Length)-1, 1)
	return err == nil
}

// destination is the communicator that a send is on, and the peer's rank there; nil if
// none fits.
func (s *source) destination(endpoint inferior.Addr, to envelope) (*commState, mqs.Maybe[int32]) {
	fits := func(c *commState) (mqs.Maybe[int32], bool) {
		rank := s.rankAt(c, endpoint)
		return rank, rank.Known && c.MyRank == to.source && s.indexAt(c, rank.Value) == to.context
	}
	if c := s.comms[inferior.Addr(to.context)]; c != nil {
		if rank, ok := fits(c); ok {
			return c, rank
		}
	}
	for _, c := range s.comms {
		if c.Flags&commGlobalIndex != 0 || c.PeerIndices == 0 {
			continue // every member calls it the same
		}
		if rank, ok := fits(c); ok {
			return c, rank
		}
	}
	return nil, mqs.Maybe[int32]{}
}

// commOfRequest is the communicator that the program's request is on, nil if that is not
// kept: it is of what UCX returns to the program at once.
func (s *source) commOfRequest(q *ucxQueues, r *ucxSend) *commState {
	var at inferior.Addr
	switch {
	case r.started != nil:
		at = r.started.Comm
	case q.isDone(r.Done, requestsDone...):
		if kept, err := s.Request.ReadAt(s.r, r.handle); err == nil {
			at = kept.Comm
		}
	}
	for _, c := range s.comms {
		if c.addr == at {
			return c
		}
	}
	return nil
}

// commGlobalIndex marks a communicator that all members call by the same index
// (ompi/communicator/communicator.h, 6.0).
const commGlobalIndex = 0x10000

// indexAt is what a peer calls a communicator.
func (s *source) indexAt(c *commState, rank int32) uint64 {
	if c.Flags&commGlobalIndex == 0 && c.PeerIndices != 0 {
		if v, err := s.r.Uint(c.PeerIndices+4*inferior.Addr(rank), 4); err == nil && v != 0 {
			return v & ucxContextMask
		}
	}
	return c.Index & ucxContextMask
}

// peerEnds are the ends of connections: processes by their endpoints, and the ranks of
// processes in communicators.
type peerEnds struct {
	procs map[inferior.Addr]inferior.Addr
	ranks map[*commState]map[inferior.Addr]int32
}

// rankAt is the rank of the process at an endpoint in a communicator, of its peers.
func (s *source) rankAt(c *commState, endpoint inferior.Addr) mqs.Maybe[int32] {
	if c == nil || endpoint == 0 {
		return mqs.Maybe[int32]{}
	}
	if s.ends == nil {
		s.ends = &peerEnds{s.procsByEndpoint(), map[*commState]map[inferior.Addr]int32{}}
	}
	ranks, ok := s.ends.ranks[c]
	if !ok {
		ranks = map[inferior.Addr]int32{}
		entries, _, _ := s.entries(c.peers()) // that they can't be read is said where the group is shown
		for rank, e := range entries {
			ranks[e] = int32(rank)
		}
		s.ends.ranks[c] = ranks
	}
	proc, known := s.ends.procs[endpoint]
	rank, member := ranks[proc]
	return mqs.Maybe[int32]{Value: rank, Known: known && member}
}

// peers is the group that ranks of a communicator's operations count in.
func (c *commState) peers() inferior.Addr {
	if c.model.Inter == mqs.Known(true) {
		return c.RemoteGroup
	}
	return c.LocalGroup
}

// procsByEndpoint finds the endpoints of all processes that the communicators lead to.
// Each has several slots for endpoints, of which one is the pml's.
func (s *source) procsByEndpoint() map[inferior.Addr]inferior.Addr {
	out := map[inferior.Addr]inferior.Addr{}
	at := inferior.Addr(s.Proc.Places(0).Endpoints)
	if at == 0 {
		return out
	}
	slots := (s.Proc.Size() - int(at)) / s.r.Info().PointerSize
	seen := map[inferior.Addr]bool{}
	for _, c := range s.comms {
		entries, _, _ := s.entries(c.peers())
		entries = slices.DeleteFunc(entries, func(e inferior.Addr) bool {
			if e == 0 || e&1 != 0 || seen[e] { // nothing has been sent there yet, or known
				return true
			}
			seen[e] = true
			return false
		})
		s.prefetchProcs(entries)
		for _, e := range entries {
			endpoints, err := s.r.Pointers(e+at, slots)
			if err != nil {
				continue
			}
			for _, endpoint := range endpoints {
				if endpoint != 0 {
					out[endpoint] = e
				}
			}
		}
	}
	return out
}
