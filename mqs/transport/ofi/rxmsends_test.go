package ofi

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// What is on its way is a send by what it is, and how far it has come.
func TestSend(t *testing.T) {
	m := makeUp(t)
	m.connect(set{"remote_index": 5}, set{"remote_index": 6}, set{"remote_index": 6})
	e, _ := m.mustOpen()
	of := rxmTxBuf{Context: 0x99, Packet: header{Op: opTagged, ConnID: 5, MessageID: 7, Tag: 3, Size: 12}}
	known := transport.Send{Request: transport.Request{Addr: 0x1000, UserData: 0x99, Length: 12}, Tag: 3, TagKept: true, Peer: mqs.Known[uint64](100)}
	rendezvous := func(state uint32) func(b *rxmTxBuf) {
		return func(b *rxmTxBuf) { b.Packet.Type, b.State = ctrlRendezvous, state }
	}
	segment := func(state uint32, data uint64) func(b *rxmTxBuf) {
		return func(b *rxmTxBuf) { b.Packet.Type, b.State, b.Packet.Segment = ctrlSegment, state, data }
	}
	answered := func(s *transport.Send) { s.ID = 8 }
	matched := func(s *transport.Send) { s.ID, s.State = 8, transport.Matched }
	same := func(*transport.Send) {}
	for name, c := range map[string]struct {
		change func(b *rxmTxBuf)
		want   func(s *transport.Send) // nil if it is none
	}{
		"eager":                               {func(*rxmTxBuf) {}, same},
		"eager, in another state":             {func(b *rxmTxBuf) { b.State = stateEager + 1 }, nil},
		"of nobody":                           {func(b *rxmTxBuf) { b.Context = 0 }, nil},
		"of another operation":                {func(b *rxmTxBuf) { b.Packet.Op = opTagged + 1 }, nil},
		"of another operation, of nobody":     {func(b *rxmTxBuf) { b.Packet.Op, b.Context = 0, 0 }, nil},
		"of another kind":                     {func(b *rxmTxBuf) { b.Packet.Type = ctrlRendezvous + 1 }, nil},
		"longer than can be":                  {func(b *rxmTxBuf) { b.Packet.Size = 1 << 63 }, func(s *transport.Send) { s.Length = -1 }},
		"the first segment":                   {segment(stateSegment, 0xab00|segmentFirst), same},
		"a segment behind it":                 {segment(stateSegment, 2), nil},
		"the last segment":                    {segment(stateSegment, 3), nil},
		"a segment in another state":          {segment(stateSegment+1, segmentFirst), nil},
		"a segment behind, in another state":  {segment(stateSegment+1, 2), nil},
		"a rendezvous":                        {rendezvous(stateRendezvous), answered},
		"a rendezvous that waits":             {rendezvous(stateReadDoneWait), answered},
		"a rendezvous that waits for writing": {rendezvous(stateWriteDataWait), answered},
		"a rendezvous that writes":            {rendezvous(stateWrite), matched},
		"a rendezvous that was read":          {rendezvous(stateReadDone), matched},
		"a rendezvous that has written":       {rendezvous(stateWriteDoneSent), matched},
		"a rendezvous in another state":       {rendezvous(stateEager), nil},
		"by a connection of two":              {func(b *rxmTxBuf) { b.Packet.ConnID = 6 }, func(s *transport.Send) { s.Peer = transport.Peer{} }},
		"by a connection of none":             {func(b *rxmTxBuf) { b.Packet.ConnID = 7 }, func(s *transport.Send) { s.Peer = transport.Peer{} }},
	} {
		b := of
		c.change(&b)
		got, ok := rxmOf(e).send(0x1000, b)
		if c.want == nil {
			if ok {
				t.Errorf("%s: %+v", name, got)
			}
			continue
		}
		want := known
		if c.want(&want); !ok || got != want {
			t.Errorf("%s: %+v, %t, want %+v", name, got, ok, want)
		}
	}
}

