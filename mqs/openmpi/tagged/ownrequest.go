package tagged

import (
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// ownRequest is a request of the pml's own, which keeps what the transport does not: a persistent request that has
// been started, of which each start makes a request of the transport, gone when it is complete; or, of pml cm, any.
type ownRequest struct {
	at inferior.Ptr[ompi.Request]
	// request is that which it has started, 0 once it is complete.
	request inferior.Ptr[ompi.Request]
	isSend  bool
	mode    int32 // of a send
	comm    inferior.Ptr[ompi.Communicator]
	// tag is what it sends with or asks for, of the latter with a mask.
	tag, mask uint64
	peer      transport.Peer
	data      data
	// isOnce is true of one that the call has started that has made it.
	isOnce bool
	// rank is the local rank of the peer, if the request keeps that.
	rank mqs.Maybe[int32]
	// tagLost and askLost are as of a [transport.Receive].
	tagLost, askLost bool
	// copied is where the data of a buffered send has been copied to, 0 if nowhere.
	copied inferior.Addr
	// complete is req_complete, and message what a receive has got once that says so.
	complete uint64
	message  status
}

// status is an MPI_Status.
type status struct {
	source, tag int32
	length      uint64 // bytes
	isCancelled bool
}

// byRequest are those that have a request under way, by that.
func byRequest(own []ownRequest) map[inferior.Ptr[ompi.Request]]*ownRequest {
	out := map[inferior.Ptr[ompi.Request]]*ownRequest{}
	for i := range own {
		if p := &own[i]; p.request != 0 {
			out[p.request] = p
		}
	}
	return out
}

// assignComplete adds the pml's own requests of which nothing is left but that they are
// complete.
func (q *queues) assignComplete(all *contents, own []ownRequest) {
	for i := range own {
		p := &own[i]
		if p.request != 0 {
			continue
		}
		by := owner{handle: p.at.Addr(), own: p}
		id := q.idOf(all, p)
		request := transport.Request{State: transport.Complete, Length: -1}
		if !p.isSend {
			all.receives[id] = append(all.receives[id], receive{p.asks(request), by})
			continue
		}
		rank := p.rank
		if !rank.Known {
			rank = q.rankOf(q.Comms[id], p.peer)
		}
		all.sends[id] = append(all.sends[id], send{Send: transport.Send{Request: request, Tag: p.tag}, owner: by, peer: rank})
	}
}

// idOf is the id of the communicator that a request is on. A program may have freed it.
func (q *queues) idOf(all *contents, p *ownRequest) inferior.Addr {
	if c := q.CommAt(p.comm); c != nil {
		return c.Model.UniqueID
	}
	return q.byContext(all, q.tags.Envelope(p.tag).Context)
}

// asks is what a receive has asked for.
func (p *ownRequest) asks(r transport.Request) transport.Receive {
	return transport.Receive{Request: r, Tag: p.tag, Mask: p.mask, Peer: p.peer, TagLost: p.tagLost, AskLost: p.askLost}
}

// arrive fills in the message that a complete receive has got.
func (s *status) arrive(op *mqs.PendingOperation, c *mqs.Communicator) {
	op.ActualLocalRank, op.ActualGlobalRank = mqs.Known(s.source), c.GlobalRank(s.source)
	op.ActualTag, op.ActualLength = mqs.Known(s.tag), mqs.Known(int64(s.length))
	op.Internal = s.tag < 0
}
