package ofi

import (
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// efaTypes are those of the provider efa (prov/efa/src/rdm/efa_rdm_ep.h, efa_rdm_ope.h, efa_rdm_pke.h, efa_rdm_peer.h,
// prov/efa/src/efa_av.h, 1.19 to 2.6).
type efaTypes struct {
	EP        inferior.Struct[efaEP]        `c:"efa_rdm_ep"`
	Operation inferior.Struct[efaOperation] `c:"efa_rdm_ope"`
	Packet    inferior.Struct[efaPacket]    `c:"efa_rdm_pke"`
	Peer      inferior.Struct[efaPeer]      `c:"efa_rdm_peer,optional"`
	Conn      inferior.Struct[efaConn]      `c:"efa_conn,optional"`
}

// efaEP begins with a util_ep.
type efaEP struct {
	Shared inferior.Ptr[shared] `c:"peer_srx_ep"`
	// Below is an endpoint for the peers of the same machine.
	Below   inferior.Addr           `c:"shm_ep"`
	Sends   link                    `c:"txe_list"`
	SendsAt inferior.Embedded[link] `c:"txe_list"`
	Pool    inferior.Ptr[pool]      `c:"ope_pool"` // of operations
}

// efaOperation is a message that is sent or has come.
type efaOperation struct {
	Type    uint32                    `c:"type"`
	EP      inferior.Ptr[efaEP]       `c:"ep"`
	Addr    uint64                    `c:"addr,optional"` // up to 2.2
	AddrAt  inferior.Embedded[uint64] `c:"addr,optional"`
	Peer    inferior.Ptr[efaPeer]     `c:"peer"`
	Op      uint32                    `c:"op"`
	Tag     uint64                    `c:"tag"`
	Length  uint64                    `c:"total_len"`
	State   uint32                    `c:"state"`
	Context inferior.Addr             `c:"cq_entry.op_context"` // the MPI's
	Links   link                      `c:"ep_entry"`
	InRing  inferior.Embedded[link]   `c:"ep_entry"`
	Entry   inferior.Ptr[peerEntry]   `c:"peer_rxe"` // of one that has come
}

// efaPacket is a packet that has come.
type efaPacket struct {
	EP        inferior.Ptr[efaEP]        `c:"ep"`
	Operation inferior.Ptr[efaOperation] `c:"ope"`
	Data      inferior.Embedded[uint8]   `c:"wiredata"`
}

type efaPeer struct {
	EP   inferior.Ptr[efaEP]   `c:"ep,optional"`
	Conn inferior.Ptr[efaConn] `c:"conn,optional"` // from 2.3
}

type efaConn struct {
	Addr uint64 `c:"fi_addr"`
}

// What an operation is (enum efa_rdm_ope_type).
const (
	efaSends    = 1 // EFA_RDM_TXE
	efaReceives = 2 // EFA_RDM_RXE
)

// efaSending is the state of a message whose receiver has asked for the data (EFA_RDM_TXE_SEND, EFA_RDM_OPE_SEND from 2.2).
const efaSending = 2

// What a packet begins with: how a tagged message comes (prov/efa/src/rdm/efa_rdm_protocol.h). The sender keeps the data of
// all but the first two, or waits until it is told that its message was received.
const (
	efaEager      = 65  // EFA_RDM_EAGER_TAGRTM_PKT
	efaMedium     = 67  // EFA_RDM_MEDIUM_TAGRTM_PKT
	efaLongCTS    = 69  // EFA_RDM_LONGCTS_TAGRTM_PKT
	efaLongRead   = 129 // EFA_RDM_LONGREAD_TAGRTM_PKT
	efaToldEager  = 134 // EFA_RDM_DC_EAGER_TAGRTM_PKT
	efaToldMedium = 136 // EFA_RDM_DC_MEDIUM_TAGRTM_PKT
	efaToldLong   = 138 // EFA_RDM_DC_LONGCTS_TAGRTM_PKT
	efaRuntCTS    = 143 // EFA_RDM_RUNTCTS_TAGRTM_PKT
	efaRuntRead   = 146 // EFA_RDM_RUNTREAD_TAGRTM_PKT
)
