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
	d.beneath = newBeneath(n, nil)
	for _, c := range comms {
		d.beneath.ranks[c] = map[transport.Peer]int32{peerOf(c, 0): 0, peerOf(c, 2): 2}
	}
	return d
}

func peerOf(c *mpir.Communicator, rank uint64) transport.Peer {
	return mqs.Known(uint64(c.At) + rank)
}

// A request is on the communicator that its tag names: a receive's is this process's, a send's the receiver's, which
// calls an intercommunicator otherwise. What is on none that there is, is on one that has been freed.
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
	posted, freed := d.Join(requests, []*mpir.Communicator{world, inter})
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
		"any":     {ucxTags.Context.Mask(), mpir.AnySource, mpir.AnyTag},
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
