package ch4

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
	"github.com/mpi-queues/mpi-queues/mqs/transport/ofi"
)

// symOFI is the module's variable, which a library has until it is stripped. Nothing of libfabric's own leads to an
// endpoint.
const symOFI = "MPIDI_OFI_global" // MPIDI_OFI_global_t

// ofiModule is the netmod ofi.
type ofiModule struct{}

// ofiTypes are the C types of the module (src/mpid/ch4/netmod/ofi/ofi_types.h and ofi_pre.h, 4.0 to 5.0).
type ofiTypes struct {
	Global   inferior.Struct[ofiGlobal]   `c:"MPIDI_OFI_global_t"`
	Settings inferior.Struct[ofiSettings] `c:"MPIDI_OFI_capabilities_t"`
	Context  inferior.Struct[ofiContext]  `c:"MPIDI_OFI_context_t"`
	// Dev is its part of a request.
	Dev inferior.Struct[ofiDev] `c:"MPIR_Request"`
	// Answer stands for a synchronous send's answer, which is received as any message is, up to 4.2, and Ack also for that
	// to a message whose data waits for it, from 4.3 on.
	Answer inferior.Struct[ofiAnswer]     `c:"MPIDI_OFI_ssendack_request_t,optional"`
	Ack    inferior.Struct[ofiAnswer]     `c:"MPIDI_OFI_ack_request_t,optional"`
	Header inferior.Struct[ofiHeader]     `c:"MPIDI_OFI_ack_request_t,optional"`
	Tables inferior.Struct[addressTables] `c:"MPIDI_CH4_Global_t"`
	Table  inferior.Struct[addressTable]  `c:"MPIDI_av_table_t"`
	Entry  inferior.Struct[ofiEntry]      `c:"MPIDI_av_entry_t"`
}

// ofiGlobal has some hundred KiB, of which little is read.
type ofiGlobal struct {
	Contexts inferior.Embedded[ofiContext] `c:"ctx"` // an array: for each network interface one for each virtual one
	Virtual  inferior.Embedded[int32]      `c:"num_vcis|num_vnis"`
	// VCIs are there from 4.2 on, and Keys from 4.1 on: with them the module's tags changed.
	VCIs     inferior.Embedded[int32]       `c:"num_vcis,optional"`
	Keys     inferior.Embedded[uint64]      `c:"global_max_regular_mr_key,optional"`
	Networks inferior.Embedded[int32]       `c:"num_nics"`
	Settings inferior.Embedded[ofiSettings] `c:"settings"`
}

// ofiSettings are what the module has been set to for a provider.
type ofiSettings struct {
	ContextBits int32 `c:"context_bits"`
	SourceBits  int32 `c:"source_bits"`
	TagBits     int32 `c:"tag_bits"`
}

type ofiContext struct {
	Receiving inferior.Addr `c:"rx"` // struct fid_ep *
	// The others tell its place in the data of a stripped library.
	Domain      inferior.Addr `c:"domain,optional"`
	Addresses   inferior.Addr `c:"av,optional"`
	Completions inferior.Addr `c:"cq,optional"`
}