// Where eager messages travel without a header of rxm's, the provider below alone knows their envelope.
func TestSendWithoutHeader(t *testing.T) {
	m := makeUp(t)
	m.put("rxm_domain", domainAt, set{"dyn_rbuf": 1})
	m.connect(set{"remote_index": 5})
	m.pool(1, set{"app_context": 0x99, "pkt.ctrl_hdr.conn_id": 5, "pkt.hdr.tag": 3, "pkt.hdr.size": 12})
	e, q := m.mustOpen()
	if len(q.Sends) != 1 || !q.Sends[0].TagLost || q.Sends[0].TagKept || q.Sends[0].Length != -1 || q.Sends[0].Peer.Known || q.Sends[0].UserData != 0x99 {
		t.Errorf("%+v", q.Sends)
	}
	segment := rxmTxBuf{State: stateSegment, Context: 1, Packet: header{Type: ctrlSegment, Op: opTagged, Segment: segmentFirst, Tag: 3}}
	if s, ok := rxmOf(e).send(0x1000, segment); !ok || !s.TagKept {
		t.Errorf("a segment: %+v, %t", s, ok)
	}
}

// The messages on their way are the buffers of the pool that are not on its list of free ones, in their order.
func TestPool(t *testing.T) {
	luck := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		m := makeUp(t)
		perRegion, regions := 1+luck.IntN(4), 1+luck.IntN(4)
		buffers := make([]set, perRegion*regions)
		var want []uint64
		for i := range buffers {
			if luck.IntN(2) == 0 {
				continue
			}
			want = append(want, uint64(i))
			buffers[i] = set{"app_context": 0x99, "pkt.hdr.tag": uint64(i)}
		}
		m.pool(perRegion, buffers...)
		_, q := m.mustOpen()
		var got []uint64
		for _, s := range q.Sends {
			got = append(got, s.Tag)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%d buffers of %d: %v, want %v", len(buffers), perRegion, got, want)
		}
	}
}

// A pool proves its layout, and costs no more than one can be large.
func TestBadPools(t *testing.T) {
	m := makeUp(t)
	header, _ := m.l.Size("ofi_bufpool_hdr")
	size, _ := m.l.Size("rxm_tx_buf")
	least := uint64(header + size)
	absurd, table := "buffers of", "cannot read"
	free := uint64(m.buffer(2, 0))
	for name, c := range map[string]struct {
		at   inferior.Addr
		of   string
		put  set
		says string // nothing for a pool that is as any other
	}{
		"has buffers that are too small":      {poolAt, "ofi_bufpool", set{"entry_size": least - 1}, absurd},
		"has buffers that are too large":      {poolAt, "ofi_bufpool", set{"entry_size": maxEntrySize + 1}, absurd},
		"has the largest buffers":             {poolAt, "ofi_bufpool", set{"entry_size": maxEntrySize}, table},
		"has the most buffers":                {poolAt, "ofi_bufpool", set{"region_cnt": maxRegions, "attr.chunk_cnt": 16, "entry_cnt": maxEntries, "region_table": uint64(nowhere)}, table},
		"has too many regions":                {poolAt, "ofi_bufpool", set{"region_cnt": maxRegions + 1, "attr.chunk_cnt": 1, "entry_cnt": maxRegions + 1}, absurd},
		"has too many buffers":                {poolAt, "ofi_bufpool", set{"region_cnt": 1, "attr.chunk_cnt": maxEntries + 1, "entry_cnt": maxEntries + 1}, absurd},
		"has a product that overflows":        {poolAt, "ofi_bufpool", set{"region_cnt": 2, "attr.chunk_cnt": 1 << 63, "entry_cnt": 0}, absurd},
		"has no regions":                      {poolAt, "ofi_bufpool", set{"region_cnt": 0, "entry_cnt": 0, "region_table": uint64(nowhere)}, ""},
		"has a region nowhere":                {poolAt + 0x808, "ofi_bufpool_region", nil, "cannot read"},
		"has free buffers in a loop":          {m.buffer(2, 2), "ofi_bufpool_hdr", set{"entry.slist.next": free}, "comes back to"},
		"has free buffers that end elsewhere": {m.buffer(2, 2), "ofi_bufpool_hdr", set{"entry.slist.next": uint64(nowhere)}, "is not one of the pool's"},
	} {
		m := makeUp(t)
		m.pool(2, nil, set{"app_context": 1}, nil, set{"app_context": 1})
		if c.put == nil {
			m.PutUint64(c.at, uint64(nowhere))
		}
		m.put(c.of, c.at, c.put)
		_, err := m.open()
		switch {
		case c.says == "" && err != nil, c.says != "" && !m.refuses(err, c.says):
			t.Errorf("%s: %v", name, err)
		case c.says != "" && !m.refuses(err, "the messages on their way"):
			t.Errorf("%s: %v", name, err)
		}
	}
}
