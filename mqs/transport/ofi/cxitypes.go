package ofi

import (
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// cxiTypes are those of the provider cxi (prov/cxi/include/cxip.h, 1.22 to 2.6), and what it has of the network card's
// own (struct c_event_target_long in cassini_user_defs.h).
type cxiTypes struct {
	EP       inferior.Struct[cxiEP]       `c:"cxip_ep"`
	Object   inferior.Struct[cxiObject]   `c:"cxip_ep_obj"`
	Receives inferior.Struct[cxiReceives] `c:"cxip_rxc_hpc"`
	Sends    inferior.Struct[cxiSends]    `c:"cxip_txc"`
	Request  inferior.Struct[cxiRequest]  `c:"cxip_req"`
	Message  inferior.Struct[cxiMessage]  `c:"cxip_ux_send"`
	Book     inferior.Struct[cxiBook]     `c:"cxip_av"`
	Address  inferior.Struct[cxiAddress]  `c:"cxip_av_entry"`
}

// cxiEP begins with the fid_ep that a program has.
type cxiEP struct {
	Class  Class                   `c:"ep.fid.fclass"`
	Object inferior.Ptr[cxiObject] `c:"ep_obj"`
}

// cxiObject is what an endpoint and its aliases have in common.
type cxiObject struct {
	Domain   inferior.Ptr[utilDomain]  `c:"domain"` // which the provider's begins with
	Book     inferior.Ptr[cxiBook]     `c:"av"`
	Protocol uint32                    `c:"protocol"`
	Receives inferior.Ptr[cxiReceives] `c:"rxc"`
	Sends    inferior.Ptr[cxiSends]    `c:"txc"`
	// Owner has the receives of an endpoint beneath another provider, from 2.0.
	Owner inferior.Addr `c:"owner_srx,optional"`
}

// cxiReceives is the receiving half of an endpoint of the protocol that MPIs use.
type cxiReceives struct {
	Object     inferior.Ptr[cxiObject]  `c:"base.ep_obj"`
	Domain     inferior.Ptr[utilDomain] `c:"base.domain"`
	State      uint32                   `c:"base.state"`
	Offloads   bool                     `c:"base.msg_offload"` // the network card matches
	PIDBits    uint8                    `c:"base.pid_bits"`
	Pool       inferior.Ptr[pool]       `c:"base.rx_evtq.req_pool"` // of requests
	Requests   link                     `c:"base.rx_evtq.req_list"`
	RequestsAt inferior.Embedded[link]  `c:"base.rx_evtq.req_list"`
	// Posted are the receives that the software matches, and Refused those that the network card had no room for and will
	// be given again.
	Posted    link                    `c:"sw_recv_queue"`
	PostedAt  inferior.Embedded[link] `c:"sw_recv_queue"`
	Refused   link                    `c:"replay_queue"`
	RefusedAt inferior.Embedded[link] `c:"replay_queue"`
	// Messages are those that the software has, and Coming those that it has while it takes over the card's.
	Messages    link                    `c:"sw_ux_list"`
	MessagesAt  inferior.Embedded[link] `c:"sw_ux_list"`
	Count       int32                   `c:"sw_ux_list_len"`
	Coming      link                    `c:"sw_pending_ux_list"`
	ComingAt    inferior.Embedded[link] `c:"sw_pending_ux_list"`
	ComingCount int32                   `c:"sw_pending_ux_list_len"`
}

// cxiSends is the sending half of an endpoint.
type cxiSends struct {
	Object     inferior.Ptr[cxiObject]  `c:"ep_obj"`
	Domain     inferior.Ptr[utilDomain] `c:"domain"`
	Pool       inferior.Ptr[pool]       `c:"tx_evtq.req_pool"`
	Requests   link                     `c:"tx_evtq.req_list"`
	RequestsAt inferior.Embedded[link]  `c:"tx_evtq.req_list"`
}

// cxiRequest is what a half of an endpoint is asked for, or what it asks of itself.
type cxiRequest struct {
	Links   link                    `c:"evtq_entry"`
	InList  inferior.Embedded[link] `c:"evtq_entry"`
	Owner   inferior.Addr           `c:"req_ctx"` // the half, of one that a program has asked for
	Context inferior.Addr           `c:"context"` // the MPI's
	Kind    uint32                  `c:"type"`
	Receive cxiReceive              `c:"recv"`
	InQueue inferior.Embedded[link] `c:"recv.rxc_entry"`
	Send    cxiSend                 `c:"send"`
}

// cxiReceive is of a request that is a receive.
type cxiReceive struct {
	Links      link                      `c:"rxc_entry"`
	Receives   inferior.Ptr[cxiReceives] `c:"rxc"`
	Buffer     inferior.Addr             `c:"recv_buf"`
	Length     uint32                    `c:"ulen"`
	IsTagged   bool                      `c:"tagged"`
	Tag        uint64                    `c:"tag"`
	Ignore     uint64                    `c:"ignore"`
	Match      uint32                    `c:"match_id"` // whom it receives from
	Flags      uint64                    `c:"flags"`
	HasMatched bool                      `c:"tgt_event"`
	IsWithCard bool                      `c:"hw_offloaded"`
	Parent     inferior.Ptr[cxiRequest]  `c:"parent"` // of a part of a receive of several messages
}

// cxiSend is of a request that is a send.
type cxiSend struct {
	Sends    inferior.Ptr[cxiSends] `c:"txc"`
	Buffer   inferior.Addr          `c:"buf"`
	Length   uint64                 `c:"len"`
	Peer     uint64                 `c:"dest_addr"`
	IsTagged bool                   `c:"tagged"`
	Tag      uint64                 `c:"tag"`
}

// cxiMessage is an unexpected message that the software has, with what the network card has said of it.
type cxiMessage struct {
	Links     link                      `c:"rxc_entry"`
	InList    inferior.Embedded[link]   `c:"rxc_entry"`
	Data      uint64                    `c:"put_ev.tgt_long.header_data"`
	Initiator uint32                    `c:"put_ev.tgt_long.initiator.initiator.process"`
	Bits      uint64                    `c:"put_ev.tgt_long.match_bits"`
	BitsAt    inferior.Embedded[uint64] `c:"put_ev.tgt_long.match_bits"`
	Length    uint32                    `c:"put_ev.tgt_long.rlength"`
	IsClaimed bool                      `c:"claimed"`
}

// cxiBook is the addresses of peers.
type cxiBook struct {
	Domain inferior.Ptr[utilDomain] `c:"domain"`
	First  inferior.Ptr[cxiAddress] `c:"av_entry_hash"`
	Pool   inferior.Ptr[pool]       `c:"av_entry_pool"`
	// IsSymmetric is true if peers call themselves by the addresses that they have here.
	IsSymmetric bool `c:"symmetric"`
}

// cxiAddress is one of a chain of addresses.
type cxiAddress struct {
	Prev  inferior.Ptr[cxiAddress] `c:"hh.prev"`
	Next  inferior.Ptr[cxiAddress] `c:"hh.next"`
	Key   inferior.Addr            `c:"hh.key"` // of the place itself
	Place inferior.Embedded[uint8] `c:"addr"`
	Addr  uint64                   `c:"fi_addr"`
}
