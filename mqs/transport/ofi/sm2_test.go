package ofi

import (
	"reflect"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// sm2RegionAt is the endpoint's part of the memory that all share, and sm2StackAt where its places are.
const (
	sm2RegionAt inferior.Addr = 0x20_0000
	sm2StackAt  inferior.Addr = 0x20_0100
	sm2Number                 = 3
)

// makeSM2 makes a process with an endpoint of the provider sm2, which has nothing.
func makeSM2(t *testing.T) *madeup {
	t.Helper()
	m := makeShared(t)
	m.Put(providerAt+0x100, []byte("sm2\x00"))
	m.putSM2(endpointAt, uint64(sharedAt))
	return m
}

// putSM2 makes an endpoint of sm2's with a queue, which may be another one's.
func (m *madeup) putSM2(at inferior.Addr, queue uint64) {
	m.t.Helper()
	kept, _ := m.l.Size("sm2_xfer_ctx")
	size, _ := m.l.Size("ofi_bufpool")
	m.Put(poolAt, make([]byte, size))
	m.put("ofi_bufpool", poolAt, set{"attr.size": uint64(kept)})
	m.put("sm2_ep", at, set{"srx": queue, "xfer_ctx_pool": uint64(poolAt), "gid": sm2Number, "self_region": 0})
}

// keepSM2 makes an entry of a message of peer 4, and the copy that the provider keeps.
func (m *madeup) keepSM2(i int, of set) inferior.Addr {
	m.t.Helper()
	kept := nowhere + inferior.Addr(i*0x2000)
	size, _ := m.l.Size("sm2_xfer_ctx")
	at := m.entry(i, set{"peer_entry.addr": 4, "peer_entry.srx": uint64(sharedAt), "peer_entry.tag": 7, "peer_entry.peer_context": uint64(kept)})
	m.Put(kept, make([]byte, size))
	m.put("sm2_xfer_ctx", kept, set{"ep": uint64(endpointAt), "xfer_entry.hdr.op": opTagged, "xfer_entry.hdr.tag": 7, "xfer_entry.hdr.size": 12})
	m.put("sm2_xfer_ctx", kept, of)
	return at
}

// Messages are copies of what has come: the data of some is with their senders.
func TestSM2Unexpected(t *testing.T) {
	m := makeSM2(t)
	var entries []inferior.Addr
	for i, how := range []uint64{sm2Inject, sm2CMA, sm2IPC} {
		entries = append(entries, m.keepSM2(i, set{"xfer_entry.hdr.proto": how}))
	}
	m.put("util_rx_entry", entries[1], set{"peer_entry.flags": remoteData, "peer_entry.cq_data": 5})
	m.ring(m.shared("unspec_unexp_tag_queue"), entries)
	e, q := m.mustOpen()
	want := []transport.Message{
		{Addr: entries[0], Tag: 7, Peer: mqs.Known[uint64](4), Length: 12, Data: m.at("sm2_xfer_ctx", nowhere, "xfer_entry.user_data")},
		{Addr: entries[1], Tag: 7, Peer: mqs.Known[uint64](4), Length: 12, Rendezvous: true, Beside: mqs.Known[uint64](5)},
		{Addr: entries[2], Tag: 7, Peer: mqs.Known[uint64](4), Length: 12, Rendezvous: true},
	}
	if !reflect.DeepEqual(q.Unexpected, want) || q.UnexpectedErr != nil {
		t.Errorf("%+v\nwant %+v, %v", q.Unexpected, want, q.UnexpectedErr)
	}
	m.PutUint64(peersAt, uint64(entries[2]))
	if got, err := e.Claimed(peersAt); err != nil || got != want[2] || e.Same(want[0].Peer) != want[0].Peer {
		t.Errorf("%+v, %v", got, err)
	}
}

// places puts messages on their way into places, of which nil are free, the last one first.
func (m *madeup) places(ep inferior.Addr, messages ...set) (at []inferior.Addr) {
	m.t.Helper()
	const slots = 0x700 // from the stack
	width, _ := m.l.Size("sm2_xfer_entry")
	m.put("sm2_ep", ep, set{"self_region": uint64(sm2RegionAt)})
	m.put("sm2_region", sm2RegionAt, set{"freestack_offset": uint64(sm2StackAt - sm2RegionAt)})
	m.Put(sm2StackAt, make([]byte, slots+width*len(messages)))
	numbers := m.at("smr_freestack", sm2StackAt, "entry_next")
	first, free := uint16(0xffff), 0
	for i, of := range messages {
		slot := sm2StackAt + inferior.Addr(slots+width*i)
		if of == nil {
			m.Put(numbers+inferior.Addr(2*i), m.Order().AppendUint16(nil, first))
			first = uint16(i)
			free++
			continue
		}
		m.put("sm2_xfer_entry", slot, set{"hdr.context": 0x99, "hdr.op": opTagged, "hdr.size": 12, "hdr.proto": sm2CMA, "hdr.sender_gid": sm2Number})
		m.put("sm2_xfer_entry", slot, of)
		at = append(at, slot)
	}
	m.put("smr_freestack", sm2StackAt, set{"entry_base_offset": slots, "object_size": uint64(width), "size": uint64(len(messages)), "free": uint64(free), "top": uint64(first)})
	return at
}

// Sends are in the places that are not free. All but those whose data the peer fetches are complete.
func TestSM2Sends(t *testing.T) {
	m := makeSM2(t)
	at := m.places(endpointAt, nil, set{"hdr.tag": 7}, nil, set{"hdr.context": 0}, set{"hdr.op": 0}, set{"hdr.proto": sm2Inject}, set{"hdr.sender_gid": sm2Number + 1},
		set{"hdr.proto_flags": sm2Returned | sm2Unexpected, "hdr.proto": sm2IPC}, set{"hdr.proto_flags": sm2Received | sm2Returned}, set{"hdr.proto_flags": sm2Received},
		set{"hdr.proto_flags": sm2Received | sm2Returned | sm2Unexpected}, set{"hdr.proto_flags": 1 << 4})
	_, q := m.mustOpen()
	send := func(i int, tag uint64, state transport.State) transport.Send {
		return transport.Send{Request: transport.Request{Addr: at[i], UserData: 0x99, Length: 12, State: state}, Tag: tag, TagKept: true}
	}
	want := []transport.Send{send(0, 7, transport.Posted), send(5, 0, transport.Posted), send(6, 0, transport.Matched), send(7, 0, transport.Matched)}
	if !reflect.DeepEqual(q.Sends, want) {
		t.Errorf("%+v\nwant %+v", q.Sends, want)
	}
}

// What does not agree with itself is not believed.
func TestSM2Proofs(t *testing.T) {
	for name, c := range map[string]struct {
		of   string
		at   inferior.Addr
		bad  set
		says string
	}{
		"far too many places": {"smr_freestack", sm2StackAt, set{"size": maxSlots + 1}, "the 65537 places"},
		"places too near":     {"smr_freestack", sm2StackAt, set{"entry_base_offset": 8}, "the 3 places"},
		"places too far":      {"smr_freestack", sm2StackAt, set{"entry_base_offset": 1 << 20}, "the 3 places"},
		"less than none":      {"smr_freestack", sm2StackAt, set{"free": 0xffff}, "have -1 free ones"},
		"a place that is not": {"smr_freestack", sm2StackAt, set{"top": 3}, "the free place 3"},
		"nor this":            {"smr_freestack", sm2StackAt, set{"top": 0xfffe}, "the free place -2"},
	} {
		m := makeSM2(t)
		m.places(endpointAt, nil, nil, set{})
		m.put(c.of, c.at, c.bad)
		if _, err := m.open(); !m.refuses(err, c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	m := makeSM2(t)
	m.places(endpointAt, nil, nil, set{})
	m.Put(m.at("smr_freestack", sm2StackAt, "entry_next"), []byte{1, 0})
	if _, err := m.open(); !m.refuses(err, "not for the first time") {
		t.Errorf("a list that does not end: %v", err)
	}
}
