package ompi

import "github.com/mpi-queues/mpi-queues/mqs/inferior"

// types are the C types that are read of every process, in Open MPI's own names. Which
// release spells a member how stands in the tags; where members are the same
// from 4.0 to 6.0 there is nothing to say.
type types struct {
	Object       inferior.Struct[Object]       `c:"opal_object_t"`
	Class        inferior.Struct[Class]        `c:"opal_class_t"`
	ListItem     inferior.Struct[ListItem]     `c:"opal_list_item_t"`
	List         inferior.Struct[List]         `c:"opal_list_t"`
	PointerArray inferior.Struct[pointerArray] `c:"opal_pointer_array_t"`
	FreeList     inferior.Struct[FreeList]     `c:"opal_free_list_t"`
	FreeListItem inferior.Struct[struct{}]     `c:"opal_free_list_item_t"`
	MCAComponent inferior.Struct[mcaComponent] `c:"mca_base_component_t"`

	Request      inferior.Struct[Request]      `c:"ompi_request_t,optional"`
	Message      inferior.Struct[Message]      `c:"ompi_message_t,optional"`
	Communicator inferior.Struct[Communicator] `c:"ompi_communicator_t"`
	Group        inferior.Struct[Group]        `c:"ompi_group_t"`
	Proc         inferior.Struct[Proc]         `c:"ompi_proc_t"`
	Datatype     inferior.Struct[Datatype]     `c:"ompi_datatype_t"`
}

// Object is what every object of Open MPI starts with.
type Object struct {
	Class inferior.Ptr[Class] `c:"obj_class"`
}

// Class is what every object points at: its type, by name and size in bytes.
type Class struct {
	Name   inferior.Text `c:"cls_name"`
	SizeOf uint64        `c:"cls_sizeof"`
}

// ListItem is what every element of a [List] starts with.
type ListItem struct {
	Next inferior.Ptr[ListItem] `c:"opal_list_next"`
	Prev inferior.Ptr[ListItem] `c:"opal_list_prev"`
}

// List is a ring that its sentinel is a part of.
type List struct {
	Sentinel inferior.Embedded[ListItem] `c:"opal_list_sentinel"`
	First    inferior.Ptr[ListItem]      `c:"opal_list_sentinel.opal_list_next"`
	Last     inferior.Ptr[ListItem]      `c:"opal_list_sentinel.opal_list_prev"`
}

type pointerArray struct {
	Size int64         `c:"size"`
	Addr inferior.Addr `c:"addr"` // of pointers to anything
	// Free is how many of its places hold nothing.
	Free int64 `c:"number_free,optional"`
}

// FreeList hands out objects of one class, used or not: its allocations hold all of them.
type FreeList struct {
	Allocations  List                `c:"fl_allocations"`
	NumAllocated uint64              `c:"fl_num_allocated"`
	NumPerAlloc  uint64              `c:"fl_num_per_alloc"`
	FragSize     uint64              `c:"fl_frag_size"`
	Alignment    uint64              `c:"fl_frag_alignment"`
	FragClass    inferior.Ptr[Class] `c:"fl_frag_class"`
}

type mcaComponent struct {
	Name inferior.Text `c:"mca_component_name"`
}

// Request is what requests of all kinds start with.
type Request struct {
	Complete uint64                     `c:"req_complete"`
	Comm     inferior.Ptr[Communicator] `c:"req_mpi_object.comm,optional"`
}

// Message is an MPI_Message: one that MPI_Mprobe has taken.
type Message struct {
	Next inferior.Ptr[ListItem]     `c:"super.super.opal_list_next"` // 0 while the program has it
	Comm inferior.Ptr[Communicator] `c:"comm"`
	// Taken is what the pml has of it.
	Taken        inferior.Addr `c:"req_ptr"`
	FortranIndex int32         `c:"m_f_to_c_index,optional"`
	Source       int32         `c:"peer,optional"`
	Length       uint64        `c:"count,optional"` // bytes
}

// Communicator is an ompi_communicator_t.
type Communicator struct {
	// 4.1 keeps the characters in place, 5.0 and later a pointer to them.
	Name inferior.Text `c:"c_name"`
	// What tells communicators of a process apart: 5.0 has an index beside the extended context id.
	Index uint64 `c:"c_index|c_contextid"`
	// What all members call it, from 5.0; before, that is the index.
	ContextBase uint64                     `c:"c_contextid.cid_base,optional"`
	ContextSub  uint64                     `c:"c_contextid.cid_sub.u64,optional"`
	MyRank      int32                      `c:"c_my_rank"`
	Flags       uint32                     `c:"c_flags"`
	LocalGroup  inferior.Ptr[Group]        `c:"c_local_group"`
	RemoteGroup inferior.Ptr[Group]        `c:"c_remote_group"`
	LocalComm   inferior.Ptr[Communicator] `c:"c_local_comm"`
	// What each peer calls it, where that may not be the same, from 5.0: 0 if not asked yet.
	PeerIndices inferior.Ptr[uint32] `c:"c_index_vec,optional"`
	// Lock is an object too, whose class stays when the communicator has been freed.
	Lock         inferior.Embedded[Object] `c:"c_lock,optional"`
	FortranIndex int32                     `c:"c_f_to_c_index,optional"`
	Topology     inferior.Ptr[topoModule]  `c:"c_topo,optional"`
	// Of libraries built to go on after failures, from 5.0: whether MPI_Comm_revoke has been called.
	Revoked inferior.Embedded[bool] `c:"comm_revoked,optional"`
	// NonBlockingTag is the tag that the next non-blocking collective gets.
	NonBlockingTag int32 `c:"c_nbc_tag,optional"`
	// PMLComm is what the pml keeps of it, of which each has a type of its own.
	PMLComm inferior.Addr `c:"c_pml_comm"`
}

// Group is an ompi_group_t.
type Group struct {
	ProcCount    int32                            `c:"grp_proc_count"`
	MyRank       int32                            `c:"grp_my_rank"`
	Flags        uint32                           `c:"grp_flags"`
	Procs        inferior.Ptr[inferior.Ptr[Proc]] `c:"grp_proc_pointers"`
	FortranIndex int32                            `c:"grp_f_to_c_index,optional"`
}

// Proc is an ompi_proc_t, a process. In a group something else can stand in the place of a pointer to it:
// see [IsSentinel].
type Proc struct {
	JobID uint32 `c:"super.proc_name.jobid"`
	VPID  uint32 `c:"super.proc_name.vpid"`
	// Endpoints are pointers to what the layers below keep of the process, up to the object's end.
	Endpoints inferior.Embedded[inferior.Addr] `c:"proc_endpoints,optional"`
}

// Datatype is an ompi_datatype_t.
type Datatype struct {
	Name         inferior.Text `c:"name"`
	Size         uint64        `c:"super.size"` // bytes
	Flags        uint32        `c:"super.flags,optional"`
	LowerBound   int64         `c:"super.lb,optional"` // bytes
	UpperBound   int64         `c:"super.ub,optional"`
	FortranIndex int32         `c:"d_f_to_c_index,optional"`
	// Args is how it was built, 0 of a predefined one.
	Args inferior.Ptr[datatypeArgs] `c:"args,optional"`
}
