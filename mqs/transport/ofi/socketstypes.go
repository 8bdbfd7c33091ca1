package ofi

import (
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// socketsTypes are those of the provider sockets (prov/sockets/include/sock.h, the same from 1.17 to 2.6).
type socketsTypes struct {
	EP       inferior.Struct[sockEP]       `c:"sock_ep"`
	Attr     inferior.Struct[sockAttr]     `c:"sock_ep_attr"`
	Receives inferior.Struct[sockReceives] `c:"sock_rx_ctx"`
	Sends    inferior.Struct[sockSends]    `c:"sock_tx_ctx"`
	Entry    inferior.Struct[sockEntry]    `c:"sock_rx_entry"`
	Where    inferior.Struct[sockWhere]    `c:"fi_rma_iov"`
	Sent     inferior.Struct[sockSent]     `c:"sock_pe_entry"`
	Book     inferior.Struct[sockBook]     `c:"sock_av"`
	Head     inferior.Struct[sockBookHead] `c:"sock_av_table_hdr"`
	Address  inferior.Struct[sockAddress]  `c:"sock_av_addr"`
}

// sockEP begins with the fid_ep that a program has.
type sockEP struct {
	Class Class                  `c:"ep.fid.fclass"`
	Attr  inferior.Ptr[sockAttr] `c:"attr"`
}

// sockAttr is what an endpoint and its aliases have in common.
type sockAttr struct {
	Class    Class                      `c:"fclass"`
	Domain   inferior.Addr              `c:"domain"`
	Book     inferior.Ptr[sockBook]     `c:"av"`
	Receives inferior.Ptr[sockReceives] `c:"rx_ctx"`
	Sends    inferior.Ptr[sockSends]    `c:"tx_ctx"`
	// Of an endpoint with several contexts, pointers to its receives and to its sends.
	AllReceives inferior.Ptr[inferior.Ptr[sockReceives]] `c:"rx_array"`
	AllSends    inferior.Ptr[inferior.Ptr[sockSends]]    `c:"tx_array"`
}

// sockReceives begins with the fid_ep that a program has of one of several contexts.
type sockReceives struct {
	Class Class  `c:"ctx.fid.fclass"`
	Index uint16 `c:"rx_id"` // of the context
	// UsesShared is true of an endpoint whose receives are in another object.
	UsesShared int32                   `c:"use_shared"`
	Attr       inferior.Ptr[sockAttr]  `c:"ep_attr"`
	Domain     inferior.Addr           `c:"domain"`
	Posted     link                    `c:"rx_entry_list"`
	PostedAt   inferior.Embedded[link] `c:"rx_entry_list"`
	Messages   link                    `c:"rx_buffered_list"`
	MessagesAt inferior.Embedded[link] `c:"rx_buffered_list"`
	Coming     link                    `c:"pe_entry_list"` // what is being received
	ComingAt   inferior.Embedded[link] `c:"pe_entry_list"`
}

type sockSends struct {
	Attr      inferior.Ptr[sockAttr]  `c:"ep_attr"`
	Domain    inferior.Addr           `c:"domain"`
	Entries   link                    `c:"pe_entry_list"`
	EntriesAt inferior.Embedded[link] `c:"pe_entry_list"`
}

// sockEntry is a receive, or a message, which has its data behind it.
type sockEntry struct {
	Links     link                         `c:"entry"`
	InQueue   inferior.Embedded[link]      `c:"entry"`
	Parts     uint8                        `c:"rx_op.dest_iov_len"`
	IsMessage uint8                        `c:"is_buffered"`
	IsBusy    uint8                        `c:"is_busy"` // data is coming
	IsWhole   uint8                        `c:"is_complete"`
	IsClaimed uint8                        `c:"is_claimed"`
	IsTagged  uint8                        `c:"is_tagged"`
	Length    uint64                       `c:"total_len"`
	Context   inferior.Addr                `c:"context"` // the MPI's
	Peer      uint64                       `c:"addr"`
	Flags     uint64                       `c:"flags"`
	Data      uint64                       `c:"data"`
	Tag       uint64                       `c:"tag"`
	Ignore    uint64                       `c:"ignore"`
	First     inferior.Embedded[sockWhere] `c:"iov"` // an array
	Receives  inferior.Ptr[sockReceives]   `c:"rx_ctx"`
}

type sockWhere struct {
	Base inferior.Addr `c:"addr"`
}

// sockSent is a message on its way, from here or to here.
type sockSent struct {
	Links      link                          `c:"ctx_entry"`
	InList     inferior.Embedded[link]       `c:"ctx_entry"`
	Kind       uint8                         `c:"type"`
	Op         uint8                         `c:"pe.tx.tx_op.op"`
	IsSent     uint8                         `c:"pe.tx.send_done"`
	IsComplete uint8                         `c:"is_complete"`
	Sends      inferior.Ptr[sockSends]       `c:"pe.tx.tx_ctx"`
	Fills      inferior.Ptr[sockEntry]       `c:"pe.rx.rx_entry"` // of a message that comes
	Header     inferior.Embedded[sockHeader] `c:"msg_hdr"`
	Flags      uint64                        `c:"flags"`
	Context    inferior.Addr                 `c:"context"` // the MPI's
	Peer       uint64                        `c:"addr"`
	Tag        uint64                        `c:"tag"`
	Length     uint64                        `c:"total_len"` // with what stands in front of the data
}

// sockHeader is what is sent first.
type sockHeader struct{}

// sockBook is a table of addresses, which the MPI knows by their places in it.
type sockBook struct {
	Mask  uint64                     `c:"mask"` // of the bits that are the place
	Head  inferior.Ptr[sockBookHead] `c:"table_hdr"`
	Table inferior.Ptr[sockAddress]  `c:"table"`
}

type sockBookHead struct {
	Size   uint64 `c:"size"`
	Stored uint64 `c:"stored"`
}

type sockAddress struct {
	Address inferior.Embedded[uint8] `c:"addr"`
	IsValid uint8                    `c:"valid"`
}
