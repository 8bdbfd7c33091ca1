package ob1

import (
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
)

// types are the C types of ob1 and of what it stands on, in Open MPI's own names, which are the same from
// 4.0 to 6.0. ob1 is a library of its own up to 4.1, and loaded only where it is selected.
type types struct {
	SendRequest inferior.Struct[sendRequest] `c:"mca_pml_ob1_send_request_t"`
	RecvRequest inferior.Struct[recvRequest] `c:"mca_pml_ob1_recv_request_t"`
	RecvFrag    inferior.Struct[recvFrag]    `c:"mca_pml_ob1_recv_frag_t"`
	Segment     inferior.Struct[segment]     `c:"mca_btl_base_segment_t"`
	Header      inferior.Struct[header]      `c:"mca_pml_ob1_hdr_t"`
	// From 5.0, in front of a message's own header while its communicator has no common index.
	CIDHeader inferior.Struct[struct{}] `c:"mca_pml_ob1_cid_hdr_t,optional"`
	Comm      inferior.Struct[comm]     `c:"mca_pml_ob1_comm_t"`
	CommProc  inferior.Struct[commProc] `c:"mca_pml_ob1_comm_proc_t"`
	Module    inferior.Struct[module]   `c:"mca_pml_ob1_t,optional"`
}

// request is mca_pml_base_request_t.
type request struct {
	Next        inferior.Ptr[ompi.ListItem]     `c:"req_ompi.super.super.opal_list_next"`
	Source      int32                           `c:"req_ompi.req_status.MPI_SOURCE"`
	StatusTag   int32                           `c:"req_ompi.req_status.MPI_TAG"`
	Cancelled   bool                            `c:"req_ompi.req_status._cancelled"`
	Received    uint64                          `c:"req_ompi.req_status._ucount"`
	Complete    uint64                          `c:"req_ompi.req_complete"`
	State       int32                           `c:"req_ompi.req_state"`
	Persistent  bool                            `c:"req_ompi.req_persistent"`
	PMLComplete bool                            `c:"req_pml_complete"`
	Type        int32                           `c:"req_type"`
	FreeCalled  bool                            `c:"req_free_called"`
	Comm        inferior.Ptr[ompi.Communicator] `c:"req_comm"`
	Datatype    inferior.Ptr[ompi.Datatype]     `c:"req_datatype"`
	Addr        inferior.Addr                   `c:"req_addr"`
	Count       uint64                          `c:"req_count"`
	Peer        int32                           `c:"req_peer"`
	Tag         int32                           `c:"req_tag"`
	Sequence    uint64                          `c:"req_sequence"`
}

// module is what ob1 keeps of the whole process.
type module struct {
	// Acknowledgements and the like, mca_pml_ob1_pckt_pending_t, that it has not been able to send.
	PacketsPending inferior.Embedded[ompi.List] `c:"pckt_pending"`
}

type sendRequest struct {
	Base        request       `c:"req_send.req_base"`
	Addr        inferior.Addr `c:"req_send.req_addr"`
	BytesPacked uint64        `c:"req_send.req_bytes_packed"`
	Mode        int32         `c:"req_send.req_send_mode"`
	// The receiver's request, once it has answered a rendezvous.
	Recv inferior.Addr `c:"req_recv.pval"`
	// What is yet to be sent of it, for lack of resources (isUnsent).
	SendPending int32 `c:"req_pending,optional"`
}

type recvRequest struct {
	Base          request `c:"req_recv.req_base"`
	BytesPacked   uint64  `c:"req_recv.req_bytes_packed"`
	MatchReceived bool    `c:"req_match_received"`
}

type recvFrag struct {
	Next inferior.Ptr[ompi.ListItem] `c:"super.super.opal_list_next"`
	// Those that follow it in sequence, while it can't be matched.
	Range    inferior.Ptr[recvFrag]     `c:"range"`
	Header   inferior.Embedded[header]  `c:"hdr"`
	Segments inferior.Embedded[segment] `c:"segments"`
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
	// Padding of heterogeneous and (5.0 and later) debug builds.
	Padding inferior.Embedded[[2]byte] `c:"hdr_match.hdr_padding,optional"`
	// Of rendezvous headers only.
	MsgLength uint64 `c:"hdr_rndv.hdr_msg_length"`
}

type comm struct {
	// Absent in a library built with MCA_PML_OB1_CUSTOM_MATCH.
	WildReceives inferior.Embedded[ompi.List]         `c:"wild_receives,optional"`
	Procs        inferior.Ptr[inferior.Ptr[commProc]] `c:"procs"`
	NumProcs     uint64                               `c:"num_procs"`
}

type commProc struct {
	// What the next message from the peer will be numbered; the first one is 1.
	ExpectedSequence uint16                       `c:"expected_sequence,optional"`
	SendSequence     uint32                       `c:"send_sequence"`
	FragsCantMatch   inferior.Ptr[recvFrag]       `c:"frags_cant_match"`
	SpecificReceives inferior.Embedded[ompi.List] `c:"specific_receives,optional"`
	UnexpectedFrags  inferior.Embedded[ompi.List] `c:"unexpected_frags,optional"`
}
