package ofi

import (
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// sharedTypes are those of the queues that providers share, util_srx (include/ofi_util.h, prov/util/src/util_srx.c, 2.1).
type sharedTypes struct {
	Shared      inferior.Struct[shared]      `c:"util_srx_ctx"`
	SharedEntry inferior.Struct[sharedEntry] `c:"util_rx_entry"`
	SharedPeer  inferior.Struct[sharedPeer]  `c:"util_unexp_peer"`
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
	Next     inferior.Ptr[link]   `c:"peer_entry.next"`
	Prev     inferior.Ptr[link]   `c:"peer_entry.prev"`
	Shared   inferior.Ptr[shared] `c:"peer_entry.srx"` // of a message
	Peer     uint64               `c:"peer_entry.addr"`
	Length   uint64               `c:"peer_entry.msg_size"`
	Tag      uint64               `c:"peer_entry.tag"`
	Context  inferior.Addr        `c:"peer_entry.context"` // the MPI's
	Count    uint64               `c:"peer_entry.count"`
	Flags    uint64               `c:"peer_entry.flags"`
	Data     uint64               `c:"peer_entry.cq_data"`
	Message  inferior.Addr        `c:"peer_entry.peer_context"` // of a message, the provider's
	Parts    inferior.Ptr[part]   `c:"peer_entry.iov"`          // behind the entry
	Sequence uint64               `c:"seq_no"`
	Ignore   uint64               `c:"ignore"`
}
