package ofi

import (
	"errors"
	"maps"
	"reflect"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// Where the parts of an endpoint of the provider opx are.
const (
	opxReceivesAt = sharedAt
	opxHashedAt   = listsAt
	opxBookAt     = peersAt
	opxTableAt    = peersAt + 0x2000
	opxStride     = 0x2400 // of messages
)

// opxMessage is the address of a message.
func opxMessage(i int) inferior.Addr { return messagesAt + inferior.Addr(i*opxStride) }

// makeOPX makes a process with an endpoint of the provider opx, which has nothing.
func makeOPX(t *testing.T) *madeup {
	t.Helper()
	m := makeEndpoint(t, "libfabric 2.1 with opx")
	for at, c := range map[inferior.Addr]string{endpointAt: "fi_opx_ep", opxReceivesAt: "fi_opx_ep_rx", opxHashedAt: "fi_opx_match_ue_hash", opxBookAt: "fi_opx_av"} {
		size, _ := m.l.Size(c)
		m.Put(at, make([]byte, size))
	}
	m.put("fi_opx_ep", endpointAt, set{"ep_fid.fid.fclass": uint64(ClassEndpoint), "domain": uint64(domainAt), "rx": uint64(opxReceivesAt), "av": uint64(opxBookAt)})
	m.put("fi_opx_domain", domainAt, set{"domain_fid.fid.fclass": uint64(ClassDomain)})
	m.put("fi_opx_ep_rx", opxReceivesAt, set{"domain": uint64(domainAt), "match_ue_tag_hash": uint64(opxHashedAt)})
	m.put("fi_opx_av", opxBookAt, set{"av_fid.fid.fclass": uint64(ClassAddresses), "domain": uint64(domainAt), "type": opxBookTable, "addr_count": 2, "table_addr": uint64(opxTableAt)})
	m.PutUint64(opxTableAt, opxAddressOf(7, 3))
	m.PutUint64(opxTableAt+8, opxAddressOf(8, 3))
	return m
}

// opxAddressOf is an address, of a card's number too.
func opxAddressOf(node, context uint64) uint64 { return node<<32 | context<<16 | 1 }

// opxPost posts receives.
func (m *madeup) opxPost(receives ...set) {
	m.t.Helper()
	for i, r := range receives {
		at, next := place(entriesAt, i), uint64(0)
		if i+1 < len(receives) {
			next = uint64(place(entriesAt, i+1))
		}
		m.Put(at, make([]byte, stride))
		m.put("opx_context", at, with(set{"next": next, "src_addr": AnyPeer, "byte_counter": opxUnset}, r))
	}
	size, _ := m.l.Size("fi_opx_hfi1_ue_packet_slist")
	at := m.at("fi_opx_ep_rx", opxReceivesAt, "queue") + inferior.Addr(size)
	m.put("slist", at, set{"head": uint64(entriesAt), "tail": uint64(place(entriesAt, len(receives)-1))})
}

// opxArrive has messages come that no receive matches, into a list from a place on.
func (m *madeup) opxArrive(list inferior.Addr, from int, messages ...set) {
	m.t.Helper()
	before := uint64(0)
	for i, of := range messages {
		at, next := opxMessage(from+i), uint64(0)
		if i+1 < len(messages) {
			next = uint64(opxMessage(from + i + 1))
		}
		m.Put(at, make([]byte, opxStride))
		m.put("fi_opx_hfi1_ue_packet", at, with(set{"next": next, "prev": before}, of))
		before = uint64(at)
	}
	m.put("fi_opx_hfi1_ue_packet_slist", list, set{"head": uint64(opxMessage(from)), "tail": before, "length": uint64(len(messages))})
}

// Receives stand in the order of posting, and are of whom their addresses say.
func TestOPXPosted(t *testing.T) {
	m := makeOPX(t)
	m.opxPost(set{"tag": 7, "ignore": 0xff, "src_addr": opxAddressOf(8, 3), "len": 12, "buf": 0x5555, "err_entry.op_context": 0x123}, set{"tag": 8})
	e, q := m.mustOpen()
	want := []transport.Receive{
		{Request: transport.Request{Addr: entriesAt, UserData: 0x123, Length: 12, Buffer: 0x5555}, Tag: 7, Mask: ^uint64(0xff), Peer: opxPeer(8, 3)},
		{Request: transport.Request{Addr: place(entriesAt, 1)}, Tag: 8, Mask: ^uint64(0), Sequence: 1},
	}
	if !reflect.DeepEqual(q.Posted, want) || len(q.Sends) != 0 {
		t.Errorf("%+v\nwant %+v", q.Posted, want)
	}
	for peer, want := range map[transport.Peer]transport.Peer{mqs.Known[uint64](1): opxPeer(8, 3), mqs.Known[uint64](0): opxPeer(7, 3), mqs.Known[uint64](2): {}, {}: {}} {
		if got := e.Same(peer); got != want {
			t.Errorf("%+v is %+v", peer, got)
		}
	}
	m.put("fi_opx_av", opxBookAt, set{"type": 1, "table_addr": uint64(nowhere)})
	e, q = m.mustOpen()
	if got := e.Same(mqs.Known(opxAddressOf(8, 3))); got != opxPeer(8, 3) || q.Posted[0].Peer != got {
		t.Errorf("%+v, %+v", got, q.Posted)
	}
}

// Messages are those of the first list, and those for which it had no room.
func TestOPXUnexpected(t *testing.T) {
	m := makeOPX(t)
	first, hashed := m.at("fi_opx_ep_rx", opxReceivesAt, "queue"), m.at("fi_opx_match_ue_hash", opxHashedAt, "ue")
	m.opxArrive(first, 0,
		set{"tag": 7, "hdr.match.ofi_tag": 7, "lid": 8, "rx": 3, "hdr.bth.opcode": opxEager | opxTagged | opxHasData, "hdr.match.ofi_data": 5, "hdr.send.payload_qws_total": 2, "hdr.send.xfer_bytes_tail": 3},
		set{"hdr.bth.opcode": opxShort | opxTagged, "hdr.inject.message_length": 9},
		set{"hdr.bth.opcode": opxFirstOld | opxTagged, "hdr.rendezvous.message_length": 4})
	m.opxArrive(hashed, 3, set{"hdr.bth.opcode": opxReadyOld | opxTagged, "hdr.rendezvous.message_length": 1 << 20})
	e, q := m.mustOpen()
	want := []transport.Message{
		{Addr: messagesAt, Tag: 7, Peer: opxPeer(8, 3), Length: 19, Beside: mqs.Known[uint64](5)},
		{Addr: opxMessage(1), Peer: opxPeer(0, 0), Length: 9},
		{Addr: opxMessage(2), Peer: opxPeer(0, 0), Length: -1},
		{Addr: opxMessage(3), Peer: opxPeer(0, 0), Length: 1 << 20, Rendezvous: true},
	}
	if !reflect.DeepEqual(q.Unexpected, want) || q.UnexpectedErr != nil {
		t.Errorf("%+v\nwant %+v, %v", q.Unexpected, want, q.UnexpectedErr)
	}
	if got, err := e.MessageAt(opxMessage(3)); err != nil || got != want[3] {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := e.MessageAt(opxMessage(4)); !errors.Is(err, transport.ErrNoMessage) {
		t.Error(err)
	}
	if _, err := e.Claimed(messagesAt); err == nil || errors.Is(err, transport.ErrNoMessage) {
		t.Error(err)
	}
	m.put("fi_opx_hfi1_ue_packet", opxMessage(1), set{"hdr.bth.opcode": opxFirst | opxTagged})
	if _, q := m.mustOpen(); !saysOf(q.UnexpectedErr, "begins with a packet of kind 0xee") {
		t.Error(q.UnexpectedErr)
	}
}

// From 2.4 on, what is in front of data has other numbers.
func TestOPXKinds(t *testing.T) {
	o := &opx{}
	for op, want := range map[uint8]struct {
		isOld, isNew, isLong bool
	}{opxFirst: {false, true, false}, 0xf8: {true, true, true}, 0xfc: {true, true, true}, opxEager: {true, true, false}, opxShort: {true, true, false}, 0xe8: {}} {
		for _, isNew := range []bool{false, true} {
			p := opxPacket{Op: op | opxTagged, Long: 9}
			if isNew {
				p.Ready = 1
			}
			m, err := o.packet(1, &p)
			isLong := want.isLong && (isNew || op == opxReadyOld)
			if isRead := isNew && want.isNew || !isNew && want.isOld; (err == nil) != isRead || m.Rendezvous != isLong {
				t.Errorf("%#x, from 2.4 on %v: %+v, %v", op, isNew, m, err)
			}
		}
	}
	if m, _ := o.packet(1, &opxPacket{Op: opxEager | opxTagged, Words: 1, TailAbove: 5<<3 | 7}); m.Length != 13 {
		t.Errorf("%+v", m)
	}
	if m, _ := o.packet(1, &opxPacket{Op: opxShort | opxTagged, ShortAbove: 16<<3 | 7}); m.Length != 16 {
		t.Errorf("%+v", m)
	}
}

// A list that leads back to itself ends.
func TestOPXLoop(t *testing.T) {
	m := makeOPX(t)
	m.opxPost(nil, nil)
	m.put("opx_context", place(entriesAt, 1), set{"next": uint64(entriesAt)})
	if _, err := m.open(); !m.refuses(err, "the posted receives: ") {
		t.Error(err)
	}
}

// TestOPXQueues checks that a layout is refused by which the two queues of an endpoint are not side by side.
func TestOPXQueues(t *testing.T) {
	m := makeOPX(t)
	table := *m.l.Table()
	table.Types = maps.Clone(table.Types)
	receives := table.Types["fi_opx_ep_rx"]
	receives.Fields = maps.Clone(receives.Fields)
	queues := receives.Fields["queue"]
	queues.Size++
	receives.Fields["queue"], table.Types["fi_opx_ep_rx"] = queues, receives
	m.l = table.Layouts(inferior.Queries(allTypes()...))
	if _, err := m.read(m); !saysOf(err, "two queues have 81 bytes, and one 40") {
		t.Error(err)
	}
}