// ofiDev is what the module keeps in a request that it has given to libfabric. From 5.0 on it is one of several forms.
type ofiDev struct {
	Context  inferior.Embedded[ofiOperation] `c:"dev.ch4.netmod.ofi.context|dev.ch4.netmod.ofi.direct.context"`
	Of       int32                           `c:"kind"` // MPICH's own: a send or a receive
	Kind     uint32                          `c:"dev.ch4.netmod.ofi.kind|dev.ch4.netmod.ofi.direct.kind"`
	IsLocal  bool                            `c:"dev.is_local,optional"`
	ID       uint32                          `c:"dev.ch4.netmod.ofi.util_id.v|dev.ch4.netmod.ofi.util_id|dev.ch4.netmod.ofi.context_id|dev.ch4.netmod.ofi.direct.context_id"` // the context id of a receive
	Datatype uint32                          `c:"dev.ch4.netmod.ofi.datatype|dev.ch4.netmod.ofi.direct.datatype"`
	// Where libfabric puts what a receive gets, but for one in several pieces.
	Buffer inferior.Addr `c:"dev.ch4.netmod.ofi.util.iov.iov_base|dev.ch4.netmod.ofi.direct.util.iov.iov_base"`
	Length uint64        `c:"dev.ch4.netmod.ofi.util.iov.iov_len|dev.ch4.netmod.ofi.direct.util.iov.iov_len"`
	// Of data that goes through a buffer of the library's, that buffer and, up to 4.2, where a receive's goes to in the end.
	PackBuffer   inferior.Addr `c:"dev.ch4.netmod.ofi.noncontig.pack.pack_buffer|dev.ch4.netmod.ofi.direct.noncontig.pack.pack_buffer"`
	UserBuffer   inferior.Addr `c:"dev.ch4.netmod.ofi.noncontig.pack.buf,optional"`
	UserCount    uint64        `c:"dev.ch4.netmod.ofi.noncontig.pack.count,optional"`
	UserDatatype uint32        `c:"dev.ch4.netmod.ofi.noncontig.pack.datatype,optional"`
	// From 4.3 on, what a receive was given by the program, whatever its data. Of a send nothing of it is kept.
	Given      inferior.Addr `c:"dev.ch4.netmod.ofi.buf|dev.ch4.netmod.ofi.direct.buf,optional"`
	GivenCount uint64        `c:"dev.ch4.netmod.ofi.count|dev.ch4.netmod.ofi.direct.count,optional"`
}

// isOfType says whether there is a datatype: a request has another form while a long message comes.
func (q *ofiDev) isOfType() bool {
	return mpir.IsHandle(q.Datatype, mpir.ObjectDatatype) && mpir.IsStored(q.Datatype)
}

// ofiOperation is a fi_context, what libfabric keeps for an operation that the module has given it.
type ofiOperation struct{}

// ofiAnswer begins as a request does, so that its context is at the same place.
type ofiAnswer struct {
	Context inferior.Embedded[ofiOperation] `c:"context"`
	Send    inferior.Ptr[mpir.Request]      `c:"signal_req"`
}

type ofiHeader struct {
	// Header is what comes with the answer to a message whose data waits for it, and not with a synchronous send's.
	Header inferior.Addr `c:"ack_hdr"`
}

type ofiEntry struct {
	// What libfabric calls the process: for each network interface one for each virtual one (fi_addr_t); from 5.0 on only
	// what it is called where both are the first, as the others are not told apart by what they are.
	Addresses inferior.Embedded[uint64] `c:"netmod.ofi.dest,optional"`
	Root      inferior.Embedded[uint64] `c:"netmod.ofi.root_dest,optional"`
}

const (
	// maxNetworks is MPIDI_OFI_MAX_NICS (ofi_pre.h, 4.0), and maxOFIVirtual is MPIDI_OFI_MAX_VNIS (ofi_types.h, 4.0).
	maxNetworks   = 8
	maxOFIVirtual = 16
	// ofiKindTaken is MPIDI_OFI_req_kind__mprobe (ofi_pre.h, 4.0).
	ofiKindTaken = 2
)

func (ofiModule) types() any { return &ofiTypes{} }

func (ofiModule) bind(lib *mpir.Library) (netmod, objects, error) {
	o := &ofiNetmod{lib: lib, tables: map[int32]addressTable{}}
	err := o.bindTypes()
	return o, o, err
}

// bindTypes makes the types ready to read.
func (o *ofiNetmod) bindTypes() error {
	err := inferior.Bind(&o.c, o.lib.Layouts)
	if err != nil {
		return err
	}
	_, hasAll := inferior.OffsetOf(&o.c.Entry, func(e *ofiEntry) *inferior.Embedded[uint64] { return &e.Addresses })
	_, hasRoot := inferior.OffsetOf(&o.c.Entry, func(e *ofiEntry) *inferior.Embedded[uint64] { return &e.Root })
	switch {
	case !o.c.Answer.Bound() && (!o.c.Ack.Bound() || !o.c.Header.Bound()):
		return errors.New("the module has no type for the answer to a send")
	case !hasAll && !hasRoot:
		return errors.New("the module has no address of a process")
	}
	return nil
}

