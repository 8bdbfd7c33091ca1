package openmpi

import (
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// types are the C types that the decoder reads, in Open MPI's own names. Which
// release spells a member how stands in the tags; where members are the same
// from 4.1 to 6.0 there is nothing to say.
type types struct {
	Object       inferior.Struct[object]       `c:"opal_object_t"`
	Class        inferior.Struct[class]        `c:"opal_class_t"`
	ListItem     inferior.Struct[listItem]     `c:"opal_list_item_t"`
	List         inferior.Struct[list]         `c:"opal_list_t"`
	PointerArray inferior.Struct[pointerArray] `c:"opal_pointer_array_t"`
	FreeList     inferior.Struct[freeList]     `c:"opal_free_list_t"`
	FreeListItem inferior.Struct[freeListItem] `c:"opal_free_list_item_t"`
	Component    inferior.Struct[component]    `c:"mca_base_component_t"`

	Request       inferior.Struct[anyRequest]    `c:"ompi_request_t,optional"`
	UCXModule     inferior.Struct[ucxModule]     `c:"mca_pml_ucx_module_t,optional"`
	UCXPersistent inferior.Struct[ucxPersistent] `c:"mca_pml_ucx_persistent_request_t,optional"`
	UCXConvertor  inferior.Struct[ucxConvertor]  `c:"mca_pml_ucx_convertor_t,optional"`
	Message       inferior.Struct[heldByProgram] `c:"ompi_message_t,optional"`
	Communicator  inferior.Struct[communicator]  `c:"ompi_communicator_t"`
	Group         inferior.Struct[group]         `c:"ompi_group_t"`
	Proc          inferior.Struct[proc]          `c:"ompi_proc_t"`
	Datatype      inferior.Struct[datatype]      `c:"ompi_datatype_t"`

	// ob1 is a library of its own up to 4.1, and loaded only where it is selected.
	SendRequest inferior.Struct[sendRequest] `c:"mca_pml_ob1_send_request_t,optional"`
	RecvRequest inferior.Struct[recvRequest] `c:"mca_pml_ob1_recv_request_t,optional"`
	RecvFrag    inferior.Struct[recvFrag]    `c:"mca_pml_ob1_recv_frag_t,optional"`
	Segment     inferior.Struct[segment]     `c:"mca_btl_base_segment_t,optional"`
	Header      inferior.Struct[header]      `c:"mca_pml_ob1_hdr_t,optional"`
	// From 5.0, in front of a message's own header while its communicator has no common index.
	CIDHeader inferior.Struct[struct{}] `c:"mca_pml_ob1_cid_hdr_t,optional"`
	Comm      inferior.Struct[comm]     `c:"mca_pml_ob1_comm_t,optional"`
	CommProc  inferior.Struct[commProc] `c:"mca_pml_ob1_comm_proc_t,optional"`
}

// class is what every object points at: its type, by name and size.
type class struct {
	Name   inferior.Text `c:"cls_name"`
	SizeOf uint64        `c:"cls_sizeof"`
}

type listItem struct {
	Next inferior.Addr `c:"opal_list_next"`
	Prev inferior.Addr `c:"opal_list_prev"`
}

type list struct {
	Sentinel inferior.Place `c:"opal_list_sentinel"`
	First    inferior.Addr  `c:"opal_list_sentinel.opal_list_next"`
	Last     inferior.Addr  `c:"opal_list_sentinel.opal_list_prev"`
}

type pointerArray struct {
	Size int64         `c:"size"`
	Addr inferior.Addr `c:"addr"`
}

type freeList struct {
	Allocations  list          `c:"fl_allocations"`
	NumAllocated uint64        `c:"fl_num_allocated"`
	NumPerAlloc  uint64        `c:"fl_num_per_alloc"`
	FragSize     uint64        `c:"fl_frag_size"`
	Alignment    uint64        `c:"fl_frag_alignment"`
	FragClass    inferior.Addr `c:"fl_frag_class"`
}

type freeListItem struct{}

// object is what every Open MPI object starts with.
type object struct {
	Class inferior.Addr `c:"obj_class"`
}

type component struct {
	Name inferior.Text `c:"mca_component_name"`
}

type communicator struct {
	// 4.1 keeps the characters in place, 5.0 and later a pointer to them.
	Name inferior.Text `c:"c_name"`
	// What tells communicators of a process apart: 5.0 has an index beside the extended context id.
	Index uint64 `c:"c_index|c_contextid"`
	// What all members call it, from 5.0; before, that is the index.
	ContextBase uint64        `c:"c_contextid.cid_base,optional"`
	ContextSub  uint64        `c:"c_contextid.cid_sub.u64,optional"`
	MyRank      int32         `c:"c_my_rank"`
	Flags       uint32        `c:"c_flags"`
	LocalGroup  inferior.Addr `c:"c_local_group"`
	RemoteGroup inferior.Addr `c:"c_remote_group"`
	LocalComm   inferior.Addr `c:"c_local_comm"`
	// What each peer calls it, where that may not be the same, from 5.0: 32 bits each, 0 if not asked yet.
	PeerIndices inferior.Addr `c:"c_index_vec,optional"`
	PMLComm     inferior.Addr `c:"c_pml_comm"`
}

type group struct {
	ProcCount int32         `c:"grp_proc_count"`
	MyRank    int32         `c:"grp_my_rank"`
	Flags     uint32        `c:"grp_flags"`
	Procs     inferior.Addr `c:"grp_proc_pointers"`
}

type proc struct {
	JobID uint32 `c:"super.proc_name.jobid"`
	VPID  uint32 `c:"super.proc_name.vpid"`
	// What the layers below keep for it, among them pml ucx its endpoint.
	Endpoints inferior.Place `c:"proc_endpoints,optional"`
}

// ucxModule is the only object of its kind, ompi_pml_ucx.
type ucxModule struct {
	Persistent inferior.Place `c:"persistent_reqs"` // an opal_free_list_t
}

// ucxConvertor is what pml ucx keeps of a message whose data is not contiguous.
type ucxConvertor struct {
	Datatype inferior.Addr `c:"datatype"`
	Buffer   inferior.Addr `c:"opal_conv.pBaseBuf"`
	Count    uint64        `c:"opal_conv.count"`
}

// heldByProgram is an MPI_Message: one that MPI_Mprobe has taken.
type heldByProgram struct {
	Next inferior.Addr `c:"super.super.opal_list_next"` // NULL while the program has it
	Comm inferior.Addr `c:"comm"`
	// What the pml has of it: pml ucx UCX's own.
	Taken inferior.Addr `c:"req_ptr"`
}

// ucxPersistent is a persistent request of pml ucx. Each start makes a request of
// UCX, which is gone when it is complete.
type ucxPersistent struct {
	Source    int32         `c:"ompi.req_status.MPI_SOURCE"`
	StatusTag int32         `c:"ompi.req_status.MPI_TAG"`
	Cancelled bool          `c:"ompi.req_status._cancelled"`
	Received  uint64        `c:"ompi.req_status._ucount"`
	Complete  uint64        `c:"ompi.req_complete"`
	Comm      inferior.Addr `c:"ompi.req_mpi_object.comm"`
	State     int32         `c:"ompi.req_state"`
	Started   inferior.Addr `c:"tmp_req"`
	Flags     uint32        `c:"flags"`
	Buffer    inferior.Addr `c:"buffer"`
	Count     uint64        `c:"count"`
	Datatype  inferior.Addr `c:"ompi_datatype"`
	Tag       uint64        `c:"tag"`
	Mode      int32         `c:"send.mode"`
	Endpoint  inferior.Addr `c:"send.ep"`
	Mask      uint64        `c:"recv.tag_mask"`
}

type datatype struct {
	Name inferior.Text `c:"name"`
	Size uint64        `c:"super.size"`
}

// anyRequest is what requests of all kinds start with.
type anyRequest struct {
	Complete uint64        `c:"req_complete"`
	Comm     inferior.Addr `c:"req_mpi_object.comm,optional"`
}

// request is mca_pml_base_request_t.
type request struct {
	Next        inferior.Addr `c:"req_ompi.super.super.opal_list_next"`
	Source      int32         `c:"req_ompi.req_status.MPI_SOURCE"`
	StatusTag   int32         `c:"req_ompi.req_status.MPI_TAG"`
	Cancelled   bool          `c:"req_ompi.req_status._cancelled"`
	Received    uint64        `c:"req_ompi.req_status._ucount"`
	Complete    uint64        `c:"req_ompi.req_complete"`
	State       int32         `c:"req_ompi.req_state"`
	Persistent  bool          `c:"req_ompi.req_persistent"`
	PMLComplete bool          `c:"req_pml_complete"`
	Type        int32         `c:"req_type"`
	FreeCalled  bool          `c:"req_free_called"`
	Comm        inferior.Addr `c:"req_comm"`
	Datatype    inferior.Addr `c:"req_datatype"`
	Addr        inferior.Addr `c:"req_addr"`
	Count       uint64        `c:"req_count"`
	Peer        int32         `c:"req_peer"`
	Tag         int32         `c:"req_tag"`
	Sequence    uint64        `c:"req_sequence"`
}

type sendRequest struct {
	Base        request       `c:"req_send.req_base"`
	Addr        inferior.Addr `c:"req_send.req_addr"`
	BytesPacked uint64        `c:"req_send.req_bytes_packed"`
	Mode        int32         `c:"req_send.req_send_mode"`
	// The receiver's request, once it has answered a rendezvous.
	Recv inferior.Addr `c:"req_recv.pval"`
}

type recvRequest struct {
	Base          request `c:"req_recv.req_base"`
	BytesPacked   uint64  `c:"req_recv.req_bytes_packed"`
	MatchReceived bool    `c:"req_match_received"`
}

type recvFrag struct {
	Next inferior.Addr `c:"super.super.opal_list_next"`
	// Those that follow it in sequence, while it can't be matched.
	Range    inferior.Addr  `c:"range"`
	Header   inferior.Place `c:"hdr"`
	Segments inferior.Place `c:"segments"`
}

type segment struct {
	Addr inferior.Addr `c:"seg_addr.pval"`
	Len  uint64        `c:"seg_len"`
}

type header struct {
	Type   uint8  `c:"hdr_common.hdr_type"`
	Source int32  `c:"hdr_match.hdr_src"`
	Tag    int32  `c:"hdr_match.hdr_tag"`
	Seq    uint16 `c:"hdr_match.hdr_seq"`
	// The header on the wire ends with hdr_seq, or with the padding of
	// heterogeneous and (5.0 and later) debug builds; not where the struct ends.
	SeqAt     inferior.Place `c:"hdr_match.hdr_seq"`
	PaddingAt inferior.Place `c:"hdr_match.hdr_padding,optional"`
	// Of rendezvous headers only.
	MsgLength uint64 `c:"hdr_rndv.hdr_msg_length"`
}

type comm struct {
	// Absent in a library built with MCA_PML_OB1_CUSTOM_MATCH.
	WildReceives inferior.Place `c:"wild_receives,optional"`
	Procs        inferior.Addr  `c:"procs"`
	NumProcs     uint64         `c:"num_procs"`
}

type commProc struct {
	// What the next message from the peer will be numbered; the first one is 1.
	ExpectedSequence uint16         `c:"expected_sequence,optional"`
	ExpectedAt       inferior.Place `c:"expected_sequence,optional"`
	SendSequence     uint32         `c:"send_sequence"`
	FragsCantMatch   inferior.Addr  `c:"frags_cant_match"`
	SpecificReceives inferior.Place `c:"specific_receives,optional"`
	UnexpectedFrags  inferior.Place `c:"unexpected_frags,optional"`
}
