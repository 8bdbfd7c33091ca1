package ch4

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// overNewerOFI is a process as MPICH 5.0 has it: requests of several forms, which keep what a receive was given, one address
// for each process, and answers to long messages too.
func overNewerOFI(t *testing.T) (*inferiortest.Process, *ofiNetmod) {
	t.Helper()
	p, _ := overOFI(t)
	const direct = "dev.ch4.netmod.ofi.direct."
	p.Types["MPIDI_OFI_global_t"].Fields["num_vcis"] = field(0, 4, layout.KindSigned)
	p.Types["MPIR_Request"] = &layout.Layout{Size: ofiSize, Fields: map[string]layout.Field{"kind": field(144, 4, layout.KindSigned), direct + "context": field(ofiContextIn, 32, layout.KindArray),
		direct + "kind": field(80, 4, layout.KindUnsigned), direct + "context_id": field(88, 4, layout.KindSigned), direct + "datatype": field(92, 4, layout.KindSigned),
		direct + "util.iov.iov_base": field(96, 8, layout.KindPointer), direct + "util.iov.iov_len": field(104, 8, layout.KindUnsigned),
		direct + "noncontig.pack.pack_buffer": field(112, 8, layout.KindPointer), direct + "buf": field(120, 8, layout.KindPointer), direct + "count": field(128, 8, layout.KindUnsigned)}}
	delete(p.Types, "MPIDI_OFI_ssendack_request_t")
	p.Types["MPIDI_OFI_ack_request_t"] = &layout.Layout{Size: 128, Fields: map[string]layout.Field{"context": field(ofiContextIn, 32, layout.KindArray),
		"signal_req": field(72, 8, layout.KindPointer), "ack_hdr": field(80, 8, layout.KindPointer)}}
	p.Types["MPIDI_av_entry_t"] = &layout.Layout{Size: ofiEntrySize, Fields: map[string]layout.Field{"netmod.ofi.root_dest": field(16, 8, layout.KindUnsigned)}}
	return p, bindOFI(t, p, &ofiProtocol42)
}

// Which protocol an MPICH has, the members of its variable tell.
func TestProtocolOfOFI(t *testing.T) {
	for name, c := range map[string]struct {
		has  []string
		want *ofiProtocol
	}{
		"4.0": {nil, &ofiProtocol40},
		"4.1": {[]string{"global_max_regular_mr_key"}, &ofiProtocol41},
		"4.2": {[]string{"global_max_regular_mr_key", "num_vcis"}, &ofiProtocol42},
	} {
		p, _ := overOFI(t)
		for _, member := range c.has {
			p.Types["MPIDI_OFI_global_t"].Fields[member] = field(0, 4, layout.KindSigned)
		}
		o := bindOFI(t, p, nil)
		p.PutUint32(ofiGlobalAt, 1, 1)
		p.PutUint32(ofiGlobalAt+16+8, 20, 0, 31)
		if err := o.set(ofiGlobalAt); err != nil || o.bits.ofiProtocol != c.want {
			t.Errorf("%s: %+v, %v", name, o.bits.ofiProtocol, err)
		}
	}
}

// Without a type for answers, or without addresses, nothing is read.
func TestUnboundOFI(t *testing.T) {
	for _, lacks := range []string{"MPIDI_OFI_ssendack_request_t", "MPIDI_av_entry_t"} {
		p, _ := overOFI(t)
		if delete(p.Types, lacks); lacks == "MPIDI_av_entry_t" {
			p.Types[lacks] = &layout.Layout{Size: ofiEntrySize}
		}
		if _, _, err := (ofiModule{}).bind(over(p).lib); err == nil {
			t.Errorf("without %s it is read", lacks)
		}
	}
}

// With the sender's rank in a tag, the context stands above it, and a receive from any source does not look at it.
func TestRanksInTagsOfOFI(t *testing.T) {
	bits, err := ofiBitsOf(ofiSettings{16, 23, 19}, &ofiProtocol42)
	if err != nil {
		t.Fatal(err)
	}
	tags := bits.tags()
	tag := uint64(0x10)<<42 | 5<<19 | 7
	if e := tags.Envelope(tag | bits.of(8|16)); e.Context != 0x10 || e.Tag != 7 || e.Source != mqs.Known[int32](5) || tags.IsInternal(e) {
		t.Errorf("%+v", e)
	}
	for _, other := range []uint64{ofiAnswered, 2, 4, 32} {
		if !tags.IsInternal(tags.Envelope(tag | bits.of(other))) {
			t.Errorf("with the bit %d it is the program's", other)
		}
	}
	const anyTag, anySource = 1<<19 - 1, (1<<23 - 1) << 19
	for ignored, ok := range map[uint64]bool{bits.of(8 | 16): true, bits.of(8|16) | anyTag | anySource: true, bits.of(8|16) | anySource: true,
		bits.of(8|16) | anySource>>1: false, bits.of(8): false, bits.of(4|8|16) | anyTag: false} {
		if err := bits.proveMask(^ignored); (err == nil) != ok {
			t.Errorf("a receive that ignores %#x: %v", ignored, err)
		}
	}
	if r := (transport.Receive{Mask: ^(bits.of(8|16) | anySource)}); !tags.IsAnySource(&r) || tags.IsAnyTag(&r) {
		t.Error("which receive is from any source is not told")
	}
	if _, err := ofiBitsOf(ofiSettings{16, 24, 20}, &ofiProtocol42); err == nil {
		t.Error("tags with no room for the protocol are believed")
	}
}