// ofiNetmod is libfabric as the module of a process uses it, and what that keeps in MPICH's objects.
type ofiNetmod struct {
	lib *mpir.Library
	c   ofiTypes
	// virtual and networks are how many interfaces there are, and bits how tags are made up, once it is open.
	virtual, networks int
	bits              ofiBits
	// isProved is true if the mask of a receive has proved the bits, hasRelease if the library names its release (read only with the
	// layouts of 4.0).
	isProved, hasRelease bool
	tables               map[int32]addressTable // by their numbers
}

func (o *ofiNetmod) name() string { return ofi.Name }

// mayRefuse: libfabric takes no message to a peer that has not answered a connection, and asks the module to try again
// (MPIDI_OFI_CALL_RETRY in src/mpid/ch4/netmod/ofi/ofi_impl.h, 4.0). A short message has no request until it is taken.
func (o *ofiNetmod) mayRefuse() bool { return true }

func (o *ofiNetmod) tags() *transport.Tags { return o.bits.tags() }

// proveMask checks the mask of a receive, and recognizes 4.0.3 by it: that release has the layouts of 4.0.2, but its receives ignore other
// bits.
func (o *ofiNetmod) proveMask(mask uint64) error {
	err := o.bits.proveMask(mask)
	if err != nil && !o.isProved && o.bits.ofiProtocol == &ofiProtocol40 {
		later := o.bits
		later.ofiProtocol = &ofiProtocol41
		if later.proveMask(mask) == nil {
			o.bits, err = later, nil
		}
	}
	o.isProved = o.isProved || err == nil
	return err
}

// doubt returns an error if messages may be the module's own in one of the two releases, as long as it is unknown which one it is.
func (o *ofiNetmod) doubt(messages []transport.Message) error {
	if o.isProved || o.hasRelease || o.bits.ofiProtocol != &ofiProtocol40 {
		return nil
	}
	differs := o.bits.of(ofiProtocol40.others ^ ofiProtocol41.others)
	if slices.ContainsFunc(messages, func(m transport.Message) bool { return m.Tag&differs != 0 }) {
		return errOtherOFITags
	}
	return nil
}

// open reads the endpoints that the module receives by, one for each interface.
func (o *ofiNetmod) open(r *inferior.Reader) (transport.Transport, error) {
	at, err := o.own(r)
	if err != nil {
		return nil, err
	}
	if err := o.set(at.Addr); err != nil {
		return nil, err
	}
	places := inferior.Places(&o.c.Global, inferior.Ptr[ofiGlobal](at.Addr))
	out := &ofiTransport{}
	for i := range o.virtual * o.networks {
		c, err := o.c.Context.Read(r, inferior.At(&o.c.Context, places.Contexts.Ptr(), i))
		if err != nil {
			return nil, err
		}
		if c.Receiving == 0 {
			return nil, errors.New("it has no endpoint: the program has not called MPI_Init yet, or has called MPI_Finalize")
		}
		all, err := ofi.Open(r, c.Receiving)
		if err != nil {
			return nil, err
		}
		m := &ofiMatcher{Matcher: all.Endpoint(), endpoint: all.Endpoint(), of: o}
		if err := m.join(); err != nil {
			return nil, err
		}
		out.OFI, out.matchers = all, append(out.matchers, m)
	}
	return out, nil
}

// own is the module's variable: what was found in the data of a stripped library, or what its symbol names.
func (o *ofiNetmod) own(r *inferior.Reader) (inferior.Symbol, error) {
	if at, ok := o.lib.Symbols[symOFI]; ok {
		return at, nil
	}
	found, err := r.Symbols(symOFI)
	if err != nil {
		return inferior.Symbol{}, err
	}
	at, ok := found[symOFI]
	if !ok {
		return inferior.Symbol{}, fmt.Errorf("the library lacks %s, which alone leads to it", symOFI)
	}
	return at, nil
}

