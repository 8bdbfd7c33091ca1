package mpir

import (
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// objectTypes are the C types of what handles stand for beside communicators, requests and datatypes, and of what
// more there is to say of these. Each is bound by itself: what a library's types do not tell is not known.
type objectTypes struct {
	win        winTypes
	topology   topologyTypes
	contents   contentsTypes
	group      groupObjectTypes
	op         opTypes
	errhandler errhandlerTypes
	info       infoTypes
	session    sessionTypes
	file       fileTypes
}

// each lists them.
func (t *objectTypes) each() []any {
	return []any{&t.win, &t.topology, &t.contents, &t.group, &t.op, &t.errhandler, &t.info, &t.session, &t.file}
}

// bind binds what the layouts have.
func (t *objectTypes) bind(l *layout.Layouts) {
	bindWhole(&t.win, l)
	bindWhole(&t.topology, l)
	bindWhole(&t.contents, l)
	bindWhole(&t.group, l)
	bindWhole(&t.op, l)
	bindWhole(&t.errhandler, l)
	bindWhole(&t.info, l)
	bindWhole(&t.session, l)
	bindWhole(&t.file, l)
}

// bindWhole binds structs, or none of them if one lacks something.
func bindWhole[T any](structs *T, l *layout.Layouts) {
	if inferior.Bind(structs, l) != nil {
		var none T
		*structs = none
	}
}

type winTypes struct {
	Win inferior.Struct[Win] `c:"MPIR_Win"`
}

// Win is MPIR_Win, but for what a device adds.
type Win struct {
	Handle uint32             `c:"handle"`
	Base   inferior.Addr      `c:"base"`
	Size   int64              `c:"size"` // bytes
	Unit   int32              `c:"disp_unit"`
	Comm   inferior.Ptr[Comm] `c:"comm_ptr"` // a duplicate of the program's
	Name   inferior.Text      `c:"name"`
	Flavor int32              `c:"create_flavor"`
}

type topologyTypes struct {
	Attribute inferior.Struct[attribute] `c:"MPIR_Attribute"`
	Keyval    inferior.Struct[keyval]    `c:"MPII_Keyval"`
	Topology  inferior.Struct[topology]  `c:"MPIR_Topology"`
}

// attribute is one of a communicator's. A topology is one.
type attribute struct {
	Keyval inferior.Ptr[keyval]    `c:"keyval"`
	Next   inferior.Ptr[attribute] `c:"next"`
	Value  inferior.Ptr[topology]  `c:"value"`
}

// keyval is the key of an attribute.
type keyval struct {
	Handle uint32 `c:"handle"`
}

// topology is MPIR_Topology, whose arrays are of int.
type topology struct {
	Kind uint32 `c:"kind"`

	Dimensions int32         `c:"topo.cart.ndims"`
	Sizes      inferior.Addr `c:"topo.cart.dims"`
	Periodic   inferior.Addr `c:"topo.cart.periodic"`
	Position   inferior.Addr `c:"topo.cart.position"`

	Nodes int32         `c:"topo.graph.nnodes"`
	Edges int32         `c:"topo.graph.nedges"`
	Index inferior.Addr `c:"topo.graph.index"`
	Ends  inferior.Addr `c:"topo.graph.edges"`

	Indegree  int32         `c:"topo.dist_graph.indegree"`
	In        inferior.Addr `c:"topo.dist_graph.in"`
	Outdegree int32         `c:"topo.dist_graph.outdegree"`
	Out       inferior.Addr `c:"topo.dist_graph.out"`
}

type contentsTypes struct {
	Contents inferior.Struct[contents] `c:"MPIR_Datatype_contents"`
}

// contents are what a datatype was built of. Its types, integers, addresses and counts stand behind it in this
// order.
type contents struct {
	Combiner  int32 `c:"combiner"`
	Integers  int64 `c:"nr_ints"`
	Addresses int64 `c:"nr_aints"`
	Counts    int64 `c:"nr_counts,optional"`
	Types     int64 `c:"nr_types"`
}

type groupObjectTypes struct {
	Group  inferior.Struct[GroupObject] `c:"MPIR_Group"`
	Member inferior.Struct[member]      `c:"MPII_Group_pmap_t,optional"`
}

// GroupObject is MPIR_Group.
type GroupObject struct {
	Handle   uint32                  `c:"handle"`
	RefCount int32                   `c:"ref_count.v|ref_count"`
	Size     int32                   `c:"size"`
	Rank     int32                   `c:"rank"`                   // negative in a process that is no member
	Members  inferior.Ptr[member]    `c:"lrank_to_lpid,optional"` // up to 4.3
	Pmap     inferior.Embedded[pmap] `c:"pmap,optional"`          // from 5.0
}

// member is one of a group.
type member struct {
	Number int64 `c:"lpid"`
}

type opTypes struct {
	Op inferior.Struct[op] `c:"MPIR_Op"`
}

type op struct {
	Handle   uint32 `c:"handle"`
	RefCount int32  `c:"ref_count.v|ref_count"`
	Kind     uint32 `c:"kind"`
	// From 4.3; before, the kind tells.
	Commutes bool `c:"is_commute,optional"`
}

type errhandlerTypes struct {
	Errhandler inferior.Struct[errhandler] `c:"MPIR_Errhandler"`
}

type errhandler struct {
	Handle   uint32 `c:"handle"`
	RefCount int32  `c:"ref_count.v|ref_count"`
}

type infoTypes struct {
	Info  inferior.Struct[info]      `c:"MPIR_Info"`
	Entry inferior.Struct[infoEntry] `c:"info_entry,optional"`
}

// info is MPIR_Info. Up to 4.0 it is the head of a list, each of whose elements is one, with a key and a value;
// later it has an array.
type info struct {
	Handle  uint32                  `c:"handle"`
	Next    inferior.Ptr[info]      `c:"next,optional"`
	Key     inferior.Text           `c:"key,optional"`
	Value   inferior.Text           `c:"value,optional"`
	Entries inferior.Ptr[infoEntry] `c:"entries,optional"`
	Size    int32                   `c:"size,optional"`
}

type infoEntry struct {
	Key   inferior.Text `c:"key"`
	Value inferior.Text `c:"value"`
}

type sessionTypes struct {
	Session inferior.Struct[session] `c:"MPIR_Session"`
}

type session struct {
	Handle   uint32                 `c:"handle"`
	Attached inferior.Ptr[attached] `c:"bsendbuffer,optional"` // from 4.2 on
}

type fileTypes struct {
	File inferior.Struct[file] `c:"ADIOI_FileD"`
}

// file is what an MPI_File points to, of ROMIO.
type file struct {
	Cookie  int32         `c:"cookie"`
	Comm    uint32        `c:"comm"` // the handle of a duplicate of the program's
	Name    inferior.Text `c:"filename"`
	Mode    int32         `c:"orig_access_mode"`
	Fortran int32         `c:"fortran_handle"`
}
