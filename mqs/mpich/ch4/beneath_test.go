package ch4

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// tagOf is a tag of a context, a sender's rank and the program's tag.
func tagOf(context, rank, tag uint64) uint64 { return context<<48 | rank<<32 | tag }

// comm is a communicator that this process is rank 1 of.
func comm(at inferior.Ptr[mpir.Comm], sends, receives uint32) *mpir.Communicator {
	c := mpir.Comm{Context: sends, RecvContext: receives, Rank: 1, LocalSize: 3}
	return &mpir.Communicator{At: at, Comm: c, Model: &mqs.Communicator{UniqueID: at.Addr()}}
}

// onNetwork is a device that leaves all messages to a network library with some queues. Each communicator's
// peers are known by its address and their rank.
func onNetwork(t *testing.T, q transport.Queues, comms ...*mpir.Communicator) *Device {
	t.Helper()
	n, err := openNetwork(nil, &library{matchers: []transport.Matcher{&matcher{queues: q}}})
	if err != nil {
		t.Fatal(err)
	}
	d := over(inferiortest.New())
	d.beneath = newBeneath(n, kept{})
	for _, c := range comms {
		d.beneath.ranks[c] = map[transport.Peer]int32{peerOf(c, 0): 0, peerOf(c, 2): 2}
	}
	return d
}

func peerOf(c *mpir.Communicator, rank uint64) transport.Peer {
	return mqs.Known(uint64(c.At) + rank)
}

// A request is on the communicator that its tag names: a receive's is this process's, a send's the receiver's,
// which calls an intercommunicator otherwise. What is on none that there is, is on one that has been freed.
func TestJoin(t *testing.T) {
	world, inter := comm(0x100, 2, 2), comm(0x200, 6, 8)
	const recv, lateRecv, send, interSend, lateSend, otherSend, answered = 0x1000, 0x1100, 0x1200, 0x1300, 0x1400, 0x1500, 0x1600
	of := func(state transport.State, user, data inferior.Addr) transport.Request {
		return transport.Request{State: state, User: user, UserData: data}
	}
	d := onNetwork(t, transport.Queues{
		Posted:  []transport.Receive{{Request: of(transport.Posted, 0, recv), Tag: tagOf(2, 0, 7), Mask: 1}, {Request: of(transport.Posted, 0, lateRecv), Tag: tagOf(0x40, 0, 8), Mask: 1}},
		Matched: []transport.Receive{{Request: of(transport.Matched, 0, 0x9000), Tag: tagOf(2, 0, 9), Mask: 1}}, // which the program has freed
		Sends: []transport.Send{
			{Request: of(transport.Posted, send, 0), Tag: tagOf(2, 1, 7), Peer: peerOf(world, 2), ID: 1},
			{Request: of(transport.Posted, interSend, 0), Tag: tagOf(6, 1, 7), Peer: peerOf(inter, 0), ID: 1},
			{Request: of(transport.Posted, lateSend, 0), Tag: tagOf(0x50, 1, 7), ID: 1},
			{Request: of(transport.Posted, otherSend, 0), Tag: tagOf(2, 1, 7), Peer: peerOf(inter, 0), ID: 1}, // which is nobody of world's
			{Request: of(transport.Matched, answered, 0), Tag: tagOf(2, 1, 7), TagLost: true, Peer: peerOf(world, 2)},
		},
		Unexpected: []transport.Message{{Tag: tagOf(2, 0, 3), Length: 4}, {Tag: tagOf(3, 0, 3), Length: 4}, {Tag: tagOf(0x40, 0, 3), Length: 4}},
	}, world, inter)
	requests := map[inferior.Ptr[mpir.Request]]*mpir.Operation{}
	for at, kind := range map[inferior.Ptr[mpir.Request]]uint32{recv: mpir.KindRecv, lateRecv: mpir.KindRecv, send: mpir.KindSend, interSend: mpir.KindSend, lateSend: mpir.KindSend, otherSend: mpir.KindSend, answered: mpir.KindSend} {
		requests[at] = &mpir.Operation{At: at, Request: mpir.Request{Kind: kind, Pending: 1}}
	}
	posted, freed := d.Join(requests, []*mpir.Communicator{world, inter}, nil)
	if len(posted) != 2 || posted[0].At != recv || posted[1].At != lateRecv {
		t.Errorf("posted are %v", posted)
	}
	if len(freed) != 2 || freed[0].Context != 0x40 || freed[1].Context != 0x50 {
		t.Fatalf("freed are %+v", freed)
	}
	for at, want := range map[inferior.Ptr[mpir.Request]]inferior.Ptr[mpir.Comm]{recv: world.At, lateRecv: freed[0].At, send: world.At, interSend: inter.At, lateSend: freed[1].At, otherSend: 0, answered: 0} {
		if got := requests[at].Comm; got != want {
			t.Errorf("the request at %s is on %s, not on %s", at, got, want)
		}
	}
	for c, want := range map[*mpir.Communicator]int{world: 2, inter: 0, freed[0]: 1, freed[1]: 0} {
		if got, err := d.Messages(c); err != nil || len(got) != want {
			t.Errorf("%s has %d messages (%v), not %d", c.At, len(got), err, want)
		}
	}
}

