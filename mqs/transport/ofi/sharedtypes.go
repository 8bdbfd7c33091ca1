package ofi

import (
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// sharedTypes are those of the queues that providers share, util_srx (include/ofi_util.h, prov/util/src/util_srx.c,
// include/rdma/providers/fi_peer.h, 1.19 to 2.6).
type sharedTypes struct {
	Shared      inferior.Struct[shared]      `c:"util_srx_ctx"`
	SharedEntry inferior.Struct[sharedEntry] `c:"util_rx_entry"`
	SharedPeer  inferior.Struct[sharedPeer]  `c:"util_unexp_peer"`
	Taker       inferior.Struct[taker]       `c:"fid_peer_srx"`
}

// taker is by what a provider gets at a queue: one that is beneath the queue's own has one of its own.
type taker struct {
	Shared inferior.Ptr[shared] `c:"ep_fid.fid.context"`
}

// shared are queues that a provider has from libfabric's common code.
type shared struct {
	Self inferior.Ptr[shared] `c:"peer_srx.ep_fid.fid.context"`
	// AnyPeer are the receives from any peer, and ByPeer those from a peer each: an array of pointers to chunks, each an
	// array of lists (include/ofi_indexer.h).
	AnyPeer list                                                `c:"tag_queue"`
	ByPeer  inferior.Embedded[inferior.Ptr[inferior.Ptr[list]]] `c:"src_trecv_queues.chunk"`
	Stride  uint64                                              `c:"src_trecv_queues.item_size"`
	// OfNobody are the unexpected messages of senders that are not known, and Peers the others that have some.
	OfNobody   link                    `c:"unspec_unexp_tag_queue"`
	OfNobodyAt inferior.Embedded[link] `c:"unspec_unexp_tag_queue"`
	Peers      link                    `c:"unexp_peers"`
	PeersAt    inferior.Embedded[link] `c:"unexp_peers"`
}

// sharedPeer are the unexpected messages of a peer.
type sharedPeer struct {
	Links  link                    `c:"entry"`
	InRing inferior.Embedded[link] `c:"entry"`
	Tagged list                    `c:"tag_queue"`
}

// sharedEntry is a receive or an unexpected message. It begins with its links, of which lists have one only.
type sharedEntry struct {
	Next      inferior.Ptr[link]           `c:"d_entry.next|peer_entry.next"` // the former from 2.3
	Prev      inferior.Ptr[link]           `c:"d_entry.prev|peer_entry.prev"`
	At        inferior.Embedded[peerEntry] `c:"peer_entry"`
	peerEntry `c:"peer_entry"`
	Sequence  uint64 `c:"seq_no"`
	Ignore    uint64 `c:"ignore"`
}

// peerEntry is what the owner of a queue and the provider that takes messages for it both know of a receive or an
// unexpected message (fi_peer_rx_entry).
type peerEntry struct {
	Taker inferior.Ptr[taker] `c:"srx"` // of a message
	Peer  uint64              `c:"addr"`
	// Length is that of a receive too, which up to 1.22 had none.
	Length   uint64                    `c:"msg_size,optional"`
	LengthAt inferior.Embedded[uint64] `c:"msg_size,optional"`
	Tag      uint64                    `c:"tag"`
	Context  inferior.Addr             `c:"context"` // the MPI's
	Count    uint64                    `c:"count"`
	Flags    uint64                    `c:"flags"`
	Data     uint64                    `c:"cq_data,optional"` // from 1.19
	Message  inferior.Addr             `c:"peer_context"`     // of a message, the provider's
	Parts    inferior.Ptr[part]        `c:"iov"`              // behind the entry
}

// beside is what a sender has sent beside the tag.
func (e *peerEntry) beside() mqs.Maybe[uint64] {
	return mqs.Maybe[uint64]{Value: e.Data, Known: e.Flags&remoteData != 0}
}