// Receives keep what they were given, whatever libfabric has of it; sends keep nothing of it.
func TestElementsOfNewerOFI(t *testing.T) {
	const pair, none = 0x4c000405, 0x0c000000
	for name, c := range map[string]struct {
		kind, datatype uint32
		packed, count  uint64
		want           Elements
	}{
		"a receive":             {mpir.KindRecv, pair, 0, 3, Elements{Buffer: mqs.Known[inferior.Addr](0x80), Count: 3, Datatype: pair}},
		"one that unpacks":      {mpir.KindRecv, pair, 0x40, 3, Elements{Buffer: mqs.Known[inferior.Addr](0x80), Count: 3, Datatype: pair}},
		"of no type":            {mpir.KindRecv, none, 0, 3, Elements{}},
		"packed, of no type":    {mpir.KindRecv, none, 0x40, 3, Elements{IsPacked: true}},
		"less than none":        {mpir.KindRecv, pair, 0, 1 << 63, Elements{}},
		"a send":                {mpir.KindSend, pair, 0, 3, Elements{}},
		"a send that is packed": {mpir.KindSend, pair, 0x40, 3, Elements{IsPacked: true}},
	} {
		p, o := overNewerOFI(t)
		p.PutUint32(ofiRequest+144, c.kind)
		p.PutUint32(ofiRequest+92, c.datatype)
		p.PutUint64(ofiRequest+112, c.packed, 0x80, c.count)
		q := transport.Request{Buffer: 0x40, Length: 12, UserData: ofiRequest + ofiContextIn}
		if got, ok := o.elements(o.lib.Reader, &q); ok != (c.want != Elements{}) || got != c.want {
			t.Errorf("%s: %+v, %t", name, got, ok)
		}
	}
}

// A receive that libfabric has forgotten has its own form, but while a long message comes.
func TestForgottenByNewerOFI(t *testing.T) {
	for datatype, ok := range map[uint32]bool{0x4c000405: true, 0x12345678: false} {
		p, o := overNewerOFI(t)
		o.bits, _ = ofiBitsOf(ofiSettings{16, 23, 19}, &ofiProtocol42)
		p.PutUint32(ofiRequest+88, 0x10)
		p.PutUint32(ofiRequest+92, datatype)
		p.PutUint64(ofiRequest+96, 0x40, 12, 0, 0x80)
		q, is := o.matched(inferior.Ptr[mpir.Request](ofiRequest))
		if is != ok || is && (q.Buffer != 0x40 || o.tags().Envelope(q.Tag).Context != 0x10) {
			t.Errorf("%#x: %+v, %t", datatype, q, is)
		}
	}
}

// A process is known by its first address, unless there are more interfaces than one.
func TestRootPeerOfOFI(t *testing.T) {
	p, o := overNewerOFI(t)
	p.Put(0x9000, make([]byte, 2*ofiEntrySize))
	p.PutUint64(0x9000+ofiEntrySize+16, 7)
	p.PutUint64(0x9000+16, ^uint64(0))
	o.tables[0] = addressTable{Size: 2, Entries: 0x9000}
	if got := o.peers(0, 1); len(got) != 1 || got[0].Value != 7 {
		t.Errorf("%+v", got)
	}
	if got := o.peers(0, 0); got != nil {
		t.Errorf("a process without an address has %+v", got)
	}
	if o.networks = 2; o.peers(0, 1) != nil {
		t.Error("with two networks it is known by one address")
	}
	if o.networks, o.virtual = 1, 2; o.peers(0, 1) != nil {
		t.Error("with two interfaces it is known by one address")
	}
}

// A send whose answer brings where its data goes to is not synchronous, and its message is longer than libfabric has it.
func TestLongMessagesOfOFI(t *testing.T) {
	p, o := overNewerOFI(t)
	const handle = 0xac000000
	p.PutUint32(ofiRequest, handle)
	p.PutUint64(ofiAnswerAt+72, uint64(ofiRequest), 0x9000)
	long, short := o.bits.of(16)|0x10<<31|7, uint64(0x10<<31|8)
	has := transport.Queues{
		Posted:     []transport.Receive{{Request: transport.Request{UserData: ofiAnswerAt + ofiContextIn}, Tag: o.bits.of(ofiAnswered) | 0x10<<31 | 7, Mask: ^uint64(0)}},
		Sends:      []transport.Send{{Request: transport.Request{UserData: 0x9100, Length: 4}, Tag: long}},
		Unexpected: []transport.Message{{Tag: long, Length: 0, Data: 0x40}, {Tag: short, Length: 0, Data: 0x48}},
	}
	m := &ofiMatcher{Matcher: &matcher{queues: has}, of: o}
	if err := m.join(); err != nil {
		t.Fatal(err)
	}
	q := m.Queues()
	if len(q.Sends) != 2 || q.Sends[0].Length != -1 || q.Sends[1].Sync || q.Sends[1].Tag != 0x10<<31|7 || q.Sends[0].SourceLost || !q.Sends[1].SourceLost {
		t.Errorf("sends: %+v", q.Sends)
	}
	if u := q.Unexpected; u[0].Length != -1 || u[0].Data != 0 || u[1].Length != 0 || u[1].Data != 0x48 {
		t.Errorf("messages: %+v", u)
	}
	if has.Unexpected[0].Data == 0 {
		t.Error("what libfabric has was changed")
	}
}
