package ch4

import (
	"errors"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
	"github.com/mpi-queues/mpi-queues/mqs/transport/ucx"
)

// symUCX is the module's variable, which a library has until it is stripped.
const symUCX = "MPIDI_UCX_global" // MPIDI_UCX_global_t

// ucxNetmod is the netmod ucx.
type ucxNetmod struct{}

// ucxUser is what MPICH keeps behind each request of UCX, in bytes: of a send, the address of its
// own request (src/mpid/ch4/netmod/ucx/ucx_pre.h, 4.0 to 5.0).
const ucxUser = 8

// ucxOwnTag are the bits that only tags of the library's own have: active messages, dynamic processes.
const ucxOwnTag = 0xc000_0000

// ucxTags is how ch4:ucx puts an MPI message's envelope into a tag of UCX (ucx_impl.h, 4.0 to 5.0):
// the context above, the source's rank in the communicator in the middle, the tag below.
var ucxTags = transport.Tags{
	Context: transport.Bits{Shift: 48, Width: 16},
	Rank:    transport.Bits{Shift: 32, Width: 16},
	Tag:     transport.Bits{Width: 30},
	AnyTag:  0x0fff_ffff, // no receive of a single tag looks at none of these
	IsInternal: func(e transport.Envelope) bool {
		return e.Raw&ucxOwnTag != 0 || e.Context&mpir.ContextOwn != 0
	},
}

func (ucxNetmod) name() string { return ucx.Name }

// mayRefuse: UCX takes every message, and keeps it if it can't send it yet.
func (ucxNetmod) mayRefuse() bool { return false }

func (ucxNetmod) tags() *transport.Tags { return &ucxTags }

// errNoWorker means that an MPICH has nothing in UCX, whatever that is there for.
var errNoWorker = errors.New("UCX has no worker: the program has not called MPI_Init yet, has called MPI_Finalize, or its MPICH leaves its messages to another library")

func (ucxNetmod) open(r *inferior.Reader) (transport.Transport, error) {
	symbols, err := r.Symbols(ucx.Symbols...)
	if err != nil {
		return nil, err
	}
	u, err := ucx.Open(r, symbols, ucxUser)
	if err != nil {
		return nil, err
	}
	if len(u.Matchers()) == 0 {
		return nil, errNoWorker
	}
	return u, nil
}

func (ucxNetmod) isAbsent(err error) bool { return errors.Is(err, ucx.ErrNone) }

// errOtherTags means that an MPICH was configured with other than 16 bits for ranks
// (--with-ch4-ucx-rankbits), or is of a release that puts its tags together in another way.
var errOtherTags = errors.New("receives have masks that mpi-queues does not know: it reads tags with 16 bits for ranks")

// doubt returns nil, since the module sends no messages of its own.
func (ucxNetmod) doubt([]transport.Message) error { return nil }

// proveMask accepts all of the context, the rank or nothing of it, and the tag with or without the bits
// for errors, or what is left of it for any tag.
func (ucxNetmod) proveMask(mask uint64) error {
	rank := mask & ucxTags.Rank.Mask()
	if mask|ucxTags.Context.Mask() != mask || rank != 0 && rank != ucxTags.Rank.Mask() ||
		!slices.Contains([]uint32{0x9fff_ffff, 0xffff_ffff, 0x9000_0000, 0xc000_0000, 0xe000_0000}, uint32(mask)) {
		return errOtherTags
	}
	return nil
}

func (ucxNetmod) sender(r *inferior.Reader, s *transport.Send) inferior.Ptr[mpir.Request] {
	own, err := inferior.ReadPointers(r, inferior.Ptr[inferior.Ptr[mpir.Request]](s.User), 1)
	if err != nil {
		return 0
	}
	return own[0]
}

func (ucxNetmod) receiver(q *transport.Receive) inferior.Ptr[mpir.Request] {
	return inferior.Ptr[mpir.Request](q.UserData)
}

