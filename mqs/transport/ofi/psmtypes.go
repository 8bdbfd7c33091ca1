package ofi

import (
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
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
	MQ     inferior.Ptr[psmMQ]      `c:"psm2_mq"`
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
	Peers   inferior.Ptr[inferior.Ptr[psmPeer]] `c:"epaddrs"`
}

// psmPeer is a peer as psm calls it.
type psmPeer struct{}

// psmTypes are those of psm's matched queues (psm_mq_internal.h, psm2_mq.h, psm_mpool.c), of libpsm2 and, changed
// little, in the provider psm3.
type psmTypes struct {
	MQ      inferior.Struct[psmMQ]      `c:"psm2_mq"`
	Queue   inferior.Struct[psmQueue]   `c:"mqq"`
	Request inferior.Struct[psmRequest] `c:"psm2_mq_req"`
	Pool    inferior.Struct[psmPool]    `c:"mpool"`
	Element inferior.Struct[psmElement] `c:"mpool_element"`
}

// psmMQ are the queues of an endpoint of psm's. Each receive stands in one list: in that of all, or in one of a table.
// Unexpected messages all stand in one list, and, so as to be found faster, in others too.
type psmMQ struct {
	PSM          inferior.Addr               `c:"ep"`
	Sends        inferior.Ptr[psmPool]       `c:"sreq_pool"`
	Receives     inferior.Ptr[psmPool]       `c:"rreq_pool"`
	Tables       inferior.Embedded[psmQueue] `c:"expected_htab"` // an array of arrays
	Posted       inferior.Embedded[psmQueue] `c:"expected_q"`
	Messages     inferior.Embedded[psmQueue] `c:"unexpected_q"`
	ListCount    uint32                      `c:"expected_list_len"`
	TableCount   uint32                      `c:"expected_hash_len"`
	MessageCount uint32                      `c:"unexpected_list_len"`
}

// psmQueue is a list.
type psmQueue struct {
	First inferior.Ptr[psmRequest] `c:"first"`
	Last  inferior.Ptr[psmRequest] `c:"last"`
}

// psmRequest is a receive, a send or an unexpected message.
type psmRequest struct {
	Peer inferior.Ptr[psmPeer] `c:"req_data.peer"`
	// Low, High and More are the three words of a tag, and with Sel those of which bits of them match.
	Low      uint32              `c:"req_data.tag.tag0"`
	High     uint32              `c:"req_data.tag.tag1"`
	More     uint32              `c:"req_data.tag.tag2"`
	SelLow   uint32              `c:"req_data.tagsel.tag0"`
	SelHigh  uint32              `c:"req_data.tagsel.tag1"`
	SelMore  uint32              `c:"req_data.tagsel.tag2"`
	Buffer   inferior.Addr       `c:"req_data.buf"`
	Capacity uint32              `c:"req_data.buf_len"`
	Length   uint32              `c:"req_data.send_msglen"`
	Context  inferior.Addr       `c:"req_data.context"` // the MPI's
	Time     uint64              `c:"timestamp"`        // in the order of posting
	State    uint32              `c:"state"`
	Type     uint32              `c:"type"`
	MQ       inferior.Ptr[psmMQ] `c:"mq"`
	// Arrays by the kind of list, of which the last is that of all.
	Next   inferior.Embedded[inferior.Ptr[psmRequest]] `c:"next"`
	Prev   inferior.Embedded[inferior.Ptr[psmRequest]] `c:"prev"`
	Queues inferior.Embedded[inferior.Ptr[psmQueue]]   `c:"q"`
}

// psmPool are objects in chunks of equal size, each behind an element.
type psmPool struct {
	Offset   uint32                               `c:"mp_elm_offset"` // of the first element of a chunk
	Count    uint32                               `c:"mp_num_obj"`
	Used     uint32                               `c:"mp_num_obj_inuse"`
	Stride   uint32                               `c:"mp_elm_size"`
	PerChunk uint32                               `c:"mp_num_obj_per_chunk"`
	Chunks   inferior.Ptr[inferior.Ptr[psmChunk]] `c:"mp_elm_vector"`
}

type psmChunk struct{}

// psmElement stands in front of an object. In use, it leads to the pool, and else to another free one.
type psmElement struct {
	Pool  inferior.Ptr[psmPool] `c:"me_mpool"`
	Index uint32                `c:"me_index"` // and whether it is in use
}
