package ofi

import (
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// opxTypes are those of the provider opx (prov/opx/include/rdma/opx, 2.1 to 2.5: before, and after, addresses are others).
type opxTypes struct {
	EP       inferior.Struct[opxEP]       `c:"fi_opx_ep"`
	Domain   inferior.Struct[opxDomain]   `c:"fi_opx_domain"`
	Book     inferior.Struct[opxBook]     `c:"fi_opx_av"`
	Address  inferior.Struct[opxAddress]  `c:"fi_opx_addr"`
	Receives inferior.Struct[opxReceives] `c:"fi_opx_ep_rx"`
	Hashed   inferior.Struct[opxHashed]   `c:"fi_opx_match_ue_hash"`
	Messages inferior.Struct[opxMessages] `c:"fi_opx_hfi1_ue_packet_slist"`
	Packet   inferior.Struct[opxPacket]   `c:"fi_opx_hfi1_ue_packet"`
	Context  inferior.Struct[opxContext]  `c:"opx_context"`
}

// opxEP begins with the fid_ep that a program has.
type opxEP struct {
	Class    Class                     `c:"ep_fid.fid.fclass"`
	Domain   inferior.Ptr[opxDomain]   `c:"domain"`
	Receives inferior.Ptr[opxReceives] `c:"rx"`
	Book     inferior.Ptr[opxBook]     `c:"av"`
}

type opxDomain struct {
	Class Class `c:"domain_fid.fid.fclass"`
}

// opxBook is the addresses of peers: numbers of a table, or what stands there.
type opxBook struct {
	Class  Class                    `c:"av_fid.fid.fclass"`
	Domain inferior.Ptr[opxDomain]  `c:"domain"`
	Type   int32                    `c:"type"`
	Count  uint32                   `c:"addr_count"`
	Table  inferior.Ptr[opxAddress] `c:"table_addr"`
}

// opxAddress is a peer in 64 bits, of which these tell from whom a message is.
type opxAddress struct {
	Context uint16 `c:"hfi1_subctxt_rx"`
	Node    uint32 `c:"lid"`
}

// opxReceives is the receiving half of an endpoint. It has two queues, the first of which is of tagged messages: a list of
// messages and, behind it, one of receives.
type opxReceives struct {
	Domain inferior.Ptr[opxDomain]        `c:"domain"`
	Queues inferior.Embedded[opxMessages] `c:"queue"`
	Hashed inferior.Ptr[opxHashed]        `c:"match_ue_tag_hash"` // once there are many
	Pool   inferior.Ptr[pool]             `c:"ctx_pool"`
	Kept   inferior.Ptr[pool]             `c:"ue_packet_pool"`
}

// opxHashed are the messages for which the first list has no room, in a list and in tables.
type opxHashed struct {
	All inferior.Embedded[opxMessages] `c:"ue"`
}

// opxMessages is a list of messages.
type opxMessages struct {
	First inferior.Ptr[opxPacket] `c:"head"`
	Last  inferior.Ptr[opxPacket] `c:"tail"`
	Count uint64                  `c:"length"`
}

// opxPacket is what has come of a message first.
type opxPacket struct {
	Next    inferior.Ptr[opxPacket] `c:"next"`
	Prev    inferior.Ptr[opxPacket] `c:"prev"`
	Tag     uint64                  `c:"tag"`
	Node    uint32                  `c:"lid"`
	Context uint16                  `c:"subctxt_rx|rx"`
	Op      uint8                   `c:"hdr.bth.opcode"`
	SentTag uint64                  `c:"hdr.match.ofi_tag"`
	Data    uint32                  `c:"hdr.match.ofi_data"`
	Words   uint16                  `c:"hdr.send.payload_qws_total"`
	// From 2.2 on, what Short and Tail are stands behind other bits.
	Short      uint8  `c:"hdr.inject.message_length,optional"`
	Tail       uint8  `c:"hdr.send.xfer_bytes_tail,optional"`
	ShortAbove uint8  `c:"hdr.inject.subctxt_message_length,optional"`
	TailAbove  uint8  `c:"hdr.send.subctxt_xfer_bytes_tail,optional"`
	Long       uint64 `c:"hdr.rendezvous.message_length"`
	// Ready came with other numbers of what is in front of data, with 2.4.
	Ready inferior.Embedded[uint8] `c:"hdr.rzv_rts,optional"`
}

// opxContext is a receive.
type opxContext struct {
	Next    inferior.Ptr[opxContext] `c:"next"`
	Length  uint64                   `c:"len"`
	Buffer  inferior.Addr            `c:"buf"`
	Peer    uint64                   `c:"src_addr"`
	Tag     uint64                   `c:"tag"`
	Ignore  uint64                   `c:"ignore"`
	Left    uint64                   `c:"byte_counter"`         // not set before it has matched
	Context inferior.Addr            `c:"err_entry.op_context"` // the MPI's
}
