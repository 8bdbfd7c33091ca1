package ofi

import (
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	mq "github.com/mpi-queues/mpi-queues/mqs/transport/psm"
)

// psmFabric are the types of a provider that has its messages in psm's matched queues.
type psmFabric struct {
	EP      inferior.Struct[psmEP]
	Context inferior.Struct[psmContext]
	Book    inferior.Struct[psmBook]
	Head    inferior.Struct[psmBookHead]
	Conn    inferior.Struct[psmConn]
}

// psm3Fabric are those of the provider psm3 (prov/psm3/src/psmx3.h, 1.17 to 2.6).
type psm3Fabric struct {
	EP      inferior.Struct[psmEP]       `c:"psmx3_fid_ep"`
	Context inferior.Struct[psmContext]  `c:"psmx3_trx_ctxt"`
	Book    inferior.Struct[psmBook]     `c:"psmx3_fid_av"`
	Head    inferior.Struct[psmBookHead] `c:"psmx3_av_hdr"`
	Conn    inferior.Struct[psmConn]     `c:"psmx3_av_conn"`
}

// psm2Fabric are those of the provider psm2 (prov/psm2/src/psmx2.h, 1.17 to 2.6).
type psm2Fabric struct {
	EP      inferior.Struct[psmEP]       `c:"psmx2_fid_ep"`
	Context inferior.Struct[psmContext]  `c:"psmx2_trx_ctxt"`
	Book    inferior.Struct[psmBook]     `c:"psmx2_fid_av"`
	Head    inferior.Struct[psmBookHead] `c:"psmx2_av_hdr"`
	Conn    inferior.Struct[psmConn]     `c:"psmx2_av_conn"`
}

// psmEP begins with the fid_ep that a program has.
type psmEP struct {
	Class    Class                    `c:"ep.fid.fclass"`
	Domain   inferior.Ptr[utilDomain] `c:"domain"` // which the provider's begins with
	Receives inferior.Ptr[psmContext] `c:"rx"`
	Book     inferior.Ptr[psmBook]    `c:"av"`
}

// psmContext is what an endpoint sends or receives by.
type psmContext struct {
	Domain inferior.Ptr[utilDomain] `c:"domain"`
	PSM    inferior.Addr            `c:"psm2_ep"`
	MQ     inferior.Ptr[mq.Queues]  `c:"psm2_mq"`
	ID     int32                    `c:"id"`
}

// psmBook is the addresses of peers.
type psmBook struct {
	Domain inferior.Ptr[utilDomain]   `c:"domain"`
	Type   int32                      `c:"type"`
	Bound  int32                      `c:"max_trx_ctxt"` // of contexts
	Head   inferior.Ptr[psmBookHead]  `c:"hdr"`
	Conns  inferior.Embedded[psmConn] `c:"conn_info"` // an array, by contexts
}

type psmBookHead struct {
	Count uint64 `c:"last"`
}

// psmConn has for each address how psm calls it, 0 for one that it does not know yet.
type psmConn struct {
	Context inferior.Ptr[psmContext]            `c:"trx_ctxt"`
	Peers   inferior.Ptr[inferior.Ptr[mq.Peer]] `c:"epaddrs"`
}