// set reads what the module has been set to, from where its variable is.
func (o *ofiNetmod) set(at inferior.Addr) error {
	places := inferior.Places(&o.c.Global, inferior.Ptr[ofiGlobal](at))
	settings, err := o.c.Settings.Read(o.lib.Reader, places.Settings.Ptr())
	if err != nil {
		return err
	}
	_, isNewer := inferior.OffsetOf(&o.c.Global, func(g *ofiGlobal) *inferior.Embedded[int32] { return &g.VCIs })
	_, hasKeys := inferior.OffsetOf(&o.c.Global, func(g *ofiGlobal) *inferior.Embedded[uint64] { return &g.Keys })
	protocol := &ofiProtocol40
	switch {
	case isNewer:
		protocol = &ofiProtocol42
	case hasKeys:
		protocol = &ofiProtocol41
	default:
		// 4.0.3 has the layouts of 4.0.2. Until a receive proves the bits, only the library's version string distinguishes them.
		release := mpir.Version(o.lib.Reader, o.lib.Symbols)
		if o.hasRelease = release != ""; strings.HasPrefix(release, "4.0.3") {
			protocol = &ofiProtocol41
		}
	}
	if o.bits, err = ofiBitsOf(settings, protocol); err != nil {
		return err
	}
	if o.virtual, err = o.count(places.Virtual, maxOFIVirtual); err != nil {
		return err
	}
	o.networks, err = o.count(places.Networks, maxNetworks)
	return err
}

// count reads how many interfaces of a kind there are.
func (o *ofiNetmod) count(at inferior.Embedded[int32], most int64) (int, error) {
	const width = 4
	n, err := o.lib.Reader.Int(at.Addr(), width)
	if err == nil && (n < 1 || n > most) {
		err = fmt.Errorf("the module has %d interfaces of a kind", n)
	}
	return int(n), err
}

// ofiTransport is libfabric with all endpoints of a process's.
type ofiTransport struct {
	*ofi.OFI
	matchers []transport.Matcher
}

func (t *ofiTransport) Matchers() []transport.Matcher { return t.matchers }

// requestOf is the request that has given libfabric a context.
func (o *ofiNetmod) requestOf(context inferior.Addr) inferior.Ptr[mpir.Request] {
	return inferior.Ptr[mpir.Request](inferior.ContainerOf(&o.c.Dev, inferior.Ptr[ofiOperation](context), func(q *ofiDev) *inferior.Embedded[ofiOperation] { return &q.Context }))
}

// contextOf is the context that a request gives to libfabric.
func (o *ofiNetmod) contextOf(at inferior.Ptr[mpir.Request]) inferior.Addr {
	return inferior.Places(&o.c.Dev, inferior.Ptr[ofiDev](at)).Context.Addr()
}

func (o *ofiNetmod) sender(_ *inferior.Reader, s *transport.Send) inferior.Ptr[mpir.Request] {
	return o.requestOf(s.UserData)
}

func (o *ofiNetmod) receiver(q *transport.Receive) inferior.Ptr[mpir.Request] {
	return o.requestOf(q.UserData)
}

// elements is what a request keeps of its data: the datatype, and where data goes to in the end that is received into
// a buffer of the library's. Else as many elements are in a contiguous buffer as their size goes into it.
func (o *ofiNetmod) elements(r *inferior.Reader, q *transport.Request) (Elements, bool) {
	own, err := o.c.Dev.Read(r, inferior.Ptr[ofiDev](o.requestOf(q.UserData)))
	if err != nil {
		return Elements{}, false
	}
	isPacked := q.Buffer != 0 && own.PackBuffer == q.Buffer
	none, isReceive := Elements{IsPacked: isPacked}, own.Of == mpir.KindRecv
	switch {
	case !own.isOfType(), o.keepsGiven() && (!isReceive || int64(own.GivenCount) < 0):
		return none, isPacked
	case o.keepsGiven():
		return Elements{Buffer: mqs.Known(own.Given), Count: int64(own.GivenCount), Datatype: own.Datatype}, true
	case isPacked && isReceive && own.UserDatatype == own.Datatype:
		return Elements{Buffer: mqs.Known(own.UserBuffer), Count: int64(own.UserCount), Datatype: own.Datatype}, int64(own.UserCount) >= 0
	}
	size := o.lib.Datatype(own.Datatype).Size
	if !size.Known || size.Value <= 0 || q.Length < 0 || q.Length%size.Value != 0 {
		return none, isPacked
	}
	return Elements{Count: q.Length / size.Value, Datatype: own.Datatype, IsPacked: isPacked}, true
}

