package ofi

import (
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// xnetTypes are those of the provider tcp (prov/tcp/src/xnet.h, xnet_proto.h, 2.1).
type xnetTypes struct {
	EP       inferior.Struct[xnetRDM]    `c:"xnet_rdm"`
	Domain   inferior.Struct[xnetDomain] `c:"xnet_domain"`
	SRX      inferior.Struct[xnetSRX]    `c:"xnet_srx"`
	Saved    inferior.Struct[xnetSaved]  `c:"xnet_saved_msg"`
	Entry    inferior.Struct[xnetEntry]  `c:"xnet_xfer_entry"`
	Socket   inferior.Struct[xnetSocket] `c:"xnet_ep"`
	Conn     inferior.Struct[xnetConn]   `c:"xnet_conn"`
	PeerAddr inferior.Struct[peerAddr]   `c:"util_peer_addr"`
	Answer   inferior.Struct[xnetAnswer] `c:"ofi_idx_entry"`
}

// xnetRDM begins with a util_ep.
type xnetRDM struct {
	Domain     inferior.Ptr[xnetDomain]  `c:"util_ep.domain"`
	SRX        inferior.Ptr[xnetSRX]     `c:"srx"`
	Conns      inferior.Embedded[uint64] `c:"conn_idx_map.chunk"`
	ConnCounts inferior.Embedded[int32]  `c:"conn_idx_map.count"`
}

// xnetDomain begins with a util_domain.
type xnetDomain struct {
	// Waiting are the sockets that hold a message which nobody receives and which is not saved, and Saved the peers of
	// whom messages are.
	Waiting   link                    `c:"progress.unexp_tag_list"`
	WaitingAt inferior.Embedded[link] `c:"progress.unexp_tag_list"`
	Saved     link                    `c:"progress.saved_tag_list"`
	SavedAt   inferior.Embedded[link] `c:"progress.saved_tag_list"`
	Pool      inferior.Ptr[pool]      `c:"progress.xfer_pool"` // of entries
}

// xnetSRX are the receives of an endpoint.
type xnetSRX struct {
	Domain inferior.Ptr[xnetDomain] `c:"domain"`
	RDM    inferior.Ptr[xnetRDM]    `c:"rdm"`
	// AnyPeer are those from any peer, and ByPeer those from a peer each: an array of pointers to chunks, each an
	// array of lists (include/ofi_indexer.h).
	AnyPeer     list                      `c:"tag_queue"`
	ByPeer      inferior.Embedded[uint64] `c:"src_tag_queues.chunk"`
	Stride      uint64                    `c:"src_tag_queues.item_size"`
	SavedStride uint64                    `c:"saved_msgs.item_size"`
}

// xnetSaved are the messages of a peer that are saved.
type xnetSaved struct {
	Links  link                    `c:"entry"`
	InRing inferior.Embedded[link] `c:"entry"`
	Queue  list                    `c:"queue"`
	Count  int32                   `c:"cnt"`
}

// xnetEntry is a receive, a saved message or a message on its way. It begins with its link.
type xnetEntry struct {
	Next     inferior.Ptr[xnetEntry] `c:"entry.next"`
	Parts    uint64                  `c:"iov_cnt"`
	First    inferior.Embedded[part] `c:"iov"` // an array
	Buffer   inferior.Addr           `c:"user_buf"`
	Sequence uint64                  `c:"tag_seq_no"`
	Tag      uint64                  `c:"tag"`
	Ignore   uint64                  `c:"ignore"`
	Peer     uint64                  `c:"src_addr"`
	Flags    uint32                  `c:"ctrl_flags"`
	// Context is the MPI's; of a saved message, that which has claimed it.
	Context inferior.Addr            `c:"context"`
	Header  xnetHeader               `c:"hdr"`
	Data    inferior.Embedded[uint8] `c:"msg_data"`
}

// xnetHeader is what stands in front of data: one of several, all of which begin alike.
type xnetHeader struct {
	Op      uint8  `c:"base_hdr.op"`
	Flags   uint16 `c:"base_hdr.flags"`
	Size    uint64 `c:"base_hdr.size"` // with what stands in front
	Front   uint8  `c:"base_hdr.hdr_size"`
	Tag     uint64 `c:"tag_hdr.tag"`
	DataTag uint64 `c:"tag_data_hdr.tag"`
	Data    uint64 `c:"tag_data_hdr.cq_data"`
	// Of a message whose data waits for an answer, from 1.19.
	Waits     uint64 `c:"tag_rts_hdr.size,optional"`
	DataWaits uint64 `c:"tag_rts_data_hdr.size,optional"`
}

// xnetSocket is the connection to a peer.
type xnetSocket struct {
	SRX        inferior.Ptr[xnetSRX]    `c:"srx"`
	Peer       inferior.Ptr[peerAddr]   `c:"peer"`
	InRing     inferior.Embedded[link]  `c:"unexp_entry"`
	Links      link                     `c:"unexp_entry"`
	Header     xnetHeader               `c:"cur_rx.hdr"` // of what comes
	Claim      inferior.Addr            `c:"cur_rx.claim_ctx"`
	Sending    inferior.Ptr[xnetEntry]  `c:"cur_tx.entry"`
	Queue      list                     `c:"tx_queue"`
	NeedAck    list                     `c:"need_ack_queue"`
	Unanswered inferior.Ptr[xnetAnswer] `c:"rts_queue.data,optional"` // an array
}

type xnetConn struct {
	Socket inferior.Ptr[xnetSocket] `c:"ep"`
	RDM    inferior.Ptr[xnetRDM]    `c:"rdm"`
	Peer   inferior.Ptr[peerAddr]   `c:"peer"`
}

// xnetAnswer is a place for a message that waits for an answer: in use if what comes next is -1.
type xnetAnswer struct {
	Message inferior.Ptr[xnetEntry] `c:"item"`
	Next    int32                   `c:"next"`
}
