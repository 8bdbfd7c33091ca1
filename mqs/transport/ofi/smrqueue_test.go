package ofi

import (
	"reflect"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// makeSMROwn makes a process with an endpoint of the provider shm as it was when it had a queue of its own, which has
// nothing.
func makeSMROwn(t *testing.T) *madeup {
	t.Helper()
	m := makeEndpoint(t, "libfabric 1.17")
	m.Put(providerAt+0x100, []byte("shm\x00"))
	m.put("smr_ep", endpointAt, set{"srx": uint64(sharedAt), "pend_fs": 0, "util_ep.av": uint64(avAt)})
	m.put("smr_srx_ctx", sharedAt, set{"peer_srx.ep_fid.fid.context": uint64(sharedAt)})
	m.ring(m.own("trecv_queue.list"), nil)
	m.ring(m.own("unexp_tagged_queue.list"), nil)
	m.put("smr_av", avAt, set{"smr_map": uint64(mapAt)})
	m.nameSMR(mapAt)
	return m
}

// own is where a member of shm's own queue is.
func (m *madeup) own(path string) inferior.Addr { return m.at("smr_srx_ctx", sharedAt, path) }

// take makes an entry of shm's own queue.
func (m *madeup) take(i int, of set) inferior.Addr {
	m.t.Helper()
	at := place(entriesAt, i)
	m.Put(at, make([]byte, stride))
	m.put("smr_rx_entry", at, set{"peer_entry.iov": uint64(m.at("smr_rx_entry", at, "iov"))})
	m.put("smr_rx_entry", at, of)
	return at
}

// keepOwn makes an entry of a message, and what is kept of it.
func (m *madeup) keepOwn(i int, of set) inferior.Addr {
	m.t.Helper()
	kept := place(keptAt, i)
	at := m.take(i, set{"peer_entry.addr": 3, "peer_entry.srx": uint64(sharedAt), "peer_entry.tag": 7, "peer_entry.peer_context": uint64(kept)})
	m.Put(kept, make([]byte, stride))
	m.put("smr_cmd_ctx", kept, set{"ep": uint64(endpointAt), "cmd.msg.hdr.op": opTagged, "cmd.msg.hdr.tag": 7, "cmd.msg.hdr.size": 12})
	m.put("smr_cmd_ctx", kept, of)
	return at
}

// Receives stand in one ring, whoever they are from.
func TestSMROwnPosted(t *testing.T) {
	m := makeSMROwn(t)
	first := m.take(0, set{"peer_entry.addr": 5, "peer_entry.tag": 7, "ignore": 0xff, "peer_entry.context": 0x123, "peer_entry.count": 1})
	m.put("iovec", m.at("smr_rx_entry", first, "iov"), set{"iov_base": 0x5555, "iov_len": 12})
	second := m.take(1, set{"peer_entry.addr": AnyPeer, "peer_entry.count": 2})
	m.ring(m.own("trecv_queue.list"), []inferior.Addr{first, second})
	o, err := m.open()
	if err != nil {
		t.Fatal(err)
	}
	want := []transport.Receive{
		{Request: transport.Request{Addr: first, UserData: 0x123, Length: 12, Buffer: 0x5555}, Tag: 7, Mask: ^uint64(0xff), Peer: mqs.Known[uint64](5)},
		{Request: transport.Request{Addr: second, Length: -1}, Mask: ^uint64(0), Peer: transport.Peer{Value: AnyPeer}, Sequence: 1},
	}
	if q := o.Matchers()[0].Queues(); !reflect.DeepEqual(q.Posted, want) || o.LayoutName() != "libfabric 1.17" {
		t.Errorf("%s: %+v\nwant %+v", o.LayoutName(), q.Posted, want)
	}
	if e := o.Endpoint(); e.Same(mqs.Known[uint64](3)) != mqs.Known[uint64](3) {
		t.Error("a peer is another one")
	}
}

// Messages stand in one ring too. The data of those in segments is with their senders, as none is taken before there is a
// receive.
func TestSMROwnUnexpected(t *testing.T) {
	m := makeSMROwn(t)
	var entries []inferior.Addr
	var want []transport.Message
	for i, rendezvous := range []bool{false, false, true, true, true, true} {
		entries = append(entries, m.keepOwn(i, set{"cmd.msg.hdr.op_src": uint64(i)}))
		want = append(want, transport.Message{Addr: entries[i], Tag: 7, Peer: mqs.Known[uint64](3), Length: 12, Rendezvous: rendezvous})
	}
	m.put("smr_cmd_ctx", place(keptAt, 1), set{"cmd.msg.hdr.op_flags": smrHasData, "cmd.msg.hdr.data": 5})
	want[1].Beside = mqs.Known[uint64](5)
	m.ring(m.own("unexp_tagged_queue.list"), entries)
	e, q := m.mustOpen()
	if !reflect.DeepEqual(q.Unexpected, want) || q.UnexpectedErr != nil {
		t.Errorf("%+v\nwant %+v, %v", q.Unexpected, want, q.UnexpectedErr)
	}
	if got, err := e.MessageAt(entries[2]); err != nil || got != want[2] {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := e.MessageAt(nowhere); err == nil {
		t.Error("there is a message where nothing can be read")
	}
	m.PutUint64(peersAt, uint64(entries[2]))
	if _, err := e.Claimed(peersAt); !saysOf(err, "can't have claimed a message") {
		t.Error(err)
	}
}
