package ofi

import (
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// lnxTypes are those of the provider lnx (prov/lnx/include/lnx.h, 2.0 to 2.6).
type lnxTypes struct {
	EP     inferior.Struct[lnxEP]     `c:"lnx_ep"`
	Entry  inferior.Struct[lnxEntry]  `c:"lnx_rx_entry"`
	Domain inferior.Struct[lnxDomain] `c:"lnx_domain"`
	Core   inferior.Struct[lnxArm]    `c:"lnx_core_ep,optional"` // from 2.2
	// Up to 2.1.
	Fabric   inferior.Struct[lnxFabric]   `c:"lnx_fabric,optional"`
	Provider inferior.Struct[lnxProvider] `c:"local_prov,optional"`
	OldCore  inferior.Struct[lnxOldCore]  `c:"local_prov_ep,optional"`
}

// lnxEP has a util_ep, with which it does not begin from 2.2 on.
type lnxEP struct {
	UtilEP       inferior.Embedded[utilEP]     `c:"le_ep"`
	UtilDomain   inferior.Ptr[utilDomain]      `c:"le_ep.domain"`
	Domain       inferior.Ptr[lnxDomain]       `c:"le_domain"`
	Queues       inferior.Embedded[uint8]      `c:"le_srq"`
	Posted       link                          `c:"le_srq.lps_trecv.lqp_recvq.lq_queue"`
	PostedAt     inferior.Embedded[link]       `c:"le_srq.lps_trecv.lqp_recvq.lq_queue"`
	Unexpected   link                          `c:"le_srq.lps_trecv.lqp_unexq.lq_queue"`
	UnexpectedAt inferior.Embedded[link]       `c:"le_srq.lps_trecv.lqp_unexq.lq_queue"`
	Cores        inferior.Ptr[lnxArm]          `c:"le_core_eps,optional"` // an array
	CoresAt      inferior.Embedded[lnxCoresAt] `c:"le_core_eps,optional"`
}

type lnxCoresAt = inferior.Ptr[lnxArm]

// lnxDomain begins with a util_domain.
type lnxDomain struct {
	Cores  int32                   `c:"ld_num_doms,optional"`
	Fabric inferior.Ptr[lnxFabric] `c:"ld_fabric,optional"`
	// Keeps is true if lnx has the queues itself, as it always has from 2.2 on.
	Keeps   bool                    `c:"ld_srx_supported,optional"`
	KeepsAt inferior.Embedded[bool] `c:"ld_srx_supported,optional"`
}

// lnxArm is an endpoint beneath.
type lnxArm struct {
	EP     inferior.Addr       `c:"cep_ep"`
	Parent inferior.Ptr[lnxEP] `c:"cep_parent"`
}

type lnxFabric struct {
	Providers inferior.Embedded[link] `c:"local_prov_table,optional"` // up to 2.1
}

type lnxProvider struct {
	Links  link                    `c:"lpv_entry"`
	InRing inferior.Embedded[link] `c:"lpv_entry"`
	EPs    link                    `c:"lpv_prov_eps"`
	EPsAt  inferior.Embedded[link] `c:"lpv_prov_eps"`
}

type lnxOldCore struct {
	Links  link                    `c:"entry"`
	InRing inferior.Embedded[link] `c:"entry"`
	EP     inferior.Addr           `c:"lpe_ep"`
}

// lnxEntry is a receive or an unexpected message.
type lnxEntry struct {
	Next      inferior.Ptr[link]           `c:"entry.next|rx_entry.next"` // the former from 2.3
	Prev      inferior.Ptr[link]           `c:"entry.prev|rx_entry.prev"`
	InQueue   inferior.Embedded[link]      `c:"entry|rx_entry"`
	At        inferior.Embedded[peerEntry] `c:"rx_entry"`
	peerEntry `c:"rx_entry"`
	Queues    inferior.Addr           `c:"rx_entry.owner_context"` // of a message
	Inside    inferior.Embedded[part] `c:"rx_iov"`                 // an array
	Ignore    uint64                  `c:"rx_ignore"`
	// IsAnybodys is true of a receive: whichever endpoint beneath it may match at.
	IsAnybodys bool                                   `c:"rx_global"`
	Core       inferior.Addr                          `c:"rx_cep"`          // of a message
	EP         inferior.Ptr[lnxEP]                    `c:"rx_lep,optional"` // the same, from 2.2
	EPAt       inferior.Embedded[inferior.Ptr[lnxEP]] `c:"rx_lep,optional"`
}
