package ofi

import (
	"reflect"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// Receives are what the queue says, in its order.
func TestPosted(t *testing.T) {
	m := makeUp(t)
	part := "rxm_iov.iov"
	m.post(
		set{"tag": 7, "ignore": 0xff, "addr": 3, "context": 0x123, "total_len": 12, "rxm_iov.count": 1},
		set{"tag": 8, "addr": AnyPeer, "context": 0x456, "total_len": 1 << 63, "rxm_iov.count": 2},
		set{"tag": 9, "addr": 0, "total_len": 0, "rxm_iov.count": 0},
	)
	for i := range 3 {
		m.put("iovec", m.at("rxm_recv_entry", place(entriesAt, i), part), set{"iov_base": 0x5555})
	}
	_, q := m.mustOpen()
	want := []transport.Receive{
		{Request: transport.Request{Addr: entriesAt, UserData: 0x123, Length: 12, Buffer: 0x5555}, Tag: 7, Mask: ^uint64(0xff), Peer: mqs.Known[uint64](3)},
		{Request: transport.Request{Addr: place(entriesAt, 1), UserData: 0x456, Length: -1}, Tag: 8, Mask: ^uint64(0), Peer: transport.Peer{Value: AnyPeer}, Sequence: 1},
		{Request: transport.Request{Addr: place(entriesAt, 2)}, Tag: 9, Mask: ^uint64(0), Peer: mqs.Known[uint64](0), Sequence: 2},
	}
	if !reflect.DeepEqual(q.Posted, want) {
		t.Errorf("%+v\nwant %+v", q.Posted, want)
	}
}

// Messages are what has come of them; of whom, a connection may have to say. Of several segments, one is a message.
func TestUnexpected(t *testing.T) {
	m := makeUp(t)
	m.connect(set{"remote_index": 5}, set{"remote_index": 6, "peer": uint64(nowhere)})
	other := place(connsAt, 7)
	m.put("rxm_conn", other, set{"ep": uint64(endpointAt) + 8, "peer": uint64(peersAt)})
	m.arrive(
		tagged(7, set{"unexp_msg.addr": 3, "data": 0x777, "pkt.hdr.size": 12, "pkt.ctrl_hdr.type": ctrlEager}),
		tagged(8, set{"unexp_msg.addr": 3, "data": 0x777, "pkt.hdr.size": 1 << 63, "pkt.ctrl_hdr.type": ctrlRendezvous, "pkt.ctrl_hdr.msg_id": 0}),
		tagged(9, set{"unexp_msg.addr": AnyPeer, "conn": uint64(connsAt), "data": 0x777, "pkt.ctrl_hdr.type": ctrlSegment, "pkt.ctrl_hdr.ctrl_data": segmentFirst}),
		tagged(1, set{"unexp_msg.addr": AnyPeer, "conn": uint64(place(connsAt, 1))}),
		tagged(2, set{"unexp_msg.addr": AnyPeer, "conn": uint64(other)}),
		tagged(3, set{"unexp_msg.addr": AnyPeer, "conn": uint64(nowhere)}),
		tagged(4, set{"unexp_msg.addr": AnyPeer, "conn": 0}),
		tagged(9, set{"pkt.ctrl_hdr.type": ctrlSegment, "pkt.ctrl_hdr.ctrl_data": 2}),
		tagged(9, set{"pkt.ctrl_hdr.type": ctrlSegment, "pkt.ctrl_hdr.ctrl_data": 0x100 | 3}),
	)
	e, q := m.mustOpen()
	want := []transport.Message{
		{Addr: messagesAt, Tag: 7, Peer: mqs.Known[uint64](3), Length: 12, Data: 0x777},
		{Addr: place(messagesAt, 1), Tag: 8, Peer: mqs.Known[uint64](3), Length: -1, Rendezvous: true, Sender: 1},
		{Addr: place(messagesAt, 2), Tag: 9, Peer: mqs.Known[uint64](100), Data: 0x777},
		{Addr: place(messagesAt, 3), Tag: 1},
		{Addr: place(messagesAt, 4), Tag: 2},
		{Addr: place(messagesAt, 5), Tag: 3},
		{Addr: place(messagesAt, 6), Tag: 4},
	}
	if !reflect.DeepEqual(q.Unexpected, want) || q.UnexpectedErr != nil {
		t.Errorf("%+v\nwant %+v, %v", q.Unexpected, want, q.UnexpectedErr)
	}
	if got, err := e.MessageAt(messagesAt); err != nil || got != want[0] {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := e.MessageAt(nowhere); err == nil {
		t.Error("there is a message where nothing can be read")
	}
}

// Rings agree in both directions and end. One of receives that does not proves the layout wrong.
func TestRings(t *testing.T) {
	m := makeUp(t)
	linksOf := func(i int) inferior.Addr { return m.at("rxm_recv_entry", place(entriesAt, i), "entry") }
	for name, c := range map[string]struct {
		at    inferior.Addr
		links set
		says  string
	}{
		"loops":                {linksOf(2), set{"next": uint64(linksOf(0))}, "comes back to"},
		"loops on itself":      {linksOf(1), set{"next": uint64(linksOf(1)), "prev": uint64(linksOf(0))}, "comes back to"},
		"wraps around the end": {linksOf(1), set{"next": ^uint64(0) - 7}, "cannot read"},
	} {
		m = makeUp(t)
		m.post(set{"tag": 1}, set{"tag": 2}, set{"tag": 3})
		m.put("dlist_entry", c.at, c.links)
		if _, err := m.open(); !m.refuses(err, "the posted receives") || !m.refuses(err, c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A receive that is known to be of one part has that in memory.
func TestPartNotThere(t *testing.T) {
	m := makeUp(t)
	m.post(set{"tag": 1, "rxm_iov.count": 1})
	at := m.at("rxm_recv_entry", entriesAt, "rxm_iov.iov")
	page := at &^ 0xfff
	if page != entriesAt&^0xfff {
		t.Skip("the part is on another page")
	}
	if _, q := m.mustOpen(); len(q.Posted) != 1 || q.Posted[0].Buffer != 0 {
		t.Errorf("%+v", q.Posted)
	}
}

func TestNumbers(t *testing.T) {
	for v, want := range map[uint64]int64{0: 0, 1<<63 - 1: 1<<63 - 1, 1 << 63: -1, ^uint64(0): -1} {
		if got := length(v); got != want {
			t.Errorf("%#x is %d, want %d", v, got, want)
		}
	}
	if messageID(0) != 1 {
		t.Error("the first message has no number")
	}
}
