package tagged

import (
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// persistent is a persistent request that has been started. Each start makes a request of the transport,
// which is gone when it is complete.
type persistent struct {
	at inferior.Ptr[ompi.Request]
	// request is that which it has started, 0 once it is complete.
	request inferior.Ptr[ompi.Request]
	isSend  bool
	mode    int32 // of a send
	comm    inferior.Ptr[ompi.Communicator]
	// tag is what it sends with or asks for, of the latter with a mask.
	tag, mask uint64
	peer      transport.Peer // of a send
	data      data
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
func byRequest(started []persistent) map[inferior.Ptr[ompi.Request]]*persistent {
	out := map[inferior.Ptr[ompi.Request]]*persistent{}
	for i := range started {
		if p := &started[i]; p.request != 0 {
			out[p.request] = p
		}
	}
	return out
}

// assignComplete adds the persistent requests of which nothing is left but that they are
// complete.
func (q *queues) assignComplete(all *contents, started []persistent) {
	for i := range started {
		p := &started[i]
		if p.request != 0 {
			continue
		}
		by := owner{handle: p.at.Addr(), started: p}
		var id inferior.Addr
		if c := q.CommAt(p.comm); c != nil {
			id = c.Model.UniqueID
		} else {
			id = q.byContext(all, q.tags.Envelope(p.tag).Context)
		}
		request := transport.Request{State: transport.Complete, Length: -1}
		if !p.isSend {
			all.receives[id] = append(all.receives[id], receive{transport.Receive{Request: request, Tag: p.tag, Mask: p.mask}, by})
			continue
		}
		all.sends[id] = append(all.sends[id], send{Send: transport.Send{Request: request, Tag: p.tag}, owner: by, peer: q.rankOf(q.Comms[id], p.peer)})
	}
}

// arrive fills in the message that a complete receive has got.
func (s *status) arrive(op *mqs.PendingOperation, c *mqs.Communicator) {
	op.ActualLocalRank, op.ActualGlobalRank = mqs.Known(s.source), c.GlobalRank(s.source)
	op.ActualTag, op.ActualLength = mqs.Known(s.tag), mqs.Known(int64(s.length))
	op.Internal = s.tag < 0
}
