package mpir

import (
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// types are the C types that every MPICH has, in its own names. Which release
// spells a member how stands in the tags; where members are the same from 4.0
// to 5.0 there is nothing to say.
type types struct {
	Process  inferior.Struct[Process]  `c:"MPIR_Process_t"`
	Pool     inferior.Struct[pool]     `c:"MPIR_Object_alloc_t"`
	Free     inferior.Struct[free]     `c:"MPIR_Handle_common"`
	Comm     inferior.Struct[Comm]     `c:"MPIR_Comm"`
	Request  inferior.Struct[Request]  `c:"MPIR_Request"`
	Datatype inferior.Struct[datatype] `c:"MPIR_Datatype"`

	Threads inferior.Struct[threadInfo] `c:"MPIR_Thread_info_t,optional"`

	// Of a library with debugger support.
	CommList inferior.Struct[commList] `c:"MPIR_Comm_list,optional"`
	// Sends only, in 4.0.
	Sendq inferior.Struct[sendq] `c:"MPIR_Sendq,optional"`
	// Sends, receives and unexpected messages, from 4.1.
	Debugq inferior.Struct[debugq] `c:"MPIR_Debugq,optional"`
	// The buffer of MPI_Buffer_attach, up to 4.1: later there can be several.
	Bsend inferior.Struct[bsend] `c:"BsendBuffer,optional"`
	// Those from 4.2 on.
	Attached inferior.Struct[attached]     `c:"MPII_BsendBuffer,optional"`
	Buffered inferior.Struct[bufferedSend] `c:"MPII_Bsend_data_t,optional"`
	// What carries out a non-blocking collective.
	Schedule inferior.Struct[schedule] `c:"MPIDU_Sched,optional"`
	Entry    inferior.Struct[entry]    `c:"MPIDU_Sched_entry,optional"`
	// How a group maps ranks, from 5.0.
	Pmap inferior.Struct[pmap] `c:"MPIR_Pmap,optional"`
}

// Process is MPIR_Process, of which there is one.
type Process struct {
	State  int32              `c:"mpich_state.v|mpich_state"`
	Rank   int32              `c:"rank"`
	Size   int32              `c:"size"`
	Nodes  int32              `c:"num_nodes,optional"`
	World  inferior.Ptr[Comm] `c:"comm_world"`
	IWorld inferior.Ptr[Comm] `c:"icomm_world,optional"` // the library's own duplicate, up to 4.3
	// What MPI_Buffer_attach has attached, from 4.2 on.
	Attached inferior.Ptr[attached] `c:"bsendbuffer,optional"`
}

// threadInfo is MPIR_ThreadInfo.
type threadInfo struct {
	Provided int32 `c:"thread_provided"`
}

// pool holds all objects of one kind: some in an array of their own, the others
// in blocks that were allocated when those were used up. What it holds is not said by
// the type of its pointers (void *).
type pool struct {
	Avail       inferior.Ptr[free] `c:"avail"` // the first free object
	Initialized int32              `c:"initialized"`
	Indirect    inferior.Addr      `c:"indirect"` // pointers to blocks
	Blocks      int32              `c:"indirect_size"`
	BlockSize   int32              `c:"indirect_block_size,optional"` // objects in each block, from 4.3
	Allocated   int32              `c:"num_allocated"`
	Kind        uint32             `c:"kind,optional"` // of its objects: not in old recordings
	Size        int32              `c:"size"`          // bytes of an object
	Direct      inferior.Addr      `c:"direct"`
	DirectSize  int32              `c:"direct_size"` // objects
}

// free is what a free object starts with.
type free struct {
	Next inferior.Ptr[free] `c:"next"`
}

// Comm is MPIR_Comm, but for what a device adds.
type Comm struct {
	Handle      uint32             `c:"handle"`
	RefCount    int32              `c:"ref_count.v|ref_count"`
	Context     uint32             `c:"context_id"`     // that it sends with
	RecvContext uint32             `c:"recvcontext_id"` // that it receives with
	RemoteSize  int32              `c:"remote_size"`
	Rank        int32              `c:"rank"`
	LocalSize   int32              `c:"local_size"`
	Kind        uint32             `c:"comm_kind"`
	Name        inferior.Text      `c:"name"`
	LocalComm   inferior.Ptr[Comm] `c:"local_comm"`
	// Attributes is the first one, 0 if there is none.
	Attributes inferior.Ptr[attribute] `c:"attributes,optional"`
	Revoked    int32                   `c:"revoked,optional"` // not 0 after MPIX_Comm_revoke
	// Of ch3: 0 from a member's failure until MPIX_Comm_failure_ack, and the last one that this was told of.
	AnySource int32              `c:"dev.anysource_enabled,optional"`
	Acked     int32              `c:"dev.last_ack_rank,optional"`
	Hierarchy uint32             `c:"hierarchy_kind,optional"` // up to 4.3
	Attr      uint32             `c:"attr,optional"`           // from 5.0
	Next      inferior.Ptr[Comm] `c:"comm_next"`
	// What was attached to it, from 4.2 on, and the session that it was made of, if any.
	Attached inferior.Ptr[attached] `c:"bsendbuffer,optional"`
	Session  inferior.Ptr[session]  `c:"session_ptr,optional"`
	// NextTag is that of the messages of the next non-blocking collective.
	NextTag int32 `c:"next_sched_tag,optional"`
}

// Request is MPIR_Request, but for what a device adds.
type Request struct {
	Handle   uint32                `c:"handle"`
	RefCount int32                 `c:"ref_count.v|ref_count"`
	Kind     uint32                `c:"kind"`
	Pending  int32                 `c:"cc.v|cc"` // what must still happen before it is complete
	Comm     inferior.Ptr[Comm]    `c:"comm"`
	Source   int32                 `c:"status.MPI_SOURCE"`
	Tag      int32                 `c:"status.MPI_TAG"`
	CountLo  uint32                `c:"status.count_lo"`
	CountHi  uint32                `c:"status.count_hi_and_cancelled"`
	Real     inferior.Ptr[Request] `c:"u.persist.real_request"`
	Next     inferior.Ptr[Request] `c:"next"`
	// From 4.1, together with a kind of its own before MPI_Mprobe's.
	Enqueue inferior.Embedded[struct{}] `c:"u.enqueue,optional"`
	// Of a library with debugger support, the send's entry in the debugger's queue: up to 4.0, and from 4.1.
	Sendq inferior.Ptr[sendqItem] `c:"u.send.dbg_next|send,optional"`
	// What a persistent collective has started, 0 while it is not active.
	Started inferior.Ptr[Request] `c:"u.persist_coll.real_request,optional"`
	// What is to be counted down when it is complete: that of a partitioned one (MPIR_cc_t in src/include/mpir_request.h).
	Notifies inferior.Addr `c:"completion_notification,optional"`
	// Of a one-sided operation.
	Win inferior.Ptr[Win] `c:"u.rma.win,optional"`
}

// sendqItem is an entry of the debugger's queue of sends: an MPIR_Sendq or an MPIR_Debugq.
type sendqItem struct{}

type datatype struct {
	Handle    uint32                 `c:"handle"`
	RefCount  int32                  `c:"ref_count.v|ref_count"`
	Size      int64                  `c:"size"`
	Name      inferior.Text          `c:"name"`
	Extent    int64                  `c:"extent,optional"`
	LB        int64                  `c:"lb,optional"`
	Committed int32                  `c:"is_committed,optional"`
	Contents  inferior.Ptr[contents] `c:"contents,optional"` // 0 of a predefined type
}

type commList struct {
	Head inferior.Ptr[Comm] `c:"head"`
}

type sendq struct {
	Request inferior.Ptr[Request] `c:"sreq"`
	Tag     int32                 `c:"tag"`
	Rank    int32                 `c:"rank"`
	Context uint32                `c:"context_id"` // that the communicator sends with
	Next    inferior.Ptr[sendq]   `c:"next"`
}

type debugq struct {
	Request inferior.Ptr[Request] `c:"req"`
	Tag     int32                 `c:"tag"`
	Rank    int32                 `c:"rank"`
	Context uint32                `c:"context_id"` // that the communicator receives with
	Next    inferior.Ptr[debugq]  `c:"next"`
}

// bsend is the only buffer that a process has up to 4.1.
type bsend struct {
	Buffer inferior.Addr              `c:"buffer"`
	Size   uint64                     `c:"buffer_size"`
	Active inferior.Ptr[bufferedSend] `c:"active,optional"`
}

type pmap struct {
	UseMap bool          `c:"use_map"`
	Map    inferior.Addr `c:"u.map"` // of uint64_t
	Offset int64         `c:"u.stride.offset"`
	Stride int64         `c:"u.stride.stride"`
}

// groupTypes are bound where there is a Pmap.
type groupTypes struct {
	Groups inferior.Struct[commGroups] `c:"MPIR_Comm"`
	Group  inferior.Struct[group]      `c:"MPIR_Group"`
}

// commGroups are the groups of a communicator, which are always there from 5.0.
type commGroups struct {
	Local  inferior.Ptr[group] `c:"local_group"`
	Remote inferior.Ptr[group] `c:"remote_group"`
}

type group struct {
	Size int32                   `c:"size"`
	Pmap inferior.Embedded[pmap] `c:"pmap"`
}

// Types are the C types that any MPICH may have, whatever its device: pointers to structs as [inferior.Bind] binds.
func Types() []any { return append([]any{&types{}, &groupTypes{}}, (&objectTypes{}).each()...) }