// elements reads what 4.0 keeps of data that is not contiguous: where it is, how many elements
// of which datatype (struct pack_state, src/mpid/ch4/netmod/ucx/ucx_datatype.c). Nothing but the
// datatype's handle proves that it is that.
func (ucxNetmod) elements(r *inferior.Reader, q *transport.Request) (Elements, bool) {
	at := q.Generic
	if at == 0 {
		return Elements{}, false
	}
	words, err := r.Pointers(at, 2)
	if err != nil {
		return Elements{}, false
	}
	handle, err := r.Uint(at+2*inferior.Addr(r.Info().PointerSize), 4)
	if err != nil || !mpir.IsHandle(uint32(handle), mpir.ObjectDatatype) || !mpir.IsStored(uint32(handle)) {
		return Elements{}, false
	}
	return Elements{Buffer: mqs.Known(words[0]), Count: int64(words[1]), Datatype: uint32(handle)}, int64(words[1]) >= 0
}

// ucxTypes are the C types of the netmod, and of the tables that it keeps endpoints in.
type ucxTypes struct {
	// Dev is its part of a request.
	Dev    inferior.Struct[ucxDev]        `c:"MPIR_Request"`
	Tables inferior.Struct[addressTables] `c:"MPIDI_CH4_Global_t"`
	Table  inferior.Struct[addressTable]  `c:"MPIDI_av_table_t"`
	Entry  inferior.Struct[ucxEntry]      `c:"MPIDI_av_entry_t"`
}

// ucxDev is MPIR_Request.dev.ch4.netmod.ucx.
type ucxDev struct {
	// Of a message that MPI_Mprobe has taken: what UCX keeps of it.
	Taken inferior.Addr `c:"dev.ch4.netmod.ucx.message_handler"`
}

type ucxEntry struct {
	// For each of this process's virtual interfaces one for each of the peer's: ucp_ep_h.
	Endpoints inferior.Embedded[inferior.Addr] `c:"netmod.ucx.dest"`
}

func (ucxNetmod) types() any { return &ucxTypes{} }

func (ucxNetmod) bind(lib *mpir.Library) (netmod, objects, error) {
	o := &ucxObjects{lib: lib, tables: map[int32]addressTable{}}
	if unpack, err := (ucxNetmod{}).bindUnpack(lib.Layouts); err == nil {
		o.unpack = unpack
	}
	return ucxNetmod{}, o, inferior.Bind(&o.c, lib.Layouts)
}

// ucxObjects are what the netmod keeps in MPICH's objects.
type ucxObjects struct {
	lib    *mpir.Library
	c      ucxTypes
	tables map[int32]addressTable // by their numbers
	unpack Unpack                 // nil up to 4.0
}

// hidden finds the variable that leads to the table of this program's processes: it has one entry for each, with
// endpoints of one worker.
func (ucxNetmod) hidden(lib *mpir.Library, g *inferior.Struct[global], m *mpir.Image) []inferior.Addr {
	o := &ucxObjects{lib: lib, tables: map[int32]addressTable{}}
	if inferior.Bind(&o.c, lib.Layouts) != nil {
		return nil
	}
	return hiddenGlobals(lib, g, &o.c.Tables, &o.c.Table, m, o.leadsToAll)
}

// leadsToAll says whether a table of this program's processes has an endpoint for each of them, of one worker.
func (o *ucxObjects) leadsToAll(t addressTable) bool {
	o.tables[0] = t
	defer clear(o.tables)
	worker := inferior.Addr(0)
	for i := range min(int64(t.Size), proofs) {
		peers := o.peers(0, i)
		if len(peers) == 0 {
			return false
		}
		own, err := o.lib.Reader.Pointers(inferior.Addr(peers[0].Value), 1) // an endpoint begins with its worker
		if err != nil || own[0] == 0 || worker != 0 && own[0] != worker {
			return false
		}
		worker = own[0]
	}
	return worker != 0
}

