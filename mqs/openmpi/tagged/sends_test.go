package tagged

import (
	"errors"
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompitest"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// sending is a matcher that has the given sends and nothing else.
type sending struct {
	transport.Matcher
	queues   transport.Queues
	onStack  transport.Send
	isProved bool
}

func (s *sending) Queues() *transport.Queues { return &s.queues }

// A queue of which the transport may have more is not shown as if it were whole.
func TestMayBeMore(t *testing.T) {
	sends, messages := errors.New("sends"), errors.New("messages")
	q, all := openOf(t, inferiortest.Recorded(t, "openmpi-4.1.4-ucx/queues-old-rank-0"))
	all.matcher = &sending{queues: transport.Queues{SendsErr: sends, UnexpectedErr: messages}}
	world := ompitest.Comm(t, q.Process, "MPI_COMM_WORLD")
	for class, want := range map[mqs.OpClass]error{mqs.PendingSends: sends, mqs.PendingReceives: nil, mqs.UnexpectedMessages: messages} {
		if _, err := ompitest.Operations(q, world, class); !errors.Is(err, want) {
			t.Errorf("%s end with %v, want %v", class.Words(), err, want)
		}
	}
}

// A send is on the communicator that its receiver and its tag say, or the program's request. What has
// neither is counted; what is on a communicator that has been freed stands there.
func TestAssignSends(t *testing.T) {
	q, all := openOf(t, inferiortest.Recorded(t, "openmpi-4.1.4-ucx/queues-old-rank-0"))
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

// SendAt is the send on a call's stack.
func (s *sending) SendAt(a inferior.Addr) (transport.Send, bool, bool) {
	return s.onStack, s.isProved, a == onStack
}

// onStack is where a send stands on a call's stack.
const onStack = inferior.Addr(0x7008)

// A send on a call's stack is one if the call holds what is behind it, and the transport proves it or it goes to a
// rank that there is.
func TestSendsOnStacks(t *testing.T) {
	const data, user = inferior.Addr(0x1000_0000), inferior.Addr(0x7100)
	of := inferiortest.Patch(inferiortest.Recorded(t, "openmpi-4.1.4-ucx/queues-old-rank-0")).AddMemory(data, make([]byte, inferiortest.Page))
	q, all := openOf(t, of)
	world := ompitest.Comm(t, q.Process, "MPI_COMM_WORLD")
	tag := world.Index | uint64(world.MyRank)<<20 | 7<<40
	var peer transport.Peer
	for p := range q.peers.procs {
		if rank := q.rankOf(world, p); rank.Known && rank.Value != world.MyRank {
			peer = p
		}
	}
	in := func(buffer inferior.Addr, length int64) transport.Request {
		return transport.Request{User: user, Buffer: buffer, Length: length}
	}
	const end = data + inferiortest.Page
	for name, c := range map[string]struct {
		send     transport.Send
		isProved bool
		held     inferior.Addr
		want     bool
	}{
		"proved":                       {transport.Send{Request: in(0, -1), Tag: tag, Peer: peer}, true, user, true},
		"proved, and not held":         {transport.Send{Request: in(0, -1), Tag: tag, Peer: peer}, true, user + 8, false},
		"to a rank":                    {transport.Send{Request: in(data, 8), Tag: tag, Peer: peer}, false, user, true},
		"to a rank, and not held":      {transport.Send{Request: in(data, 8), Tag: tag, Peer: peer}, false, user + 8, false},
		"to nobody":                    {transport.Send{Request: in(data, 8), Tag: tag, ID: 1}, false, user, false},
		"without its tag":              {transport.Send{Request: in(data, 8), Tag: tag, Peer: peer, TagLost: true}, false, user, false},
		"of data up to the end":        {transport.Send{Request: in(end-8, 8), Tag: tag, Peer: peer}, false, user, true},
		"of data behind the end":       {transport.Send{Request: in(end-8, 9), Tag: tag, Peer: peer}, false, user, false},
		"of no data":                   {transport.Send{Request: in(end+8, 0), Tag: tag, Peer: peer}, false, user, true},
		"of data of which naught":      {transport.Send{Request: in(data, -1), Tag: tag, Peer: peer}, false, user, false},
		"of data that has no place":    {transport.Send{Request: in(0, 8), Tag: tag, Peer: peer}, false, user, true},
		"of data without place or end": {transport.Send{Request: in(0, -1), Tag: tag, Peer: peer}, false, user, false},
	} {
		out := &contents{transport: all.transport, matcher: &sending{onStack: c.send, isProved: c.isProved}, sends: map[inferior.Addr][]send{}, freed: map[inferior.Addr]bool{}}
		call := callstack.Call{Function: "MPI_Send", Stack: inferior.Range{Addr: onStack - 8, Len: 32}, CandidatePointers: map[inferior.Addr]bool{c.held: true}}
		q.assignSends(out, &owners{pml: q.pml, calls: []callstack.Call{call}})
		if got := out.sends[world.Model.UniqueID]; (len(got) == 1) != c.want || len(got) > 1 || out.lost != 0 {
			t.Errorf("%s: %+v, %d are lost", name, got, out.lost)
		}
	}
}

// A send of the program's that has lost its tag is on the communicator that the program's request says.
func TestSendOfRequest(t *testing.T) {
	tg := inferiortest.Patch(inferiortest.Recorded(t, "openmpi-4.1.4-ucx/queues-old-rank-0"))
	q, all := openOf(t, tg)
	made := map[maker]inferior.Addr{}
	for at, m := range q.pml.(*pmlUCX).makers {
		made[m] = at
	}
	world := ompitest.Comm(t, q.Process, "MPI_COMM_WORLD")
	var of *send
	for i, r := range all.sends[world.Model.UniqueID] {
		if q.pml.maker(&r.Request) == madeForProgram {
			of = &all.sends[world.Model.UniqueID][i]
		}
	}
	if of == nil {
		t.Fatal("the program has sent nothing")
	}
	tg.PutPointer(of.handle+ompitest.Offset(t, q.Process, "ompi_request_t", "req_mpi_object.comm"), world.At.Addr())
	q, _ = openOf(t, tg)
	world = ompitest.Comm(t, q.Process, "MPI_COMM_WORLD")
	for name, c := range map[string]struct {
		done    inferior.Addr
		started *ownRequest
		want    *ompi.Comm
	}{
		"its request":                   {made[madeForProgram], nil, world},
		"a call's":                      {made[madeForCall], nil, nil},
		"a persistent one":              {made[madeByStartOfSend], &ownRequest{comm: world.At}, world},
		"a persistent one, of none":     {made[madeByStartOfSend], &ownRequest{comm: 8}, nil},
		"a persistent one, of no start": {made[madeByStartOfSend], nil, nil},
	} {
		r := *of
		r.Done, r.own = c.done, c.started
		if got := q.commOfRequest(&r); got != c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
	of.handle = 8
	if got := q.commOfRequest(of); got != nil {
		t.Errorf("of a request that can't be read: %+v", got)
	}
}
