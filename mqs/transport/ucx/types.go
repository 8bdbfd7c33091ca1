package ucx

import (
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// types are the C types that the reader reads, in UCX's own names. Which release
// spells a member how stands in the tags; where members are the same from 1.11 to
// 1.23 there is nothing to say.
type types struct {
	Link     inferior.Struct[link]        `c:"ucs_list_link_t"`
	Node     inferior.Struct[node]        `c:"ucs_vfs_node_t"`
	Worker   inferior.Struct[worker]      `c:"ucp_worker_t"`
	Match    inferior.Struct[tagMatch]    `c:"ucp_tag_match_t"`
	Queue    inferior.Struct[queue]       `c:"ucp_request_queue_t"`
	Request  inferior.Struct[request]     `c:"ucp_request_t"`
	Desc     inferior.Struct[recvDesc]    `c:"ucp_recv_desc_t"`
	First    inferior.Struct[firstHeader] `c:"ucp_eager_first_hdr_t"`
	RTS      inferior.Struct[rtsHeader]   `c:"ucp_rndv_rts_hdr_t"`
	Endpoint inferior.Struct[endpoint]    `c:"ucp_ep_t"`
	Pool     inferior.Struct[pool]        `c:"ucs_mpool_t"`
	PoolData inferior.Struct[poolData]    `c:"ucs_mpool_data_t"`
	Chunk    inferior.Struct[chunk]       `c:"ucs_mpool_chunk_t"`
	// New protocols, which are absent before 1.11 and switched off up to 1.15.
	ProtoConfig inferior.Struct[protoConfig] `c:"ucp_proto_config_t,optional"`
	Proto       inferior.Struct[proto]       `c:"ucp_proto_t,optional"`
}

// link is ucs_list_link_t, an element of a ring.
type link struct {
	Prev inferior.Ptr[link] `c:"prev"`
	Next inferior.Ptr[link] `c:"next"`
}

// node is an object in the tree that names everything that UCX has made, for
// files that show it (ucs/vfs/base/vfs_obj.c).
type node struct {
	Obj      inferior.Addr           `c:"obj"` // of any type
	Parent   inferior.Ptr[node]      `c:"parent"`
	Children link                    `c:"children"`
	Ring     inferior.Embedded[link] `c:"children"`
	List     link                    `c:"list"`
	InList   inferior.Embedded[link] `c:"list"`
	ArgPtr   inferior.Addr           `c:"arg_ptr,optional"` // to a member of some object
	Path     inferior.Text           `c:"path"`
}

// worker is ucp_worker_t. It is far larger than what is wanted of it, so it is never read as a whole.
type worker struct {
	Requests    inferior.Embedded[pool]     `c:"req_mp"`
	Match       inferior.Embedded[tagMatch] `c:"tm"`
	AddressName inferior.Text               `c:"address_name,optional"`
	NumAllEPs   uint64                      `c:"num_all_eps,optional"`
}

type tagMatch struct {
	Wildcard     inferior.Embedded[queue] `c:"expected.wildcard"`
	Hash         inferior.Ptr[queue]      `c:"expected.hash"` // an array
	Sequence     uint64                   `c:"expected.sn"`
	Unexpected   link                     `c:"unexpected.all"`
	UnexpectedAt inferior.Embedded[link]  `c:"unexpected.all"`
	Offload      inferior.Addr            `c:"offload.iface"`
}

// queue is a ucp_request_queue_t: posted receives of one bucket, or those with a mask.
type queue struct {
	Head inferior.Ptr[queued] `c:"queue.head"`
	// Tail is where the pointer to the next element will stand: in the last element, or Head itself.
	Tail   inferior.Ptr[inferior.Ptr[queued]]      `c:"queue.ptail"`
	HeadAt inferior.Embedded[inferior.Ptr[queued]] `c:"queue.head"`
}

// queued is a ucs_queue_elem_t, which is nothing but a pointer to the next one.
type queued struct{}

type request struct {
	Status   int8          `c:"status"`
	Flags    uint32        `c:"flags"`
	ID       uint64        `c:"id"`
	UserData inferior.Addr `c:"user_data"` // the MPI's

	Next       inferior.Ptr[queued]      `c:"recv.queue.next"`
	InQueue    inferior.Embedded[queued] `c:"recv.queue"`
	RecvBuffer inferior.Addr             `c:"recv.buffer|recv.dt_iter.type.contig.buffer"`
	RecvType   uint64                    `c:"recv.datatype|recv.dt_iter.dt_class"` // the class in the low bits
	RecvLength uint64                    `c:"recv.length|recv.dt_iter.length"`
	RecvState  inferior.Addr             `c:"recv.state.dt.generic.state|recv.dt_iter.type.generic.state,optional"` // the MPI's
	Worker     inferior.Ptr[worker]      `c:"recv.worker"`
	RecvTag    uint64                    `c:"recv.tag.tag"`
	RecvMask   uint64                    `c:"recv.tag.tag_mask"`
	RecvSeq    uint64                    `c:"recv.tag.sn"`
	RecvDone   inferior.Addr             `c:"recv.tag.cb"`
	SenderTag  uint64                    `c:"recv.tag.info.sender_tag"`
	InfoLength uint64                    `c:"recv.tag.info.length"`

	Endpoint   inferior.Ptr[endpoint] `c:"send.ep"`
	SendBuffer inferior.Addr          `c:"send.buffer"`
	SendType   uint64                 `c:"send.datatype"`
	SendLength uint64                 `c:"send.length"`
	SendState  inferior.Addr          `c:"send.state.dt.dt.generic.state,optional"` // the MPI's
	SendDone   inferior.Addr          `c:"send.cb"`
	SendTag    uint64                 `c:"send.msg_proto.tag"`
	// Of new protocols, which keep what they send elsewhere.
	Config     inferior.Ptr[protoConfig] `c:"send.proto_config,optional"`
	IterType   uint64                    `c:"send.state.dt_iter.dt_class,optional"`
	IterBuffer inferior.Addr             `c:"send.state.dt_iter.type.contig.buffer,optional"`
	IterLength uint64                    `c:"send.state.dt_iter.length,optional"`
	IterState  inferior.Addr             `c:"send.state.dt_iter.type.generic.state,optional"` // the MPI's
}

// recvDesc stands in front of the header of a message that has come.
type recvDesc struct {
	Links         inferior.Embedded[link] `c:"tag_list"` // two: of its bucket, and of all messages
	Length        uint32                  `c:"length"`   // of header and payload
	PayloadOffset uint32                  `c:"payload_offset"`
	Flags         uint16                  `c:"flags"`
}

type firstHeader struct {
	Length uint64 `c:"total_len"`
}

type rtsHeader struct {
	Request uint64 `c:"sreq.req_id"`
	Length  uint64 `c:"size"`
}

type endpoint struct {
	Worker inferior.Ptr[worker] `c:"worker"`
}

type pool struct {
	Data inferior.Ptr[poolData] `c:"data"`
}

type poolData struct {
	ElemSize  uint64              `c:"elem_size"`
	Alignment uint64              `c:"alignment"`
	Chunks    inferior.Ptr[chunk] `c:"chunks"`
	Ops       inferior.Addr       `c:"ops"`
}

type chunk struct {
	Next  inferior.Ptr[chunk] `c:"next"`
	Elems inferior.Addr       `c:"elems"` // each a word for the pool, and a request
	Num   uint32              `c:"num_elems"`
}

type protoConfig struct {
	Proto inferior.Ptr[proto] `c:"proto"`
	Op    uint8               `c:"select_param.op_id_flags|select_param.op_id"`
}

// proto is a protocol, of which there is one object each: "egr/single/bcopy".
type proto struct {
	Name inferior.Text `c:"name"`
}