// What a request asks for is in its tag and its mask; who a send goes to, what the network library calls that says.
func TestArgumentsBeneath(t *testing.T) {
	world := comm(0x100, 2, 2)
	d := onNetwork(t, transport.Queues{}, world)
	rank, tag := int32(1), int32(7)
	at := transport.Request{Buffer: 0x40, Length: 12}
	for name, c := range map[string]struct {
		mask      uint64
		peer, tag int32
	}{
		"of both": {^uint64(0), rank, tag},
		"any":     {ucxTags.Context.Mask(), -2, -1},
	} {
		got := d.receiveBeneath(&transport.Receive{Request: at, Tag: tagOf(3, 1, 7), Mask: c.mask}, world)
		want := mpir.Arguments{Kind: "irecv", Peer: mqs.Known(c.peer), Tag: mqs.Known(c.tag), Context: mqs.Known[uint32](mpir.ContextCollective), Bytes: mqs.Known[int64](12), Buffer: mqs.Known(inferior.Addr(0x40))}
		if got != want {
			t.Errorf("a receive %s asks for %+v, want %+v", name, got, want)
		}
	}
	send := transport.Send{Request: at, Tag: tagOf(2, 1, 7), Peer: peerOf(world, 2), Sync: true}
	want := mpir.Arguments{Kind: "issend", Peer: mqs.Known[int32](2), Tag: mqs.Known(tag), Context: mqs.Known[uint32](0), Bytes: mqs.Known[int64](12), Buffer: mqs.Known(inferior.Addr(0x40))}
	if got := d.sendBeneath(&send, world); got != want {
		t.Errorf("a send asks for %+v, want %+v", got, want)
	}
	send.TagLost, send.Sync, send.Peer = true, false, transport.Peer{}
	if got := d.sendBeneath(&send, world); got.Tag.Known || got.Peer.Known || got.Kind != "" {
		t.Errorf("a send without its tag asks for %+v", got)
	}
}

// kept is where the netmod keeps the messages that requests have taken.
type kept map[inferior.Ptr[mpir.Request]]inferior.Addr

func (k kept) taken(at inferior.Ptr[mpir.Request]) inferior.Addr { return k[at] }

func (k kept) unpacked(inferior.Ptr[mpir.Request], *transport.Request) (Elements, bool) {
	return Elements{}, false
}

func (k kept) peers(int32, int64) []transport.Peer { return nil }

func (k kept) matched(inferior.Ptr[mpir.Request]) (transport.Receive, bool) {
	return transport.Receive{}, false
}

// A message that MPI_Mprobe has taken is on the communicator that its tag names, if its request does not say.
func TestTakenBeneath(t *testing.T) {
	const taken, known, lost, none, message = 0x1000, 0x1100, 0x1200, 0x1300, 0x2000
	world := comm(0x100, 2, 2)
	n, err := openNetwork(nil, &library{matchers: []transport.Matcher{&matcher{taken: message}}})
	if err != nil {
		t.Fatal(err)
	}
	d := over(inferiortest.New())
	d.beneath = newBeneath(n, kept{taken: message, known: message, lost: message + 1})
	requests := map[inferior.Ptr[mpir.Request]]*mpir.Operation{}
	const mprobe = 11 // a kind
	for at, on := range map[inferior.Ptr[mpir.Request]]inferior.Ptr[mpir.Comm]{taken: 0, known: world.At, lost: 0, none: 0} {
		requests[at] = &mpir.Operation{At: at, Request: mpir.Request{Kind: mprobe, Comm: on}}
	}
	send := &mpir.Operation{At: taken + 8, Request: mpir.Request{Kind: mpir.KindSend}}
	requests[send.At] = send
	_, freed := d.Join(requests, []*mpir.Communicator{world}, nil)
	if len(freed) != 1 || freed[0].RecvContext != 0 { // that of the message, whose tag is 0
		t.Fatalf("%+v", freed)
	}
	for at, want := range map[inferior.Ptr[mpir.Request]]inferior.Ptr[mpir.Comm]{taken: freed[0].At, known: world.At, lost: 0, none: 0, send.At: 0} {
		if got := requests[at].Comm; got != want {
			t.Errorf("%s is on %s, not on %s", at, got, want)
		}
	}
	if _, ok := d.takenBeneath(taken); !ok {
		t.Error("it has taken none")
	}
	d.beneath.network = nil
	if _, ok := d.takenBeneath(taken); ok {
		t.Error("without a network it has taken one")
	}
}

