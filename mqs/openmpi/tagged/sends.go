package tagged

import (
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// assignSends gives sends to their communicators. The tag says by which index the receiver
// knows that, the peer which process the receiver is.
func (q *queues) assignSends(all *contents, of *owners) {
	sends := slices.Clone(all.matcher.Queues().Sends)
	for i := range of.calls {
		eachWord(q.R, &of.calls[i], func(a inferior.Addr) {
			r, proved, ok := all.matcher.SendAt(a)
			if !ok || !of.calls[i].CandidatePointers[r.User] {
				return
			}
			if c, _ := q.destination(r.Peer, q.tags.Envelope(r.Tag)); proved || c != nil && r.Peer.Known && !r.TagLost && q.isThere(r) {
				sends = append(sends, r)
			}
		})
	}
	all.lost = all.matcher.Queues().Dropped
	for _, r := range sends {
		if r.TagLost && !q.pml.maker(&r.Request).isSend() {
			continue // a part of a message, which the transport sends by itself
		}
		out := send{Send: r, owner: of.of(&r.Request)}
		if r.OfCall {
			out.handle, out.call = r.Addr, of.holder(&r)
		}
		if r.TagKept && out.call == nil && out.own == nil && !r.OfCall { // nothing of the program's leads to it
			all.lost++
			continue
		}
		to := q.tags.Envelope(r.Tag)
		c, rank := q.destination(r.Peer, to)
		if c == nil && r.TagKept && (out.call != nil || r.OfCall) {
			c = q.sameForAll(to)
		}
		if out.TagLost = r.TagLost || c == nil; out.TagLost {
			c = q.commOfRequest(&out)
			rank = q.rankOf(c, r.Peer)
		}
		if out.peer = rank; out.own != nil && out.own.rank.Known {
			out.peer = out.own.rank
		}
		id := inferior.Addr(0)
		switch {
		case c != nil:
			id = c.Model.UniqueID
		case r.TagLost || r.ID == 0 || q.Comms[inferior.Addr(to.Context)] != nil:
			// What has been answered may have a tag that is none.
			all.lost++
			continue
		default:
			out.TagLost, id = false, q.byContext(all, to.Context)
		}
		all.sends[id] = append(all.sends[id], out)
	}
	if all.lost > 0 {
		q.Notef("%s", transport.LostNote(all.transport, all.lost))
	}
}

// isSend says whether it is a send of Open MPI's.
func (m maker) isSend() bool { return m != madeOtherwise && m != madeByStartOfReceive }

// isThere says whether the data of a send can be read, as far as its place is known.
func (q *queues) isThere(r transport.Send) bool {
	if r.Buffer == 0 || r.Length <= 0 {
		return r.Length >= 0
	}
	_, err := q.R.Bytes(r.Buffer+inferior.Addr(r.Length)-1, 1)
	return err == nil
}

// destination is the communicator that a send is on, and the peer's rank there; nil if
// none fits.
func (q *queues) destination(peer transport.Peer, to transport.Envelope) (*ompi.Comm, mqs.Maybe[int32]) {
	fits := func(c *ompi.Comm) (mqs.Maybe[int32], bool) {
		rank := q.rankOf(c, peer)
		isOwn := !to.Source.Known || c.MyRank == to.Source.Value
		return rank, rank.Known && isOwn && q.tags.Context.Truncate(q.IndexAt(c, rank.Value)) == to.Context
	}
	if c := q.Comms[inferior.Addr(to.Context)]; c != nil {
		if rank, ok := fits(c); ok {
			return c, rank
		}
	}
	for _, c := range q.Comms {
		if !c.HasPeerIndices() {
			continue // every member calls it the same
		}
		if rank, ok := fits(c); ok {
			return c, rank
		}
	}
	return nil, mqs.Maybe[int32]{}
}

// sameForAll is the communicator that a message is on whose receiver is not known, if all members call that the same.
func (q *queues) sameForAll(to transport.Envelope) *ompi.Comm {
	c := q.Comms[inferior.Addr(to.Context)]
	if c == nil || c.HasPeerIndices() || to.Source.Known && to.Source.Value != c.MyRank {
		return nil
	}
	return c
}

// commOfRequest is the communicator that the program's request is on, nil if that is not
// kept: it is of what the transport returns to the program at once.
func (q *queues) commOfRequest(r *send) *ompi.Comm {
	switch {
	case r.own != nil:
		return q.CommAt(r.own.comm)
	case q.pml.maker(&r.Request) == madeForProgram:
		if kept, err := q.requestAt(r.handle); err == nil {
			return q.CommAt(kept.Comm)
		}
	}
	return nil
}
