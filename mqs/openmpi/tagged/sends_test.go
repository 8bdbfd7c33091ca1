package tagged

import (
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompitest"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// sending is a matcher that has the given sends and nothing else.
type sending struct {
	transport.Matcher
	queues transport.Queues
}

func (s *sending) Queues() *transport.Queues { return &s.queues }

// A send is on the communicator that its receiver and its tag say, or the program's request. What has
// neither is counted; what is on a communicator that has been freed stands there.
func TestAssignSends(t *testing.T) {
	q, all := openUCXOf(t, inferiortest.Recorded(t, "openmpi-4.1.4-ucx/queues-old-rank-0"))
	world := ompitest.Comm(t, q.Process, "MPI_COMM_WORLD")
	id := world.Model.UniqueID
	var peer transport.Peer // that has another rank than this process
	for p := range q.peers.procs {
		if rank := q.rankOf(world, p); rank.Known && rank.Value != world.MyRank {
			peer = p
		}
	}
	if !peer.Known {
		t.Fatal("there is no peer")
	}
	made := map[maker]inferior.Addr{}
	for at, m := range q.pml.(*pmlUCX).makers {
		made[m] = at
	}
	tag := func(context uint64) uint64 { return context | uint64(world.MyRank)<<20 | 7<<40 }
	const gone = 999
	for name, c := range map[string]struct {
		send  transport.Send
		on    []inferior.Addr // communicators that have it
		freed []inferior.Addr
		lost  int
	}{
		"to a peer":                            {transport.Send{Tag: tag(world.Index), Peer: peer, ID: 1}, []inferior.Addr{id}, nil, 0},
		"to nobody that is known":              {transport.Send{Tag: tag(world.Index), ID: 1}, nil, nil, 1},
		"on a freed communicator":              {transport.Send{Tag: tag(gone), Peer: peer, ID: 1}, []inferior.Addr{gone}, []inferior.Addr{gone}, 0},
		"with a tag that may be none":          {transport.Send{Tag: tag(gone), Peer: peer}, nil, nil, 1},
		"a part of a message, without its tag": {transport.Send{TagLost: true, Peer: peer}, nil, nil, 0},
		"without its tag and the program's":    {transport.Send{TagLost: true, Peer: peer, Request: transport.Request{Done: made[madeForBuffer]}}, nil, nil, 1},
	} {
		out := &contents{transport: all.transport, matcher: &sending{queues: transport.Queues{Sends: []transport.Send{c.send}}},
			sends: map[inferior.Addr][]send{}, freed: map[inferior.Addr]bool{}}
		before := len(q.Process.Notes())
		q.assignSends(out, &owners{pml: q.pml})
		var on, freed []inferior.Addr
		for id := range out.sends {
			on = append(on, id)
		}
		for id := range out.freed {
			freed = append(freed, id)
		}
		notes := q.Process.Notes()[before:]
		if !slices.Equal(on, c.on) || !slices.Equal(freed, c.freed) || out.lost != c.lost || (len(notes) > 0) != (c.lost > 0) {
			t.Errorf("%s: on %v, freed %v, %d are lost, notes %q", name, on, freed, out.lost, notes)
		}
	}
}