func (o *ucxObjects) taken(request inferior.Ptr[mpir.Request]) inferior.Addr {
	q, err := o.c.Dev.Read(o.lib.Reader, inferior.Ptr[ucxDev](request))
	if err != nil {
		return 0
	}
	return q.Taken
}

// unpacked is where the data of a receive goes to from a buffer of the library's.
func (o *ucxObjects) unpacked(at inferior.Ptr[mpir.Request], received *transport.Request) (Elements, bool) {
	if o.unpack == nil {
		return Elements{}, false
	}
	u, err := o.unpack(o.lib.Reader, at, received)
	return u.To, err == nil && u.IsUnpacked
}

// matched: UCX has the receives that it has matched itself.
func (o *ucxObjects) matched(inferior.Ptr[mpir.Request]) (transport.Receive, bool) {
	return transport.Receive{}, false
}

// peers are the addresses of endpoints. What can't be read is left out.
func (o *ucxObjects) peers(table int32, place int64) []transport.Peer {
	t, ok := o.tables[table]
	if !ok {
		t = readAddresses(o.lib.Reader, &o.c.Tables, &o.c.Table, o.lib.Symbols[symGlobal].Addr, table)
		o.tables[table] = t
	}
	if place < 0 || place >= int64(t.Size) {
		return nil
	}
	r := o.lib.Reader
	dest := inferior.Places(&o.c.Entry, inferior.At(&o.c.Entry, inferior.Ptr[ucxEntry](t.Entries), int(place))).Endpoints
	size := inferior.SizeOf(&o.c.Entry, func(e *ucxEntry) *inferior.Embedded[inferior.Addr] { return &e.Endpoints })
	endpoints, err := r.Pointers(dest.Addr(), min(size/r.Info().PointerSize, maxVCIs))
	if err != nil {
		return nil
	}
	var out []transport.Peer
	for _, e := range endpoints {
		if e != 0 {
			out = append(out, mqs.Known(uint64(e)))
		}
	}
	return out
}

// ucxUnpackTypes are the C types of requests whose data is received into a buffer of the library's first, from
// 4.1 on.
type ucxUnpackTypes struct {
	Request inferior.Struct[ucxUnpack] `c:"MPIR_Request"`
}

type ucxUnpack struct {
	// Network is UCX's own request of it.
	Network    inferior.Addr `c:"dev.ch4.netmod.ucx.s.ucp_request"`
	Type       uint32        `c:"dev.ch4.netmod.ucx.s.type"`
	PackBuffer inferior.Addr `c:"dev.ch4.netmod.ucx.s.u.pack.pack_buf"`
	UserBuffer inferior.Addr `c:"dev.ch4.netmod.ucx.s.u.pack.user_buf"`
	Count      int64         `c:"dev.ch4.netmod.ucx.s.u.pack.count"`
	Datatype   uint32        `c:"dev.ch4.netmod.ucx.s.u.pack.datatype,optional"`
}

// ucxTypeUnpack is the type of such a request (src/mpid/ch4/netmod/ucx/ucx_pre.h, 4.1 to 5.0).
const ucxTypeUnpack = 1

func (ucxNetmod) unpackTypes() any { return &ucxUnpackTypes{} }

func (ucxNetmod) bindUnpack(l *layout.Layouts) (Unpack, error) {
	var c ucxUnpackTypes
	if err := inferior.Bind(&c, l); err != nil {
		return nil, err
	}
	return func(r *inferior.Reader, request inferior.Ptr[mpir.Request], received *transport.Request) (Unpacked, error) {
		q, err := c.Request.Read(r, inferior.Ptr[ucxUnpack](request))
		return Unpacked{
			To:         Elements{Buffer: mqs.Known(q.UserBuffer), Count: q.Count, Datatype: q.Datatype},
			IsUnpacked: q.Type == ucxTypeUnpack && q.PackBuffer == received.Buffer,
			IsProved:   q.Network == received.User,
		}, err
	}, nil
}
