package ch4

import (
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// forgetting are a module's objects of which the network library has forgotten some receives, all of one context.
type forgetting struct {
	kept
	receives []inferior.Ptr[mpir.Request]
	context  uint64
}

func (f forgetting) matched(at inferior.Ptr[mpir.Request]) (transport.Receive, bool) {
	q := transport.Receive{Tag: tagOf(f.context, 0, 0), AskLost: true, MessageLost: true}
	q.UserData, q.State, q.Length = at.Addr(), transport.Matched, -1
	return q, slices.Contains(f.receives, at)
}

// A receive from any source is posted in shared memory and in the network library, and is one: what is before it
// in either is before it, whichever is read first. One that the network library has forgotten has matched there, and is
// posted nowhere.
func TestTogether(t *testing.T) {
	const before, any, after, far, anyFar, farther, lost, lostFar, gone, other = 0x1000, 0x2000, 0x3000, 0x4000, 0x5000, 0x6000, 0x7000, 0x8000, 0x9000, 0xa000
	p := newRequests(t)
	partner := "anysource_partner_request"
	for at, members := range map[inferior.Addr]map[string]uint64{
		before: {"is_local": 1}, any: {"is_local": 1, partner: anyFar}, after: {"is_local": 1}, lost: {"is_local": 1, partner: lostFar},
		far: {}, anyFar: {partner: any}, farther: {}, lostFar: {partner: lost}, gone: {}, other: {},
	} {
		p.request(at, members)
	}
	world := comm(0x100, 2, 2)
	requests := map[inferior.Ptr[mpir.Request]]*mpir.Operation{}
	for _, at := range []inferior.Ptr[mpir.Request]{before, any, after, far, anyFar, farther, lost, lostFar, gone, other} {
		requests[at] = &mpir.Operation{At: at, Request: mpir.Request{Kind: mpir.KindRecv, Pending: 1, Comm: world.At}}
	}
	posted := func(at inferior.Addr) transport.Receive {
		return transport.Receive{Request: transport.Request{UserData: at}, Tag: tagOf(2, 0, 7), Mask: 1}
	}
	n, err := openNetwork(nil, &library{matchers: []transport.Matcher{&matcher{queues: transport.Queues{Posted: []transport.Receive{posted(far), posted(anyFar), posted(farther)}}}}})
	if err != nil {
		t.Fatal(err)
	}
	d := p.device()
	d.beneath = newBeneath(n, forgetting{receives: []inferior.Ptr[mpir.Request]{lostFar, gone, anyFar}, context: 2})
	listed := []*mpir.Operation{requests[before], requests[any], requests[lost], requests[after]}
	got, _ := d.Join(requests, []*mpir.Communicator{world}, listed)
	var order []inferior.Ptr[mpir.Request]
	for _, r := range got {
		order = append(order, r.At)
	}
	if want := []inferior.Ptr[mpir.Request]{far, before, any, farther, after}; !slices.Equal(order, want) {
		t.Errorf("the order is %v, not %v", order, want)
	}
	for at, want := range map[inferior.Ptr[mpir.Request]]bool{lost: true, gone: true, other: false, far: false, any: false} {
		m, isMatched := d.Matched(requests[at])
		if isMatched != want || want && !m.IsLost {
			t.Errorf("the receive at %s has matched %+v, %t", at, m, isMatched)
		}
	}
	if a := d.Receive(requests[gone], world, false); a.Peer.Known || a.Tag.Known || a.Context != mqs.Known[uint32](0) || a.Kind != "irecv" {
		t.Errorf("one that was forgotten asks for %+v", a)
	}

	d.beneath = newBeneath(n, forgetting{receives: []inferior.Ptr[mpir.Request]{gone}, context: 0x40})
	if d.Join(requests, []*mpir.Communicator{world}, listed); d.beneath.receives[gone] != nil {
		t.Error("a receive on another communicator's context is taken for a forgotten one")
	}
}

// besideTags is the library with tags in which the sender's rank is not, as with libfabric.
type besideTags struct{ *library }

func (besideTags) tags() *transport.Tags {
	tags := ucxTags
	tags.Rank = transport.Bits{}
	return &tags
}

// Where a message's sender stands beside the tag, its rank is that of its peer; of a send whose peer is not known the
// communicator is, if no other has its context.
func TestRanksOfPeers(t *testing.T) {
	world, twin, inter := comm(0x100, 2, 2), comm(0x200, 6, 8), comm(0x300, 6, 10)
	n, err := openNetwork(nil, besideTags{&library{}})
	if err != nil {
		t.Fatal(err)
	}
	d := newRequests(t).device()
	d.beneath = newBeneath(n, kept{})
	all := []*mpir.Communicator{world, twin, inter}
	for _, c := range all {
		d.beneath.ranks[c] = map[transport.Peer]int32{peerOf(c, 0): 0, peerOf(c, 2): 2, {}: 1}
	}
	n.Tags.RankOf = d.rankIn
	if got := d.rankIn(world.Model, peerOf(world, 2)); got.Known {
		t.Errorf("of a communicator that was not joined: %+v", got)
	}
	d.Join(nil, all, nil)
	for name, c := range map[string]struct {
		peer transport.Peer
		want mqs.Maybe[int32]
	}{
		"a member": {peerOf(world, 2), mqs.Known[int32](2)}, "a stranger": {peerOf(inter, 2), mqs.Maybe[int32]{}}, "nobody known": {transport.Peer{}, mqs.Maybe[int32]{}},
	} {
		q := transport.Receive{Tag: tagOf(2, 0, 7), Mask: ^uint64(0), Peer: c.peer}
		a := d.receiveBeneath(&q, world)
		if want := c.want; c.peer.Known && a.Peer != want || !c.peer.Known && a.Peer.Value != d.lib.Negatives().AnySource {
			t.Errorf("from %s: %+v", name, a)
		}
		if got := n.Tags.Message(world.Model, &transport.Message{Tag: tagOf(2, 0, 7), Peer: c.peer}, false); got.ActualLocalRank != c.want {
			t.Errorf("a message from %s: %+v", name, got)
		}
	}
	receiving := newReceiving(all)
	for name, c := range map[string]struct {
		q    transport.Send
		want *mpir.Communicator
	}{
		"to a member":                        {transport.Send{Tag: tagOf(6, 0, 7), Peer: peerOf(inter, 2)}, inter},
		"to nobody known":                    {transport.Send{Tag: tagOf(2, 0, 7)}, world},
		"to nobody known, on one of several": {transport.Send{Tag: tagOf(6, 0, 7)}, nil},
		"to a stranger":                      {transport.Send{Tag: tagOf(2, 0, 7), Peer: peerOf(inter, 2)}, nil},
		"of no tag":                          {transport.Send{Tag: tagOf(2, 0, 7), TagLost: true}, nil},
	} {
		if got := d.sendingTo(&c.q, all, receiving); got != c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
	// What the debugger's queue of sends has beside that is put in.
	d.beneath.sends[0x1000] = &transport.Send{Tag: tagOf(2, 0, 7), TagLost: true, Request: transport.Request{Length: 12}}
	if a := d.Send(&mpir.Operation{At: 0x1000, Noted: &mpir.SendqEntry{Rank: 2, Tag: 9}}, world, ""); a.Peer != mqs.Known[int32](2) || a.Tag != mqs.Known[int32](9) || a.Bytes != mqs.Known[int64](12) {
		t.Errorf("a send that was noted: %+v", a)
	}
}