// What a receive has matched is in the sender's tag; how long the message is, is not known of what a card receives.
func TestMatchedBeneath(t *testing.T) {
	d := onNetwork(t, transport.Queues{})
	for name, c := range map[string]struct {
		q         transport.Receive
		isMatched bool
		bytes     mqs.Maybe[int64]
	}{
		"matched":       {transport.Receive{Request: transport.Request{State: transport.Matched}, Received: 12}, true, mqs.Known[int64](12)},
		"matched, none": {transport.Receive{Request: transport.Request{State: transport.Matched}, Received: -1}, true, mqs.Maybe[int64]{}},
		"by a card":     {transport.Receive{Request: transport.Request{State: transport.Matched}, Offloaded: true, Received: 12}, true, mqs.Maybe[int64]{}},
		"posted":        {transport.Receive{Request: transport.Request{State: transport.Posted}, Received: 12}, false, mqs.Known[int64](12)},
	} {
		c.q.SenderTag = tagOf(2, 1, 7)
		want := mpir.Message{Source: mqs.Known[int32](1), Tag: 7, Context: 2, Bytes: c.bytes}
		if got, isMatched := d.matchedBeneath(&c.q); got != want || isMatched != c.isMatched {
			t.Errorf("%s: %+v, %t", name, got, isMatched)
		}
	}
}

// A send whose tag may have been written over is on no communicator that nothing else is on.
func TestSendsThatMayBeAnswered(t *testing.T) {
	world := comm(0x100, 2, 2)
	d := onNetwork(t, transport.Queues{}, world)
	for name, c := range map[string]struct {
		q       transport.Send
		freed   []uint32 // contexts of communicators that are no more, but on which something is under way
		context uint32   // of the communicator that it is on, 0 if none
	}{
		"to a peer":                    {transport.Send{Tag: tagOf(2, 1, 7), Peer: peerOf(world, 2)}, nil, 2},
		"of a collective, to a peer":   {transport.Send{Tag: tagOf(3, 1, 7), Peer: peerOf(world, 2)}, nil, 2},
		"from another rank":            {transport.Send{Tag: tagOf(2, 0, 7), Peer: peerOf(world, 2), ID: 1}, nil, 0},
		"to nobody":                    {transport.Send{Tag: tagOf(2, 1, 7), Peer: peerOf(world, 1), ID: 1}, nil, 0},
		"on one that is no more":       {transport.Send{Tag: tagOf(0x40, 1, 7), ID: 1}, nil, 0x40},
		"answered, on no one":          {transport.Send{Tag: tagOf(0x40, 1, 7)}, nil, 0},
		"answered, on one that was":    {transport.Send{Tag: tagOf(0x40, 1, 7)}, []uint32{0x40}, 0x40},
		"answered, of its collective":  {transport.Send{Tag: tagOf(0x41, 1, 7)}, []uint32{0x40}, 0x40},
		"answered, on another":         {transport.Send{Tag: tagOf(0x50, 1, 7)}, []uint32{0x40}, 0},
		"without its tag":              {transport.Send{Tag: tagOf(2, 1, 7), Peer: peerOf(world, 2), TagLost: true}, nil, 0},
		"with a context one before it": {transport.Send{Tag: tagOf(1, 1, 7), Peer: peerOf(world, 2)}, nil, 0},
		"with a context two behind it": {transport.Send{Tag: tagOf(4, 1, 7), Peer: peerOf(world, 2)}, nil, 0},
	} {
		there := newReceiving([]*mpir.Communicator{world})
		for _, context := range c.freed {
			there.with(context)
		}
		got := d.sendingTo(&c.q, []*mpir.Communicator{world}, there)
		if (got != nil) != (c.context != 0) || got != nil && got.RecvContext != c.context {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