// keepsGiven says whether receives keep what the program has given them.
func (o *ofiNetmod) keepsGiven() bool {
	return inferior.SizeOf(&o.c.Dev, func(q *ofiDev) *inferior.Addr { return &q.Given }) > 0
}

// taken is the context of a request of a probe that has found a message, which libfabric has for it.
func (o *ofiNetmod) taken(at inferior.Ptr[mpir.Request]) inferior.Addr {
	own, err := o.c.Dev.Read(o.lib.Reader, inferior.Ptr[ofiDev](at))
	if err != nil || own.IsLocal || own.Kind != ofiKindTaken {
		return 0
	}
	return own.Context.Addr()
}

// unpacked: [ofiNetmod.elements] tells so.
func (o *ofiNetmod) unpacked(inferior.Ptr[mpir.Request], *transport.Request) (Elements, bool) {
	return Elements{}, false
}

// matched: libfabric forgets a receive that has matched, of which the module keeps its data's place and the context
// id.
func (o *ofiNetmod) matched(at inferior.Ptr[mpir.Request]) (transport.Receive, bool) {
	own, err := o.c.Dev.Read(o.lib.Reader, inferior.Ptr[ofiDev](at))
	if err != nil || own.IsLocal || o.keepsGiven() && !own.isOfType() {
		return transport.Receive{}, false
	}
	out := transport.Receive{Tag: uint64(own.ID) << o.bits.beforeContext(), AskLost: true, MessageLost: true, Received: -1}
	out.Addr, out.UserData, out.State, out.Length = at.Addr(), own.Context.Addr(), transport.Matched, -1
	if o.bits.tags().Envelope(out.Tag).Context != uint64(own.ID) {
		return transport.Receive{}, false
	}
	// In several pieces it would have noted where these are: in the place of the user's buffer, from 4.3 on in that of the
	// library's.
	if own.PackBuffer == 0 && own.UserBuffer == 0 || own.PackBuffer != 0 && own.PackBuffer == own.Buffer {
		out.Buffer = own.Buffer
		if own.Length <= math.MaxInt64 {
			out.Length = int64(own.Length)
		}
	}
	return out, true
}

// peers are what libfabric calls a process by. What can't be read is left out.
func (o *ofiNetmod) peers(table int32, place int64) []transport.Peer {
	t, ok := o.tables[table]
	if !ok {
		t = readAddresses(o.lib.Reader, &o.c.Tables, &o.c.Table, o.lib.Symbols[symGlobal].Addr, table)
		o.tables[table] = t
	}
	if place < 0 || place >= int64(t.Size) {
		return nil
	}
	const width = 8
	if _, ok := inferior.OffsetOf(&o.c.Entry, func(e *ofiEntry) *inferior.Embedded[uint64] { return &e.Addresses }); !ok {
		return o.rootPeer(t, place)
	}
	row := inferior.SizeOf(&o.c.Entry, func(e *ofiEntry) *inferior.Embedded[uint64] { return &e.Addresses }) / maxNetworks
	from := inferior.Places(&o.c.Entry, inferior.At(&o.c.Entry, inferior.Ptr[ofiEntry](t.Entries), int(place))).Addresses.Addr()
	var out []transport.Peer
	for network := range o.networks {
		for virtual := range min(o.virtual, row/width) {
			v, err := o.lib.Reader.Uint(from+inferior.Addr(network*row+virtual*width), width)
			if err == nil && v != ofi.AnyPeer {
				out = append(out, mqs.Known(v))
			}
		}
	}
	return out
}

// rootPeer is what libfabric calls a process by its first address: where there are several interfaces, a process has
// others, which another process may have beneath another interface.
func (o *ofiNetmod) rootPeer(t addressTable, place int64) []transport.Peer {
	if o.networks != 1 || o.virtual != 1 {
		return nil
	}
	const width = 8
	at := inferior.Places(&o.c.Entry, inferior.At(&o.c.Entry, inferior.Ptr[ofiEntry](t.Entries), int(place))).Root
	v, err := o.lib.Reader.Uint(at.Addr(), width)
	if err != nil || v == ofi.AnyPeer {
		return nil
	}
	return []transport.Peer{mqs.Known(v)}
}
