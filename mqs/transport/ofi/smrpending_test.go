package ofi

import (
	"maps"
	"reflect"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// Where what waits stands, and the memory that is shared.
const (
	waitingAt  inferior.Addr = 0x14_0000
	commandsAt inferior.Addr = 0x15_0000
)

// smrPendingLayouts are those of the types of 2.6 that no table has: debug information alone does.
var smrPendingLayouts = map[string]*layout.Layout{
	"smr_ep": {Size: 560, Fields: map[string]layout.Field{
		"util_ep.av": {Offset: 88, Size: 8, Kind: layout.KindPointer}, "util_ep.domain": {Offset: 80, Size: 8, Kind: layout.KindPointer},
		"srx": {Offset: 416, Size: 8, Kind: layout.KindPointer}, "pend_pool": {Offset: 448, Size: 8, Kind: layout.KindPointer},
	}},
	"smr_cmd_ctx": {Size: 632, Fields: map[string]layout.Field{
		"rx_entry": {Offset: 16, Size: 8, Kind: layout.KindPointer}, "ep": {Offset: 24, Size: 8, Kind: layout.KindPointer},
		"cmd": {Offset: 40, Size: 8, Kind: layout.KindPointer}, "cmd_cpy": {Offset: 48, Size: 368, Kind: layout.KindStruct},
		"cmd_cpy.hdr.op": {Offset: 56, Size: 1, Kind: layout.KindUnsigned}, "cmd_cpy.hdr.tx_id": {Offset: 62, Size: 2, Kind: layout.KindSigned},
		"cmd_cpy.hdr.size": {Offset: 64, Size: 8, Kind: layout.KindUnsigned}, "cmd_cpy.hdr.tag": {Offset: 80, Size: 8, Kind: layout.KindUnsigned},
		"cmd_cpy.hdr.tx_ctx": {Offset: 96, Size: 8, Kind: layout.KindUnsigned},
	}},
	"smr_pend_entry": {Size: 200, Fields: map[string]layout.Field{
		"type": {Offset: 40, Size: 1, Kind: layout.KindUnsigned}, "cmd": {Offset: 48, Size: 8, Kind: layout.KindPointer},
		"comp_ctx": {Offset: 168, Size: 8, Kind: layout.KindPointer},
	}},
	"smr_cmd": {Size: 368, Fields: map[string]layout.Field{
		"hdr.op": {Offset: 8, Size: 1, Kind: layout.KindUnsigned}, "hdr.tx_id": {Offset: 14, Size: 2, Kind: layout.KindSigned},
		"hdr.size": {Offset: 16, Size: 8, Kind: layout.KindUnsigned}, "hdr.tag": {Offset: 32, Size: 8, Kind: layout.KindUnsigned},
		"hdr.tx_ctx": {Offset: 48, Size: 8, Kind: layout.KindUnsigned},
	}},
	"smr_av":  {Size: 74048, Fields: map[string]layout.Field{"smr_map": {Offset: 232, Size: 73808, Kind: layout.KindStruct}}},
	"smr_map": {Size: 73808, Fields: map[string]layout.Field{"peers": {Offset: 80, Size: 73728, Kind: layout.KindArray}}},
	"smr_peer": {Size: 288, Fields: map[string]layout.Field{
		"id_assigned": {Offset: 256, Size: 1, Kind: layout.KindUnsigned}, "fiaddr": {Offset: 264, Size: 8, Kind: layout.KindUnsigned},
		"region": {Offset: 272, Size: 8, Kind: layout.KindPointer},
	}},
}

// makeSMRPending makes a process with an endpoint of the provider shm whose commands stay with their senders, which has
// nothing.
func makeSMRPending(t *testing.T) *madeup {
	t.Helper()
	m := makeShared(t)
	m.debugInfo("rxm_ep")
	maps.Copy(m.Types, smrPendingLayouts)
	m.l = layout.FromDWARF(m.Types)
	m.Put(providerAt+0x100, []byte("shm\x00"))
	m.put("smr_ep", endpointAt, set{"util_ep.domain": uint64(domainAt), "srx": uint64(sharedAt),
		"pend_pool": uint64(poolAt + 0x400), "util_ep.av": uint64(avAt)})
	m.poolOf(poolAt+0x400, "smr_pend_entry")
	m.nameSMR(m.at("smr_av", avAt, "smr_map"))
	return m
}

// waits has the pool of what waits have a region with so many, each with a command; nil are free. It returns where they are.
func (m *madeup) waits(waiting ...set) []inferior.Addr {
	m.t.Helper()
	const width = 0x100
	header, _ := m.l.Size("ofi_bufpool_hdr")
	at := poolAt + 0x400
	m.put("ofi_bufpool", at, set{"entry_size": width, "entry_cnt": uint64(len(waiting)), "region_cnt": 1, "attr.chunk_cnt": uint64(len(waiting)),
		"region_table": uint64(poolAt + 0x800)})
	m.PutUint64(poolAt+0x800, uint64(regionsAt))
	m.put("ofi_bufpool_region", regionsAt, set{"pool": uint64(at), "index": 0, "mem_region": uint64(waitingAt) + uint64(header)})
	var out []inferior.Addr
	free := inferior.Addr(0)
	for i, of := range waiting {
		h := waitingAt + inferior.Addr(i*width)
		w, c := h+inferior.Addr(header), place(commandsAt, i)
		m.Put(h, make([]byte, width))
		m.Put(c, make([]byte, stride))
		m.put("ofi_bufpool_hdr", h, set{"region": uint64(regionsAt), "index": uint64(i)})
		out = append(out, w)
		if of == nil {
			m.put("ofi_bufpool_hdr", h, set{"entry.slist.next": uint64(free)})
			free = h
			continue
		}
		m.put("smr_pend_entry", w, set{"type": smrSends, "cmd": uint64(c), "comp_ctx": 0x99})
		m.put("smr_cmd", c, set{"hdr.tx_ctx": uint64(w), "hdr.size": 12, "hdr.tag": 7, "hdr.op": opTagged, "hdr.tx_id": 3})
		m.put("smr_pend_entry", w, of)
	}
	m.put("ofi_bufpool", at, set{"free_list.entries.head": uint64(free)})
	return out
}

// keepPending makes an entry of a message of peer 3, and what is kept of it: its command is copied.
func (m *madeup) keepPending(i int, of set) inferior.Addr {
	m.t.Helper()
	kept := place(keptAt, i)
	at := m.entry(i, set{"peer_entry.addr": 3, "peer_entry.srx": uint64(sharedAt), "peer_entry.tag": 7, "peer_entry.msg_size": 12, "peer_entry.peer_context": uint64(kept)})
	m.Put(kept, make([]byte, stride))
	m.put("smr_cmd_ctx", kept, set{"ep": uint64(endpointAt), "rx_entry": uint64(m.at("util_rx_entry", at, "peer_entry")), "cmd": uint64(m.at("smr_cmd_ctx", kept, "cmd_cpy")),
		"cmd_cpy.hdr.op": opTagged, "cmd_cpy.hdr.tag": 7, "cmd_cpy.hdr.size": 12})
	m.put("smr_cmd_ctx", kept, of)
	return at
}

// The data of messages is with their senders for as long as the commands are, which a core need not have.
func TestSMRPendingUnexpected(t *testing.T) {
	m := makeSMRPending(t)
	entries := []inferior.Addr{m.keepPending(0, nil), m.keepPending(1, set{"cmd": uint64(nowhere), "cmd_cpy.hdr.tag": 0, "cmd_cpy.hdr.size": 0, "cmd_cpy.hdr.op": 0})}
	m.put("util_rx_entry", entries[1], set{"peer_entry.flags": remoteData, "peer_entry.cq_data": 5})
	m.ring(m.shared("unspec_unexp_tag_queue"), entries)
	e, q := m.mustOpen()
	want := []transport.Message{
		{Addr: entries[0], Tag: 7, Peer: mqs.Known[uint64](3), Length: 12},
		{Addr: entries[1], Tag: 7, Peer: mqs.Known[uint64](3), Length: 12, Rendezvous: true, Beside: mqs.Known[uint64](5)},
	}
	if !reflect.DeepEqual(q.Unexpected, want) || q.UnexpectedErr != nil {
		t.Errorf("%+v\nwant %+v, %v", q.Unexpected, want, q.UnexpectedErr)
	}
	m.PutUint64(peersAt, uint64(entries[1]))
	if got, err := e.Claimed(peersAt); err != nil || got != want[1] {
		t.Errorf("%+v, %v", got, err)
	}
}

// Sends are what waits in the pool, and whose commands know it. Those whose commands can't be read are said to be left out.
func TestSMRPendingSends(t *testing.T) {
	m := makeSMRPending(t)
	at := m.waits(nil, set{}, set{"type": 1}, nil, set{"comp_ctx": 0}, set{}, set{})
	m.put("smr_cmd", place(commandsAt, 5), set{"hdr.op": 0})
	m.put("smr_cmd", place(commandsAt, 6), set{"hdr.tx_id": 2})
	send := func(i int) transport.Send {
		return transport.Send{Request: transport.Request{Addr: at[i], UserData: 0x99, Length: 12}, Tag: 7, TagKept: true}
	}
	want := []transport.Send{send(1), send(6)}
	want[0].Peer = mqs.Known[uint64](0x42)
	if _, q := m.mustOpen(); !reflect.DeepEqual(q.Sends, want) || q.SendsErr != nil {
		t.Errorf("%+v\nwant %+v, %v", q.Sends, want, q.SendsErr)
	}
}
