package ofi

import (
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// rxmTypes are those of the provider rxm (prov/rxm/src/rxm.h).
type rxmTypes struct {
	Domain   inferior.Struct[rxmDomain] `c:"rxm_domain"`
	EP       inferior.Struct[rxmEP]     `c:"rxm_ep"`
	Queue    inferior.Struct[rxmQueue]  `c:"rxm_recv_queue,optional"`
	Entry    inferior.Struct[rxmEntry]  `c:"rxm_recv_entry,optional"`
	Received inferior.Struct[rxmRxBuf]  `c:"rxm_rx_buf"`
	Sent     inferior.Struct[rxmTxBuf]  `c:"rxm_tx_buf"`
	Conn     inferior.Struct[rxmConn]   `c:"rxm_conn"`
	PeerAddr inferior.Struct[peerAddr]  `c:"util_peer_addr,optional"`
	Map      inferior.Struct[rxmMap]    `c:"rxm_cmap,optional"` // up to 1.13
}

// rxmDomain begins with a util_domain, which an endpoint points to.
type rxmDomain struct {
	// Dynamic is true if eager messages travel with a tag of the provider's below, and no header of rxm's.
	Dynamic bool `c:"dyn_rbuf,optional"`
}

// rxmEP begins with a util_ep, and that with the fid_ep that a program has.
type rxmEP struct {
	Domain inferior.Ptr[rxmDomain]     `c:"util_ep.domain"`
	Tagged inferior.Embedded[rxmQueue] `c:"trecv_queue,optional"` // up to 1.22
	Shared inferior.Ptr[shared]        `c:"srx,optional"`         // from 2.0, where it begins with a fid_peer_srx
	TxPool inferior.Ptr[pool]          `c:"tx_pool"`
	// Conns is an array of pointers to chunks, each an array of pointers to connections, and ConnCounts how many
	// there are in each chunk (include/ofi_indexer.h).
	Conns      inferior.Embedded[inferior.Ptr[inferior.Ptr[rxmConn]]] `c:"conn_idx_map.chunk,optional"`
	ConnCounts inferior.Embedded[int32]                               `c:"conn_idx_map.count,optional"`
	// Map has the connections up to 1.13.
	Map inferior.Ptr[rxmMap] `c:"cmap,optional"`
}

// rxmMap are the connections by the addresses of their peers.
type rxmMap struct {
	EP    inferior.Ptr[rxmEP]                 `c:"ep"`
	Conns inferior.Ptr[inferior.Ptr[rxmConn]] `c:"handles_av"` // an array: a connection begins with its handle
	Count uint64                              `c:"num_allocated"`
}

type rxmQueue struct {
	EP         inferior.Ptr[rxmEP]     `c:"rxm_ep"`
	Type       uint32                  `c:"type"`
	Posted     link                    `c:"recv_list"`
	PostedAt   inferior.Embedded[link] `c:"recv_list"`
	Unexpected link                    `c:"unexp_msg_list"`
	MessagesAt inferior.Embedded[link] `c:"unexp_msg_list"`
}

// rxmEntry is a receive.
type rxmEntry struct {
	Links   link                    `c:"entry"`
	InQueue inferior.Embedded[link] `c:"entry"`
	Parts   uint8                   `c:"rxm_iov.count"`
	First   inferior.Embedded[part] `c:"rxm_iov.iov"` // an array
	Peer    uint64                  `c:"addr"`
	Context inferior.Addr           `c:"context"` // the MPI's
	Tag     uint64                  `c:"tag"`
	Ignore  uint64                  `c:"ignore"`
	Length  uint64                  `c:"total_len"`
	Queue   inferior.Ptr[rxmQueue]  `c:"recv_queue"`
}

// header is what is sent before data.
type header struct {
	Type      uint8  `c:"ctrl_hdr.type"`
	ConnID    uint64 `c:"ctrl_hdr.conn_id"`
	MessageID uint64 `c:"ctrl_hdr.msg_id"`
	Segment   uint64 `c:"ctrl_hdr.ctrl_data"`
	Op        uint8  `c:"hdr.op"`
	Flags     uint32 `c:"hdr.flags"`
	Size      uint64 `c:"hdr.size"`
	Tag       uint64 `c:"hdr.tag"`
}

// rxmRxBuf is a message that has come.
type rxmRxBuf struct {
	EP   inferior.Ptr[rxmEP]   `c:"ep"`
	Conn inferior.Ptr[rxmConn] `c:"conn"`
	Data inferior.Addr         `c:"data"`
	// Up to 1.22 it is in the endpoint's own queue.
	Next    inferior.Ptr[link]      `c:"unexp_msg.entry.next,optional"`
	Prev    inferior.Ptr[link]      `c:"unexp_msg.entry.prev,optional"`
	InQueue inferior.Embedded[link] `c:"unexp_msg.entry,optional"`
	Peer    uint64                  `c:"unexp_msg.addr,optional"`
	Tag     uint64                  `c:"unexp_msg.tag,optional"`
	// Shared is what shared queues have of it.
	Shared inferior.Ptr[peerEntry] `c:"peer_entry,optional"`
	Packet header                  `c:"pkt"`
}

// rxmTxBuf is a message that is on its way, or a part of one.
type rxmTxBuf struct {
	State   uint32        `c:"hdr.state"`
	Context inferior.Addr `c:"app_context"` // the MPI's
	Packet  header        `c:"pkt"`
}

type rxmConn struct {
	Peer inferior.Ptr[peerAddr] `c:"peer,optional"`
	EP   inferior.Ptr[rxmEP]    `c:"ep,optional"`
	// RemoteIndex is what the peer calls the connection.
	RemoteIndex int32 `c:"remote_index,optional"`
	// Up to 1.13: the map that has it, what the peer calls it, and the peer.
	Map       inferior.Ptr[rxmMap] `c:"handle.cmap,optional"`
	RemoteKey uint64               `c:"handle.remote_key,optional"`
	Addr      uint64               `c:"handle.fi_addr,optional"`
}
