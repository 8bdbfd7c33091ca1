package ofi

import (
	"errors"
	"reflect"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// Where the parts of an endpoint of tcp's stand.
const (
	srxAt     = sharedAt
	savedAt   = sendersAt
	socketsAt = messagesAt
	ringsAt   = domainAt + 0x1000
)

// makeXNet makes a process with an endpoint of the provider tcp, which has nothing.
func makeXNet(t *testing.T) *madeup {
	t.Helper()
	m := makeEndpoint(t, "libfabric 2.1")
	m.Put(providerAt+0x100, []byte("tcp\x00"))
	size, _ := m.l.Size("xnet_domain")
	m.Put(domainAt, make([]byte, size))
	m.put("util_domain", domainAt, set{"prov": uint64(providerAt)})
	m.put("xnet_rdm", endpointAt, set{"srx": uint64(srxAt)})
	size, _ = m.l.Size("xnet_srx")
	m.Put(srxAt, make([]byte, size))
	list, _ := m.l.Size("slist")
	saved, _ := m.l.Size("xnet_saved_msg")
	m.put("xnet_srx", srxAt, set{"domain": uint64(domainAt), "rdm": uint64(endpointAt), "src_tag_queues.item_size": uint64(list), "saved_msgs.item_size": uint64(saved)})
	m.ring(m.domain("unexp_tag_list"), nil)
	m.ring(m.domain("saved_tag_list"), nil)
	return m
}

// domain is where a member of the domain's is.
func (m *madeup) domain(path string) inferior.Addr {
	return m.at("xnet_domain", domainAt, "progress."+path)
}

// transfer makes an entry, and puts it into a list behind others.
func (m *madeup) transfers(list inferior.Addr, from int, entries ...set) {
	m.t.Helper()
	for i, of := range entries {
		at, next := place(entriesAt, from+i), uint64(place(entriesAt, from+i+1))
		if i == len(entries)-1 {
			next = 0
		}
		m.Put(at, make([]byte, stride))
		m.put("xnet_xfer_entry", at, set{"entry.next": next})
		m.put("xnet_xfer_entry", at, of)
	}
	if list != 0 {
		m.put("slist", list, set{"head": uint64(place(entriesAt, from)), "tail": uint64(place(entriesAt, from+len(entries)-1))})
	}
}

// of is a header's members, from where it stands.
func of(path string, op uint64, tag uint64, more set) set {
	out := set{path + ".base_hdr.op": op, path + ".tag_hdr.tag": tag, path + ".base_hdr.hdr_size": 24, path + ".base_hdr.size": 24 + 12}
	for k, v := range more {
		out[k] = v
	}
	return out
}

// Receives are in the order of their numbers, whichever list they are in.
func TestXNetPosted(t *testing.T) {
	m := makeXNet(t)
	m.transfers(m.at("xnet_srx", srxAt, "tag_queue.head"), 0,
		set{"tag": 7, "ignore": 0xff, "src_addr": AnyPeer, "context": 0x123, "iov_cnt": 1, "tag_seq_no": 4},
		set{"tag": 8, "src_addr": 5, "iov_cnt": 2, "tag_seq_no": 6})
	m.put("iovec", m.at("xnet_xfer_entry", entriesAt, "iov"), set{"iov_base": 0x5555, "iov_len": 12})
	size, _ := m.l.Size("slist")
	m.PutUint64(m.at("xnet_srx", srxAt, "src_tag_queues.chunk"), uint64(listsAt))
	m.Put(listsAt, make([]byte, size*listsInChunk))
	m.transfers(listsAt+inferior.Addr(3*size), 2, set{"tag": 9, "src_addr": 3, "tag_seq_no": 5})
	_, q := m.mustOpen()
	want := []transport.Receive{
		{Request: transport.Request{Addr: entriesAt, UserData: 0x123, Length: 12, Buffer: 0x5555}, Tag: 7, Mask: ^uint64(0xff), Peer: transport.Peer{Value: AnyPeer}, Sequence: 4},
		{Request: transport.Request{Addr: place(entriesAt, 2), Length: -1}, Tag: 9, Mask: ^uint64(0), Peer: mqs.Known[uint64](3), Sequence: 5},
		{Request: transport.Request{Addr: place(entriesAt, 1), Length: -1}, Tag: 8, Mask: ^uint64(0), Peer: mqs.Known[uint64](5), Sequence: 6},
	}
	if !reflect.DeepEqual(q.Posted, want) {
		t.Errorf("%+v\nwant %+v", q.Posted, want)
	}
	m.put("xnet_xfer_entry", place(entriesAt, 2), set{"src_addr": 4})
	if _, err := m.open(); !m.refuses(err, "stands among those from 0x3") {
		t.Error(err)
	}
}

// save has messages of a peer be saved.
func (m *madeup) save(messages ...set) {
	m.t.Helper()
	m.Put(savedAt, make([]byte, stride))
	m.transfers(m.at("xnet_saved_msg", savedAt, "queue.head"), 0, messages...)
	m.put("xnet_saved_msg", savedAt, set{"cnt": uint64(len(messages))})
	m.ring(m.domain("saved_tag_list"), []inferior.Addr{m.at("xnet_saved_msg", savedAt, "entry")})
}

// hold has a socket hold a message of the peer 100.
func (m *madeup) hold(of set) {
	m.t.Helper()
	size, _ := m.l.Size("xnet_ep")
	m.Put(socketsAt, make([]byte, size))
	m.put("util_peer_addr", peersAt, set{"fi_addr": 100})
	m.put("xnet_ep", socketsAt, set{"srx": uint64(srxAt), "peer": uint64(peersAt)})
	m.put("xnet_ep", socketsAt, of)
	m.ring(m.domain("unexp_tag_list"), []inferior.Addr{m.at("xnet_ep", socketsAt, "unexp_entry")})
}

// Messages are what their headers say; that one at which a socket waits may have others behind it.
func TestXNetUnexpected(t *testing.T) {
	m := makeXNet(t)
	m.save(
		of("hdr", xnetTagged, 7, set{"tag": 7, "src_addr": 3}),
		of("hdr", xnetTagged, 2, set{"tag": 8, "src_addr": 3, "user_buf": 0x777, "hdr.base_hdr.flags": xnetHasData, "hdr.tag_data_hdr.tag": 8}), // 2 is beside it
		of("hdr", xnetTaggedWaits, 9, set{"tag": 9, "src_addr": 3, "hdr.tag_rts_hdr.size": 1 << 20}),
		of("hdr", xnetTagged, 10, set{"tag": 10, "src_addr": 3, "context": 0x456}),
	)
	e, q := m.mustOpen()
	want := []transport.Message{
		{Addr: entriesAt, Tag: 7, Peer: mqs.Known[uint64](3), Length: 12, Data: m.at("xnet_xfer_entry", entriesAt, "msg_data")},
		{Addr: place(entriesAt, 1), Tag: 8, Peer: mqs.Known[uint64](3), Beside: mqs.Known[uint64](2), Length: 12, Data: 0x777},
		{Addr: place(entriesAt, 2), Tag: 9, Peer: mqs.Known[uint64](3), Length: 1 << 20, Rendezvous: true},
	}
	for i := range q.Unexpected {
		if !q.Unexpected[i].Beside.Known {
			q.Unexpected[i].Beside = mqs.Maybe[uint64]{}
		}
	}
	if !reflect.DeepEqual(q.Unexpected, want) || q.UnexpectedErr != nil {
		t.Errorf("%+v\nwant %+v, %v", q.Unexpected, want, q.UnexpectedErr)
	}
	if got, err := e.Claimed(0x456); err != nil || got.Tag != 10 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := e.Claimed(0x457); !errors.Is(err, transport.ErrNoMessage) {
		t.Error(err)
	}
	if got, err := e.MessageAt(entriesAt); err != nil || got.Tag != 7 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := e.MessageAt(nowhere); err == nil {
		t.Error("there is a message where nothing can be read")
	}

	m.hold(of("cur_rx.hdr", xnetTaggedWaits, 8, set{"cur_rx.hdr.base_hdr.flags": xnetHasData, "cur_rx.hdr.tag_rts_data_hdr.size": 1 << 21, "cur_rx.hdr.tag_data_hdr.tag": 11}))
	_, q = m.mustOpen()
	if last := q.Unexpected[len(q.Unexpected)-1]; len(q.Unexpected) != 4 || last.Tag != 11 || last.Peer != mqs.Known[uint64](100) || last.Length != 1<<21 || !last.Rendezvous {
		t.Errorf("%+v", q.Unexpected)
	}
	if !errors.Is(q.UnexpectedErr, errUnread) {
		t.Error(q.UnexpectedErr)
	}
	m.put("xnet_ep", socketsAt, set{"cur_rx.claim_ctx": 0x789, "peer": 0})
	if e, q := m.mustOpen(); len(q.Unexpected) != 3 {
		t.Errorf("%+v", q.Unexpected)
	} else if got, err := e.Claimed(0x789); err != nil || got.Tag != 11 || got.Peer.Known {
		t.Errorf("%+v, %v", got, err)
	}
	m.put("xnet_ep", socketsAt, set{"srx": 1})
	if _, q := m.mustOpen(); len(q.Unexpected) != 3 || !saysOf(q.UnexpectedErr, "the socket at 0x90000 is another endpoint's") {
		t.Errorf("%+v, %v", q.Unexpected, q.UnexpectedErr)
	}
}

// Lengths are those of data, however many bytes stand in front of them.
func TestXNetLengths(t *testing.T) {
	for _, c := range []struct {
		h    xnetHeader
		want int64
	}{
		{xnetHeader{Op: xnetTagged, Size: 24, Front: 24}, 0},
		{xnetHeader{Op: xnetTagged, Size: 23, Front: 24}, -1},
		{xnetHeader{Op: xnetTagged, Size: 1<<63 + 24, Front: 24}, -1},
		{xnetHeader{Op: xnetTaggedWaits, Size: 32, Front: 32, Waits: 1 << 20}, 1 << 20},
		{xnetHeader{Op: xnetTaggedWaits, Flags: xnetHasData, Waits: 5, DataWaits: 6}, 6},
		{xnetHeader{Op: xnetData, Size: 16 + 7, Front: 16}, 7},
	} {
		if got := c.h.length(); got != c.want {
			t.Errorf("%+v: %d, want %d", c.h, got, c.want)
		}
	}
}

// wire connects the endpoint to the peer 100 by a socket.
func (m *madeup) wire(of set) {
	m.t.Helper()
	size, _ := m.l.Size("xnet_ep")
	m.Put(socketsAt, make([]byte, size))
	m.put("xnet_ep", socketsAt, set{"srx": uint64(srxAt)})
	m.put("xnet_ep", socketsAt, of)
	m.Put(connsAt, make([]byte, stride))
	m.put("util_peer_addr", peersAt, set{"fi_addr": 100})
	m.put("xnet_conn", connsAt, set{"ep": uint64(socketsAt), "rdm": uint64(endpointAt), "peer": uint64(peersAt)})
	m.PutUint64(m.at("xnet_rdm", endpointAt, "conn_idx_map.chunk"), uint64(chunkAt))
	m.PutUint32(m.at("xnet_rdm", endpointAt, "conn_idx_map.count"), 1)
	m.PutUint64(chunkAt+8*4, uint64(connsAt))
}

// Sends are in the queues of the sockets, but for the one that is being sent, and those that wait for an answer.
func TestXNetSends(t *testing.T) {
	m := makeXNet(t)
	m.wire(set{"cur_tx.entry": uint64(entriesAt), "rts_queue.data": uint64(poolAt)})
	m.transfers(0, 0, of("hdr", xnetTagged, 7, set{"context": 0x90}), of("hdr", xnetTagged, 8, nil))
	m.transfers(m.at("xnet_ep", socketsAt, "tx_queue.head"), 2, of("hdr", xnetTagged, 9, set{"context": 0x92}), of("hdr", 2, 9, set{"context": 0x92}), of("hdr", xnetTagged, 1, set{"context": 0x92, "ctrl_flags": xnetInternal}))
	m.transfers(m.at("xnet_ep", socketsAt, "need_ack_queue.head"), 5, of("hdr", xnetTagged, 10, set{"context": 0x95}))
	m.transfers(0, 6, of("hdr", xnetData, 11, set{"context": 0x96, "ctrl_flags": xnetNeedsCTS}), of("hdr", xnetData, 12, set{"context": 0x97}))
	size, _ := m.l.Size("ofi_idx_entry")
	m.Put(poolAt, make([]byte, size*xnetAnswers))
	m.put("ofi_idx_entry", poolAt+inferior.Addr(size), set{"item": uint64(place(entriesAt, 6)), "next": ^uint64(0)})
	m.put("ofi_idx_entry", poolAt+inferior.Addr(255*size), set{"item": uint64(place(entriesAt, 7)), "next": ^uint64(0)})
	m.put("ofi_idx_entry", poolAt+inferior.Addr(2*size), set{"item": uint64(nowhere), "next": 3})
	_, q := m.mustOpen()
	send := func(i int, tag uint64, state transport.State) transport.Send {
		r := transport.Request{Addr: place(entriesAt, i), UserData: inferior.Addr(0x90 + i), Length: 12, State: state}
		return transport.Send{Request: r, Tag: tag, TagKept: true, Peer: mqs.Known[uint64](100)}
	}
	want := []transport.Send{send(6, 11, transport.Posted), send(7, 12, transport.Matched), send(0, 7, transport.Posted), send(5, 10, transport.Posted), send(2, 9, transport.Posted)}
	if !reflect.DeepEqual(q.Sends, want) {
		t.Errorf("%+v\nwant %+v", q.Sends, want)
	}
	m.put("xnet_conn", connsAt, set{"ep": 0})
	if _, q := m.mustOpen(); len(q.Sends) != 0 {
		t.Errorf("%+v by a connection that was shut down", q.Sends)
	}
}
