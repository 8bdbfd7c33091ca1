package ofi

import (
	"maps"
	"reflect"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// keptAt is where what is kept of messages is, stackAt where those on their way are.
const (
	keptAt  = messagesAt
	stackAt = buffersAt
)

// makeSMR makes a process with an endpoint of the provider shm, which has nothing.
func makeSMR(t *testing.T) *madeup {
	t.Helper()
	m := makeShared(t)
	m.Put(providerAt+0x100, []byte("shm\x00"))
	m.put("smr_ep", endpointAt, set{"srx": uint64(sharedAt), "tx_fs": 0, "util_ep.av": uint64(avAt)})
	m.nameSMR(m.at("smr_av", avAt, "smr_map"))
	return m
}

// avAt is where an endpoint's names of its peers are.
const avAt inferior.Addr = 0x12_0000

// poolOf makes a pool for objects of a type, which has none yet.
func (m *madeup) poolOf(at inferior.Addr, c string) {
	m.t.Helper()
	size, _ := m.l.Size(c)
	m.put("ofi_bufpool", at, set{"attr.size": uint64(size), "entry_size": uint64(size) + 0x40, "entry_cnt": 0, "region_cnt": 0})
}

// nameSMR has peer 3 be called 0x42, in a map. Peer 2 has left, and peer 1 has not been found. What looks like a peer before
// the first, and behind the last, is none.
func (m *madeup) nameSMR(at inferior.Addr) {
	m.t.Helper()
	size, _ := m.l.Size("smr_peer")
	first := m.at("smr_map", at, "peers")
	m.Put(first, make([]byte, size*maxSMRPeers))
	_, isNumbered := m.l.Field("smr_peer", "peer.id")
	for _, i := range []int{-1, 0, 1, 2, 3, maxSMRPeers} {
		of := set{"fiaddr": 0x3f + uint64(i), "region": 1}
		switch {
		case isNumbered && i == 2:
			of["peer.id"] = ^uint64(0)
		case isNumbered:
			of["peer.id"] = uint64(i)
		case i != 2:
			of["id_assigned"] = 1
		}
		if i == 1 {
			of["region"] = 0
		}
		m.put("smr_peer", first+inferior.Addr(i*size), of)
	}
}

// keep makes an entry of a message of nobody's, and what the provider keeps of it.
func (m *madeup) keep(i int, of set) inferior.Addr {
	m.t.Helper()
	kept := place(keptAt, i)
	at := m.entry(i, set{"peer_entry.addr": AnyPeer, "peer_entry.srx": uint64(sharedAt), "peer_entry.tag": 7, "peer_entry.peer_context": uint64(kept)})
	m.Put(kept, make([]byte, stride))
	m.put("smr_cmd_ctx", kept, set{"ep": uint64(endpointAt), "rx_entry": uint64(at), "cmd.msg.hdr.op": opTagged, "cmd.msg.hdr.tag": 7, "cmd.msg.hdr.size": 12})
	m.put("smr_cmd_ctx", kept, of)
	return at
}

// Messages are what is kept of them: the data of some is with their senders.
func TestSMRUnexpected(t *testing.T) {
	m := makeSMR(t)
	var links []inferior.Addr
	for i, source := range []uint64{0, 1, smrVector, smrVector + 1, smrSegments, smrSegments + 1} {
		links = append(links, m.keep(i, set{"cmd.msg.hdr.op_src": source}))
	}
	m.put("util_rx_entry", links[1], set{"peer_entry.addr": 3})
	m.put("smr_cmd_ctx", place(keptAt, 1), set{"cmd.msg.hdr.op_flags": smrHasData, "cmd.msg.hdr.data": 5})
	m.ring(m.shared("unspec_unexp_tag_queue"), links)
	e, q := m.mustOpen()
	var want []transport.Message
	for i, rendezvous := range []bool{false, false, true, true, false, true} {
		want = append(want, transport.Message{Addr: links[i], Tag: 7, Peer: transport.Peer{Value: AnyPeer}, Length: 12, Rendezvous: rendezvous})
	}
	want[1].Peer, want[1].Beside = mqs.Known[uint64](3), mqs.Known[uint64](5)
	if !reflect.DeepEqual(q.Unexpected, want) || q.UnexpectedErr != nil {
		t.Errorf("%+v\nwant %+v, %v", q.Unexpected, want, q.UnexpectedErr)
	}
	m.PutUint64(peersAt, uint64(links[2]))
	if got, err := e.Claimed(peersAt); err != nil || got != want[2] {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := e.Claimed(nowhere); err == nil {
		t.Error("a message is claimed where nothing can be read")
	}
}

// send puts messages on their way into places, of which nil are free, the last one first.
func (m *madeup) send(messages ...set) {
	m.t.Helper()
	m.sendAt(endpointAt, messages...)
}

// sendAt does so for an endpoint.
func (m *madeup) sendAt(ep inferior.Addr, messages ...set) {
	m.t.Helper()
	stack, member := "smr_tx_fs", "tx_fs"
	if m.l.Find(stack) == nil {
		stack, member = "smr_pend_fs", "pend_fs"
	}
	size, _ := m.l.Size(stack + "_entry")
	m.put("smr_ep", ep, set{member: uint64(stackAt)})
	m.put(stack, stackAt, set{"size": uint64(len(messages))})
	free := uint64(0)
	for i, of := range messages {
		at := m.at(stack, stackAt, "entry") + inferior.Addr(i*size)
		m.Put(at, make([]byte, size))
		if of == nil {
			link := m.at(stack+"_entry", at, "buf") - 8
			m.PutUint64(link, free)
			free = uint64(link)
			continue
		}
		m.put(stack+"_entry", at, set{"buf.context": 0x99, "buf.peer_id": 3, "buf.cmd.msg.hdr.op": opTagged, "buf.cmd.msg.hdr.size": 12})
		m.put(stack+"_entry", at, of)
	}
	m.put(stack, stackAt, set{"next": free})
}

// Sends are in the places that are not free. A peer is known if it says of itself that it is the one.
func TestSMRSends(t *testing.T) {
	for name, make := range map[string]func(*testing.T) *madeup{"smr_tx_fs": makeSMR, "smr_pend_fs": makeSMROwn} {
		m := make(t)
		m.send(nil, set{"buf.cmd.msg.hdr.tag": 7}, nil, set{"buf.context": 0}, set{"buf.cmd.msg.hdr.op": 0}, set{"buf.peer_id": 1}, set{"buf.peer_id": 2}, set{"buf.peer_id": maxSMRPeers}, set{"buf.peer_id": ^uint64(0)})
		_, q := m.mustOpen()
		size, _ := m.l.Size(name + "_entry")
		at := func(i int) inferior.Addr { return m.at(name, stackAt, "entry") + inferior.Addr(i*size) }
		want := []transport.Send{{Request: transport.Request{Addr: at(1), UserData: 0x99, Length: 12}, Tag: 7, TagKept: true, Peer: mqs.Known[uint64](0x42)}}
		for i := 5; i < 9; i++ {
			want = append(want, transport.Send{Request: transport.Request{Addr: at(i), UserData: 0x99, Length: 12}, TagKept: true})
		}
		if !reflect.DeepEqual(q.Sends, want) || q.SendsErr != nil {
			t.Errorf("%s: %+v\nwant %+v, %v", name, q.Sends, want, q.SendsErr)
		}
		m.put("smr_ep", endpointAt, set{"util_ep.av": uint64(nowhere)})
		if _, q := m.mustOpen(); len(q.Sends) != 5 || q.Sends[0].Peer.Known {
			t.Errorf("%s: %+v", name, q.Sends)
		}
	}
}

// What does not agree with itself is not believed.
func TestSMRProofs(t *testing.T) {
	for name, c := range map[string]struct {
		of   string
		at   inferior.Addr
		bad  set
		says string
	}{
		"sends nowhere":       {"smr_ep", endpointAt, set{"tx_fs": uint64(nowhere)}, "the messages on their way: "},
		"more than there are": {"smr_tx_fs", stackAt, set{"size": maxSlots}, "cannot read"},
	} {
		m := makeSMR(t)
		m.send(nil, set{})
		m.put(c.of, c.at, c.bad)
		if _, err := m.open(); !m.refuses(err, c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What is kept of a message need not lead back to its entry: up to 2.0 it did not, and a pool proves that it is what is kept.
func TestSMRKeptInPool(t *testing.T) {
	m := makeSMR(t)
	m.debugInfo("rxm_ep")
	kept := *m.Types["smr_cmd_ctx"]
	kept.Fields = maps.Clone(kept.Fields)
	delete(kept.Fields, "rx_entry")
	m.Types["smr_cmd_ctx"] = &kept
	m.put("smr_ep", endpointAt, set{"cmd_ctx_pool": uint64(poolAt)})
	m.poolOf(poolAt, "smr_cmd_ctx")
	at := m.keep(0, nil)
	m.PutUint64(m.at("smr_cmd_ctx", place(keptAt, 0), "rx_entry"), 1)
	m.ring(m.shared("unspec_unexp_tag_queue"), []inferior.Addr{at})
	o, err := m.open()
	if err != nil || o.LayoutName() != "" || len(o.endpoint.queues.Unexpected) != 1 {
		t.Fatalf("%+v, %v", o, err)
	}
	m.put("ofi_bufpool", poolAt, set{"attr.size": 8})
	if o, err := m.open(); err == nil && o.LayoutName() == "" {
		t.Error("a pool of something else is believed")
	}
}

// debugInfo has the process describe its types itself, but for one.
func (m *madeup) debugInfo(without string) {
	for _, q := range inferior.Queries(allTypes()...) {
		if l := m.l.Find(q.Name); l != nil && q.Name != without {
			m.Types[q.Name] = l
		}
	}
}
