package ch4

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// Where things are in a process over libfabric, and the size of its requests and of what an entry of a table of
// addresses has: two virtual interfaces for each of eight network interfaces, of which one is used.
const (
	ofiGlobalAt  = inferior.Addr(0x50_0000)
	ofiRequest   = inferior.Addr(0x60_0000)
	ofiAnswerAt  = inferior.Addr(0x61_0000)
	ofiSize      = 256
	ofiEntrySize = maxNetworks * 2 * 8
	ofiContextIn = 32 // in a request, as in what stands for an answer
)

// overOFI is that process, with the module bound but not opened.
func overOFI(t *testing.T) (*inferiortest.Process, *ofiNetmod) {
	t.Helper()
	p := inferiortest.New()
	const netmod = "dev.ch4.netmod.ofi."
	p.Types["MPIDI_OFI_global_t"] = &layout.Layout{Size: 4096, Fields: map[string]layout.Field{"ctx": field(64, 2048, layout.KindArray), "num_vnis": field(0, 4, layout.KindSigned),
		"num_nics": field(4, 4, layout.KindSigned), "settings": field(16, 32, layout.KindStruct)}}
	p.Types["MPIDI_OFI_capabilities_t"] = &layout.Layout{Size: 32, Fields: map[string]layout.Field{"context_bits": field(8, 4, layout.KindSigned), "source_bits": field(12, 4, layout.KindSigned), "tag_bits": field(16, 4, layout.KindSigned)}}
	p.Types["MPIDI_OFI_context_t"] = &layout.Layout{Size: 64, Fields: map[string]layout.Field{"rx": field(8, 8, layout.KindPointer)}}
	p.Types["MPIR_Request"] = &layout.Layout{Size: ofiSize, Fields: map[string]layout.Field{"kind": field(144, 4, layout.KindSigned), netmod + "context": field(ofiContextIn, 32, layout.KindArray), netmod + "kind": field(80, 4, layout.KindUnsigned),
		"dev.is_local": field(84, 4, layout.KindSigned), netmod + "util_id.v": field(88, 4, layout.KindSigned), netmod + "datatype": field(92, 4, layout.KindSigned),
		netmod + "util.iov.iov_base": field(96, 8, layout.KindPointer), netmod + "util.iov.iov_len": field(104, 8, layout.KindUnsigned),
		netmod + "noncontig.pack.pack_buffer": field(112, 8, layout.KindPointer), netmod + "noncontig.pack.buf": field(120, 8, layout.KindPointer),
		netmod + "noncontig.pack.count": field(128, 8, layout.KindUnsigned), netmod + "noncontig.pack.datatype": field(136, 4, layout.KindSigned)}}
	p.Types["MPIDI_OFI_ssendack_request_t"] = &layout.Layout{Size: 128, Fields: map[string]layout.Field{"context": field(ofiContextIn, 32, layout.KindArray), "signal_req": field(72, 8, layout.KindPointer)}}
	p.Types["MPIDI_CH4_Global_t"] = &layout.Layout{Size: 64, Fields: map[string]layout.Field{"avt_mgr.av_tables": field(56, 8, layout.KindPointer)}}
	p.Types["MPIDI_av_table_t"] = &layout.Layout{Size: 8, Fields: map[string]layout.Field{"size": field(0, 4, layout.KindSigned), "table": field(8, 0, layout.KindArray)}}
	p.Types["MPIDI_av_entry_t"] = &layout.Layout{Size: ofiEntrySize, Fields: map[string]layout.Field{"netmod.ofi.dest": field(0, ofiEntrySize, layout.KindArray)}}
	p.Put(ofiRequest, make([]byte, inferiortest.Page))
	p.Put(ofiAnswerAt, make([]byte, inferiortest.Page))
	p.Put(ofiGlobalAt, make([]byte, inferiortest.Page))
	return p, bindOFI(t, p, &ofiProtocol40)
}

// bindOFI binds the module, whose tags are as most are.
func bindOFI(t *testing.T, p *inferiortest.Process, protocol *ofiProtocol) *ofiNetmod {
	t.Helper()
	own, _, err := ofiModule{}.bind(over(p).lib)
	if err != nil {
		t.Fatal(err)
	}
	o := own.(*ofiNetmod)
	o.bits, o.virtual, o.networks = ofiBits{tag: 31, context: 20, protocol: 51, ofiProtocol: protocol}, 1, 1
	return o
}

