package ofi

import (
	"reflect"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// makeShared is [makeUp] of a release whose endpoints have a queue of the kind that providers share.
func makeShared(t *testing.T) *madeup {
	t.Helper()
	m := makeEndpoint(t, "libfabric 2.1")
	m.put("rxm_ep", endpointAt, set{"srx": uint64(sharedAt)})
	size, _ := m.l.Size("util_srx_ctx")
	m.Put(sharedAt, make([]byte, size))
	width, _ := m.l.Size("slist")
	m.put("util_srx_ctx", sharedAt, set{"peer_srx.ep_fid.fid.context": uint64(sharedAt), "src_trecv_queues.item_size": uint64(width)})
	m.ring(m.shared("unspec_unexp_tag_queue"), nil)
	m.ring(m.shared("unexp_peers"), nil)
	return m
}

// shared is where a member of the queue is.
func (m *madeup) shared(path string) inferior.Addr { return m.at("util_srx_ctx", sharedAt, path) }

// list puts entries into a list.
func (m *madeup) list(at inferior.Addr, entries ...inferior.Addr) {
	for i, e := range entries {
		next := inferior.Addr(0)
		if i+1 < len(entries) {
			next = entries[i+1]
		}
		m.put("util_rx_entry", e, set{"peer_entry.next": uint64(next)})
	}
	m.put("slist", at, set{"head": uint64(entries[0]), "tail": uint64(entries[len(entries)-1])})
}

// entry makes an entry, whose parts are behind it.
func (m *madeup) entry(i int, of set) inferior.Addr {
	at := place(entriesAt, i)
	size, _ := m.l.Size("util_rx_entry")
	m.Put(at, make([]byte, stride))
	m.put("util_rx_entry", at, set{"peer_entry.iov": uint64(at) + uint64(size)})
	m.put("util_rx_entry", at, of)
	return at
}

// listOf is where the list of receives from a peer is, in a chunk of its own.
func (m *madeup) listOf(peer int) inferior.Addr {
	width, _ := m.l.Size("slist")
	chunk := listsAt
	m.PutUint64(m.shared("src_trecv_queues.chunk")+inferior.Addr(8*(peer/listsInChunk)), uint64(chunk))
	m.Put(chunk+inferior.Addr(width*listsInChunk-1), []byte{0})
	for page := chunk; page < chunk+inferior.Addr(width*listsInChunk); page += 0x1000 {
		m.Put(page, []byte{0})
	}
	return chunk + inferior.Addr(width*(peer%listsInChunk))
}

// Receives are in the order of their numbers, whichever list they are in.
func TestSharedPosted(t *testing.T) {
	m := makeShared(t)
	size, _ := m.l.Size("util_rx_entry")
	first := m.entry(0, set{"peer_entry.addr": 2049, "peer_entry.tag": 7, "ignore": 0xff, "peer_entry.context": 0x123, "peer_entry.msg_size": 12, "peer_entry.count": 1, "seq_no": 5})
	second := m.entry(1, set{"peer_entry.addr": AnyPeer, "peer_entry.tag": 8, "peer_entry.msg_size": 1 << 63, "peer_entry.count": 2, "seq_no": 6})
	third := m.entry(2, set{"peer_entry.addr": 2049, "peer_entry.tag": 9, "seq_no": 7})
	fourth := m.entry(3, set{"peer_entry.addr": AnyPeer, "seq_no": 8})
	for _, at := range []inferior.Addr{first, second} {
		m.put("iovec", at+inferior.Addr(size), set{"iov_base": 0x5555})
	}
	m.list(m.listOf(2049), first, third)
	m.list(m.shared("tag_queue.head"), second, fourth)
	o, err := m.open()
	if err != nil {
		t.Fatal(err)
	}
	layout, q := o.LayoutName(), o.Matchers()[0].Queues()
	want := []transport.Receive{
		{Request: transport.Request{Addr: first, UserData: 0x123, Length: 12, Buffer: 0x5555}, Tag: 7, Mask: ^uint64(0xff), Peer: mqs.Known[uint64](2049), Sequence: 5},
		{Request: transport.Request{Addr: second, Length: -1}, Tag: 8, Mask: ^uint64(0), Peer: transport.Peer{Value: AnyPeer}, Sequence: 6},
		{Request: transport.Request{Addr: third}, Tag: 9, Mask: ^uint64(0), Peer: mqs.Known[uint64](2049), Sequence: 7},
		{Request: transport.Request{Addr: fourth}, Mask: ^uint64(0), Peer: transport.Peer{Value: AnyPeer}, Sequence: 8},
	}
	if !reflect.DeepEqual(q.Posted, want) || layout != "libfabric 2.1" {
		t.Errorf("%s: %+v\nwant %+v", layout, q.Posted, want)
	}
}

// come has messages come: one of nobody, two of peer 3 and, before them, one of peer 4.
func (m *madeup) come() {
	m.connect(set{"remote_index": 5})
	for i, of := range []struct{ entry, buffer set }{
		{set{"peer_entry.addr": AnyPeer}, set{"conn": uint64(connsAt), "data": 0x777, "pkt.ctrl_hdr.type": ctrlEager, "pkt.hdr.size": 12}},
		{set{"peer_entry.addr": 4}, set{"pkt.ctrl_hdr.type": ctrlRendezvous, "pkt.ctrl_hdr.msg_id": 6, "data": 0x888, "pkt.hdr.size": 1 << 20}},
		{set{"peer_entry.addr": 3}, nil},
		{set{"peer_entry.addr": 3}, nil},
	} {
		at, buffer, tag := m.entry(i, of.entry), place(messagesAt, i), uint64(7+i)
		m.put("util_rx_entry", at, set{"peer_entry.srx": uint64(sharedAt), "peer_entry.tag": tag, "peer_entry.peer_context": uint64(buffer)})
		m.Put(buffer, make([]byte, stride))
		m.put("rxm_rx_buf", buffer, set{"ep": uint64(endpointAt), "peer_entry": uint64(at), "pkt.hdr.op": opTagged, "pkt.hdr.tag": tag})
		m.put("rxm_rx_buf", buffer, of.buffer)
	}
	m.ring(m.shared("unspec_unexp_tag_queue"), []inferior.Addr{place(entriesAt, 0)})
	for i := range 3 {
		m.Put(place(sendersAt, i), make([]byte, stride))
	}
	m.list(m.at("util_unexp_peer", place(sendersAt, 0), "tag_queue.head"), place(entriesAt, 1))
	m.list(m.at("util_unexp_peer", place(sendersAt, 2), "tag_queue.head"), place(entriesAt, 2), place(entriesAt, 3))
	var links []inferior.Addr
	for i := range 3 { // the one in the middle has other messages only
		links = append(links, m.at("util_unexp_peer", place(sendersAt, i), "entry"))
	}
	m.ring(m.shared("unexp_peers"), links)
}

func TestSharedUnexpected(t *testing.T) {
	m := makeShared(t)
	m.come()
	e, q := m.mustOpen()
	want := []transport.Message{
		{Addr: place(entriesAt, 0), Tag: 7, Peer: mqs.Known[uint64](100), Length: 12, Data: 0x777},
		{Addr: place(entriesAt, 1), Tag: 8, Peer: mqs.Known[uint64](4), Length: 1 << 20, Rendezvous: true, Sender: 7},
		{Addr: place(entriesAt, 2), Tag: 9, Peer: mqs.Known[uint64](3)},
		{Addr: place(entriesAt, 3), Tag: 10, Peer: mqs.Known[uint64](3)},
	}
	if !reflect.DeepEqual(q.Unexpected, want) || q.UnexpectedErr != nil {
		t.Errorf("%+v\nwant %+v, %v", q.Unexpected, want, q.UnexpectedErr)
	}
	if got, err := e.MessageAt(place(entriesAt, 2)); err != nil || got != want[2] {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := e.MessageAt(nowhere); err == nil {
		t.Error("there is a message where nothing can be read")
	}
}

// Messages that do not agree with their buffers, and lists that do not end, cost those behind them, and are said.
func TestSharedBadMessages(t *testing.T) {
	second, third, fourth := place(entriesAt, 1), place(entriesAt, 2), place(entriesAt, 3)
	m := makeShared(t)
	listOf := func(i int) inferior.Addr { return m.at("util_unexp_peer", place(sendersAt, i), "tag_queue.head") }
	for name, c := range map[string]struct {
		of   string
		at   inferior.Addr
		bad  set
		says string
		left int
	}{
		"another queue's":           {"util_rx_entry", second, set{"peer_entry.srx": uint64(sharedAt) + 8}, "is another endpoint's", 1},
		"in a loop":                 {"util_rx_entry", fourth, set{"peer_entry.next": uint64(third)}, "comes back to", 4},
		"in two lists":              {"util_rx_entry", fourth, set{"peer_entry.next": uint64(second)}, "comes back to", 4},
		"of nobody and of a peer":   {"slist", listOf(2), set{"head": uint64(entriesAt)}, "comes back to", 2},
		"behind the end":            {"slist", listOf(2), set{"tail": uint64(third)}, "does not end at", 4},
		"before the end":            {"util_rx_entry", third, set{"peer_entry.next": 0}, "does not end at", 3},
		"out of memory":             {"util_rx_entry", third, set{"peer_entry.next": uint64(nowhere)}, "cannot read", 3},
		"of nobody, in a torn ring": {"dlist_entry", entriesAt, set{"next": 0}, "has none behind it", 1},
	} {
		m := makeShared(t)
		m.come()
		m.put(c.of, c.at, c.bad)
		_, q := m.mustOpen()
		if q.UnexpectedErr == nil || !strings.Contains(q.UnexpectedErr.Error(), "the unexpected messages: ") || !strings.Contains(q.UnexpectedErr.Error(), c.says) || len(q.Unexpected) != c.left {
			t.Errorf("%s: %v, %d messages, want %d", name, q.UnexpectedErr, len(q.Unexpected), c.left)
		}
	}
}

// Where a message's entry begins, its buffer tells: layouts that differ in that alone are told apart by any message.
func TestSharedOtherLayout(t *testing.T) {
	m := makeShared(t)
	m.come()
	_, want := m.mustOpen()
	for i := range 4 {
		if i == 3 {
			if _, err := m.open(); !m.refuses(err, "another release's") {
				t.Errorf("by halves: %v", err)
			}
		}
		m.put("rxm_rx_buf", place(messagesAt, i), set{"peer_entry": uint64(place(entriesAt, i)) + 16})
	}
	o, err := m.open()
	if err != nil || o.LayoutName() != "libfabric 2.5" || !reflect.DeepEqual(o.endpoint.queues.Unexpected, want.Unexpected) {
		t.Errorf("%+v, %v", o, err)
	}
}

// A queue proves the layout.
func TestSharedProofs(t *testing.T) {
	first, second := place(entriesAt, 0), place(entriesAt, 1)
	for name, c := range map[string]struct {
		change func(m *madeup)
		says   string
	}{
		"has lists nowhere":       {func(m *madeup) { m.PutUint64(m.shared("src_trecv_queues.chunk"), uint64(nowhere)) }, "cannot read"},
		"has a receive of a peer": {func(m *madeup) { m.list(m.listOf(4), m.entry(2, set{"peer_entry.addr": AnyPeer})) }, "stands among those from 0x4"},
		"has receives in a loop":  {func(m *madeup) { m.put("util_rx_entry", second, set{"peer_entry.next": uint64(first)}) }, "comes back to"},
		"has receives twice":      {func(m *madeup) { m.list(m.listOf(3), second) }, "comes back to"},
		"ends too late":           {func(m *madeup) { m.put("slist", m.shared("tag_queue.head"), set{"tail": uint64(first)}) }, "does not end at"},
	} {
		m := makeShared(t)
		m.list(m.shared("tag_queue.head"), m.entry(0, set{"peer_entry.addr": AnyPeer}), m.entry(1, set{"peer_entry.addr": AnyPeer}))
		c.change(m)
		if _, err := m.open(); !m.refuses(err, c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Messages on their way and connections are as before.
func TestSharedSends(t *testing.T) {
	m := makeShared(t)
	m.connect(set{"remote_index": 5})
	m.pool(2, nil, set{"app_context": 0x99, "pkt.ctrl_hdr.conn_id": 5, "pkt.hdr.tag": 3, "pkt.hdr.size": 12})
	_, q := m.mustOpen()
	if len(q.Sends) != 1 || q.Sends[0].TagLost || !q.Sends[0].TagKept || q.Sends[0].Length != 12 || q.Sends[0].Peer != mqs.Known[uint64](100) {
		t.Errorf("%+v", q.Sends)
	}
}

// The calls to the debugger do not grow with the messages, whose buffers are far from each other.
func TestSharedCalls(t *testing.T) {
	calls := map[int]int{}
	for _, n := range []int{2, 40} {
		m := makeShared(t)
		var entries []inferior.Addr
		for i := range n {
			buffer := nowhere + inferior.Addr(i)<<20
			at := m.entry(i, set{"peer_entry.addr": 3, "peer_entry.srx": uint64(sharedAt), "peer_entry.peer_context": uint64(buffer)})
			m.Put(buffer, make([]byte, stride))
			m.put("rxm_rx_buf", buffer, set{"ep": uint64(endpointAt), "peer_entry": uint64(at), "pkt.hdr.op": opTagged})
			entries = append(entries, at)
		}
		m.Put(sendersAt, make([]byte, stride))
		m.list(m.at("util_unexp_peer", sendersAt, "tag_queue.head"), entries...)
		m.ring(m.shared("unexp_peers"), []inferior.Addr{m.at("util_unexp_peer", sendersAt, "entry")})
		if _, q := m.mustOpen(); len(q.Unexpected) != n || q.UnexpectedErr != nil {
			t.Errorf("%d messages of %d, %v", len(q.Unexpected), n, q.UnexpectedErr)
		}
		calls[n] = m.Calls
	}
	if calls[40] > calls[2]+3 {
		t.Errorf("calls by messages: %v", calls)
	}
}