// The module's tags have 20 bits for contexts and 31 for tags where the sender travels beside them, or what it has been
// set to; what it can't have been set to is refused.
func TestOFIBits(t *testing.T) {
	for name, c := range map[string]struct {
		of   *ofiProtocol
		set  ofiSettings
		want ofiBits
	}{
		"as most are":            {&ofiProtocol40, ofiSettings{20, 0, 31}, ofiBits{31, 0, 20, 51, &ofiProtocol40}},
		"with room for ranks":    {&ofiProtocol40, ofiSettings{16, 24, 20}, ofiBits{20, 0, 16, 60, &ofiProtocol40}},
		"with ranks":             {&ofiProtocol42, ofiSettings{16, 23, 20}, ofiBits{20, 23, 16, 59, &ofiProtocol42}}, // 4.2
		"with too many ranks":    {&ofiProtocol42, ofiSettings{16, 24, 20}, ofiBits{}},
		"not set":                {&ofiProtocol40, ofiSettings{}, ofiBits{}},
		"with a sign":            {&ofiProtocol40, ofiSettings{20, 0, 32}, ofiBits{}},
		"with too many":          {&ofiProtocol40, ofiSettings{20, 10, 31}, ofiBits{}},
		"with less than no rank": {&ofiProtocol40, ofiSettings{20, -1, 31}, ofiBits{}},
		"with no context":        {&ofiProtocol40, ofiSettings{0, 20, 31}, ofiBits{}},
	} {
		got, err := ofiBitsOf(c.set, c.of)
		if got != c.want || (err == nil) != (c.want != ofiBits{}) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// A tag has the context and the program's tag, and bits of the protocol that say what is no message of the program's.
func TestTagsOfOFI(t *testing.T) {
	bits := ofiBits{tag: 31, context: 20, protocol: 51, ofiProtocol: &ofiProtocol40}
	tags := bits.tags()
	for tag, want := range map[uint64]struct {
		context    uint64
		tag        int32
		isInternal bool
	}{
		0x10<<31 | 7:                        {0x10, 7, false},
		0x10<<31 | 0x7fff_ffff:              {0x10, 0x7fff_ffff, false},
		bits.of(2) | 0x10<<31 | 7:           {0x10, 7, false},
		bits.of(8) | 0x10<<31 | 7:           {0x10, 7, false},
		bits.of(ofiAnswered) | 0x10<<31 | 7: {0x10, 7, true},
		bits.of(4) | 7:                      {0, 7, true},
		0x11<<31 | 7:                        {0x11, 7, true}, // a collective's
		bits.of(8) | 0xf_fff0<<31 | 0x2:     {0xf_fff0, 2, false},
	} {
		e := tags.Envelope(tag)
		if e.Context != want.context || e.Tag != want.tag || e.Source.Known || tags.IsInternal(e) != want.isInternal {
			t.Errorf("%#x: %+v, internal %t", tag, e, tags.IsInternal(e))
		}
	}
	for ignored, ok := range map[uint64]bool{
		bits.of(ofiProtocol40.ignored):               true,
		bits.of(ofiProtocol40.ignored) | 0x7fff_ffff: true,
		0:                                   false,
		bits.of(ofiProtocol40.ignored) >> 1: false, // other bits
		bits.of(ofiProtocol40.ignored) | 0x3fff_ffff:    false,
		bits.of(ofiProtocol40.ignored | ofiAnswered):    false,
		bits.of(ofiProtocol40.ignored) | 0x7fff_ffff<<1: false,
	} {
		if err := bits.proveMask(^ignored); (err == nil) != ok {
			t.Errorf("a receive that ignores %#x: %v", ignored, err)
		}
	}
	if one, any := (transport.Receive{Mask: ^bits.of(ofiProtocol40.ignored)}), (transport.Receive{Mask: ^(bits.of(ofiProtocol40.ignored) | 0x7fff_ffff)}); tags.IsAnyTag(&one) || !tags.IsAnyTag(&any) {
		t.Error("which receive is of any tag is not told")
	}
}

// Where data goes to in the end that is received into a buffer of the library's first, its request says; else as many
// elements are there as fit.
func TestElementsOfOFI(t *testing.T) {
	const derived, pair, none, other = 0x8c000002, 0x4c000405, 0x0c000000, 0x44000000
	for name, c := range map[string]struct {
		datatype, packed, user, count, of uint64
		q                                 transport.Request
		want                              Elements
	}{
		"in place":               {pair, 0, 0, 0, 0, transport.Request{Buffer: 0x40, Length: 12}, Elements{Count: 3, Datatype: pair}},
		"nothing":                {pair, 0, 0, 0, 0, transport.Request{Buffer: 0x40}, Elements{Datatype: pair}},
		"no whole number":        {pair, 0, 0, 0, 0, transport.Request{Buffer: 0x40, Length: 13}, Elements{}},
		"of no known length":     {pair, 0, 0, 0, 0, transport.Request{Length: -1}, Elements{}},
		"of a type of no length": {0x4c000005, 0, 0, 0, 0, transport.Request{Length: 4}, Elements{}},
		"not of a type":          {other, 0, 0, 0, 0, transport.Request{Buffer: 0x40, Length: 12}, Elements{}},
		"of no type":             {none, 0, 0, 0, 0, transport.Request{Buffer: 0x40, Length: 12}, Elements{}},
		"unpacked":               {derived, 0x40, 0x80, 3, derived, transport.Request{Buffer: 0x40, Length: 12}, Elements{Buffer: mqs.Known[inferior.Addr](0x80), Count: 3, Datatype: derived}},
		"of another packing":     {pair, 0x48, 0x80, 9, pair, transport.Request{Buffer: 0x40, Length: 12}, Elements{Count: 3, Datatype: pair}},
		"of another type":        {pair, 0x40, 0x80, 9, derived, transport.Request{Buffer: 0x40, Length: 12}, Elements{Count: 3, Datatype: pair, IsPacked: true}},
		"packed, of no type":     {none, 0x40, 0x80, 9, derived, transport.Request{Buffer: 0x40, Length: 12}, Elements{IsPacked: true}},
		"packed, of no length":   {pair, 0x40, 0x80, 9, derived, transport.Request{Buffer: 0x40, Length: -1}, Elements{IsPacked: true}},
		"less than none":         {derived, 0x40, 0x80, 1 << 63, derived, transport.Request{Buffer: 0x40, Length: 12}, Elements{}},
	} {
		p, o := overOFI(t)
		p.PutUint32(ofiRequest+92, uint32(c.datatype))
		p.PutUint32(ofiRequest+144, mpir.KindRecv)
		p.PutUint64(ofiRequest+112, c.packed, c.user, c.count, c.of)
		c.q.UserData = ofiRequest + ofiContextIn
		if got, ok := o.elements(o.lib.Reader, &c.q); ok != (c.want != Elements{}) || ok && got != c.want {
			t.Errorf("%s: %+v, %t", name, got, ok)
		}
	}
}

// A process has an address for each interface, of those that there are.
func TestPeersOfOFI(t *testing.T) {
	for name, c := range map[string]struct {
		virtual, networks int
		place             int64
		want              []uint64
	}{
		"one interface":          {1, 1, 1, []uint64{10}},
		"two virtual ones":       {2, 1, 1, []uint64{10, 11}},
		"more than a row has":    {3, 1, 1, []uint64{10, 11}},
		"two networks":           {2, 2, 1, []uint64{10, 11, 12}}, // one has none there
		"of nobody":              {1, 1, 2, nil},
		"of less than nobody":    {1, 1, -1, nil},
		"of the first, who is 0": {1, 1, 0, []uint64{0}},
	} {
		p, o := overOFI(t)
		o.virtual, o.networks = c.virtual, c.networks
		o.lib.Symbols[symGlobal] = inferior.Symbol{Addr: globalAt}
		p.Put(globalAt, make([]byte, 64))
		p.PutUint64(globalAt+56, uint64(tablesAt))
		p.PutUint64(tablesAt, uint64(tableAt))
		p.PutUint32(tableAt, 2)
		p.Put(tableAt+8, make([]byte, 2*ofiEntrySize))
		p.PutUint64(tableAt+8+ofiEntrySize, 10, 11, 12, ^uint64(0))
		var got []uint64
		for _, peer := range o.peers(0, c.place) {
			got = append(got, peer.Value)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v", name, got)
		}
		if o.peers(1, 0) != nil {
			t.Errorf("%s: a table that is not there has some", name)
		}
	}
}

// A message that MPI_Mprobe has taken is that of the request's context, and a receive that libfabric has forgotten
// is on the context that its request notes; shared memory's requests are none of it.
func TestForgottenByOFI(t *testing.T) {
	for name, c := range map[string]struct {
		kind, isLocal, context uint32
		packed, user           uint64
		isTaken, isMatched     bool
		buffer                 inferior.Addr // 0 if it is not known
	}{
		"a probe's":              {ofiKindTaken, 0, 0x10, 0, 0, true, true, 0x40},
		"a receive's":            {0, 0, 0x10, 0, 0, false, true, 0x40},
		"one that is unpacked":   {0, 0, 0x10, 0x40, 0x80, false, true, 0x40},
		"one in several pieces":  {0, 0, 0x10, 0, 0x80, false, true, 0},
		"shared memory's":        {ofiKindTaken, 1, 0x10, 0, 0, false, false, 0},
		"of no context there is": {0, 0, 1 << 20, 0, 0, false, false, 0},
	} {
		p, o := overOFI(t)
		p.PutUint32(ofiRequest+80, c.kind)
		p.PutUint32(ofiRequest+84, c.isLocal)
		p.PutUint32(ofiRequest+88, c.context)
		p.PutUint64(ofiRequest+96, 0x40, 12, c.packed, c.user)
		at := inferior.Ptr[mpir.Request](ofiRequest)
		if got := o.taken(at); got != 0 != c.isTaken || c.isTaken && got != ofiRequest+ofiContextIn {
			t.Errorf("%s: it has taken the message of the context at %s", name, got)
		}
		q, ok := o.matched(at)
		if ok != c.isMatched || ok && (q.State != transport.Matched || !q.AskLost || !q.MessageLost || o.tags().Envelope(q.Tag).Context != uint64(c.context) || o.receiver(&q) != at || q.Buffer != c.buffer || (q.Length == 12) != (c.buffer != 0)) {
			t.Errorf("%s: it has matched %+v, %t", name, q, ok)
		}
		if o.taken(0x9000) != 0 {
			t.Errorf("%s: what can't be read has taken a message", name)
		}
	}
}

// A synchronous send is one that waits for its answer, whether its message is on its way or has left.
func TestAnswersOfOFI(t *testing.T) {
	p, o := overOFI(t)
	const other = ofiRequest + 0x200
	context := func(at inferior.Addr) inferior.Addr { return at + ofiContextIn }
	p.PutUint64(ofiAnswerAt+72, uint64(ofiRequest))
	p.PutUint64(ofiAnswerAt+0x200+72, uint64(other))
	const handle, plainAt, wrongAt = 0xac000000, 0x9000, 0x9400
	for _, at := range []inferior.Addr{ofiRequest, other, plainAt} {
		p.PutUint32(at, handle)
	}
	p.PutUint32(wrongAt, 0x84000000) // a communicator's
	p.PutUint64(ofiAnswerAt+0x400+72, wrongAt)
	receive := func(context inferior.Addr, tag, mask uint64) transport.Receive {
		return transport.Receive{Request: transport.Request{UserData: context}, Tag: tag, Mask: mask, Peer: mqs.Known[uint64](5)}
	}
	plain := ^o.bits.of(ofiProtocol40.ignored)
	has := transport.Queues{
		Posted: []transport.Receive{receive(context(ofiAnswerAt), o.bits.of(ofiAnswered)|0x10<<31|7, ^uint64(0)), receive(context(plainAt), 0x10<<31|8, plain),
			receive(context(ofiAnswerAt+0x200), o.bits.of(ofiAnswered)|0x10<<31|9, ^uint64(0))},
		Sends: []transport.Send{{Request: transport.Request{UserData: context(0x9100), Length: 4}, Tag: 0x10<<31 | 6}, {Request: transport.Request{UserData: context(other), Length: 12}, TagLost: true}},
	}
	m := &ofiMatcher{Matcher: &matcher{queues: has}, of: o}
	if err := m.join(); err != nil {
		t.Fatal(err)
	}
	q := m.Queues()
	if len(q.Posted) != 1 || q.Posted[0].Tag != 0x10<<31|8 || len(q.Sends) != 3 {
		t.Fatalf("%+v", q)
	}
	if s := q.Sends[0]; s.Sync || s.Peer.Known {
		t.Errorf("a send that waits for nothing: %+v", s)
	}
	if s := q.Sends[1]; !s.Sync || s.TagLost || s.Tag != 0x10<<31|9 || s.Peer.Value != 5 || s.Length != 12 || o.sender(nil, &s).Addr() != other {
		t.Errorf("one that is on its way: %+v", s)
	}
	if s := q.Sends[2]; !s.Sync || s.Tag != 0x10<<31|7 || s.Length != -1 || o.sender(nil, &s).Addr() != ofiRequest {
		t.Errorf("one that has left: %+v", s)
	}
	if len(has.Sends) != 2 || has.Sends[1].Sync {
		t.Errorf("what libfabric has was changed: %+v", has.Sends)
	}
	dynamic := receive(context(wrongAt), o.bits.of(4), plain)
	if err := (&ofiMatcher{Matcher: &matcher{queues: transport.Queues{Posted: []transport.Receive{dynamic}}}, of: o}).join(); err != nil {
		t.Errorf("the receive of a call that connects: %v", err)
	}
	for name, r := range map[string]transport.Receive{
		"an answer that looks at less than all": receive(context(ofiAnswerAt), o.bits.of(ofiAnswered), plain),
		"an answer that can't be read":          receive(0x9000_0000, o.bits.of(ofiAnswered), ^uint64(0)),
		"an answer to no request":               receive(context(ofiAnswerAt+0x400), o.bits.of(ofiAnswered), ^uint64(0)),
		"a receive of no request":               receive(context(wrongAt), 0x10<<31|8, plain),
		"a receive of nothing":                  receive(context(plainAt+0x100), 0x10<<31|8, plain),
		"a receive that leads nowhere":          receive(0x9000_0000, 0x10<<31|8, plain),
	} {
		if err := (&ofiMatcher{Matcher: &matcher{queues: transport.Queues{Posted: []transport.Receive{r}}}, of: o}).join(); err == nil {
			t.Errorf("%s is believed", name)
		}
	}
}

// The module has an endpoint for each interface once MPI_Init has made them; how many there are is bounded.
func TestOpenOFI(t *testing.T) {
	for name, c := range map[string]struct {
		virtual, networks, bits uint32
		says                    string
	}{
		"before MPI_Init":     {1, 1, 31, "it has no endpoint"},
		"with tags of no bit": {1, 1, 0, "for tags"},
		"with no interface":   {0, 1, 31, "0 interfaces"},
		"with too many":       {17, 1, 31, "17 interfaces"},
		"with many networks":  {1, 9, 31, "9 interfaces"},
		"with less than none": {1, 1 << 31, 31, "interfaces"},
	} {
		p, o := overOFI(t)
		p.Symbols[symOFI] = &inferior.Symbol{Addr: ofiGlobalAt}
		p.PutUint32(ofiGlobalAt, c.virtual)
		p.PutUint32(ofiGlobalAt+4, c.networks)
		p.PutUint32(ofiGlobalAt+16+8, 20)
		p.PutUint32(ofiGlobalAt+16+16, c.bits)
		if _, err := o.open(o.lib.Reader); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, o := overOFI(t)
	if _, err := o.open(o.lib.Reader); err == nil || !strings.Contains(err.Error(), symOFI) {
		t.Errorf("without its variable: %v", err)
	}
}

// TestOFIProtocolsOf40 checks that the mask of a receive shows whether a process has 4.0.2 or 4.0.3, which have the same layouts and other
// protocol bits, and that without a receive, messages that the two read differently are doubted.
func TestOFIProtocolsOf40(t *testing.T) {
	settings := ofiSettings{ContextBits: 16, SourceBits: 0, TagBits: 31}
	for _, is := range []*ofiProtocol{&ofiProtocol40, &ofiProtocol41} {
		bits, err := ofiBitsOf(settings, &ofiProtocol40)
		if err != nil {
			t.Fatal(err)
		}
		o := &ofiNetmod{bits: bits}
		plain, synchronous := transport.Message{Tag: 7}, transport.Message{Tag: 7 | bits.of(is.ignored&^8)}
		if err := o.doubt([]transport.Message{plain}); err != nil {
			t.Errorf("a plain message: %v", err)
		}
		if err := o.doubt([]transport.Message{plain, synchronous}); !errors.Is(err, errOtherOFITags) {
			t.Errorf("a synchronous one: %v", err)
		}
		if err := o.proveMask(^bits.of(is.ignored)); err != nil || o.bits.ofiProtocol != is {
			t.Errorf("after a receive: %v", err)
		}
		if err := o.doubt([]transport.Message{synchronous}); err != nil {
			t.Errorf("after a receive, a synchronous message: %v", err)
		}
		for _, other := range []*ofiProtocol{&ofiProtocol40, &ofiProtocol41} {
			if err := o.proveMask(^bits.of(other.ignored)); (err == nil) != (other == is) {
				t.Errorf("after a receive, another mask: %v", err)
			}
		}
	}
}
