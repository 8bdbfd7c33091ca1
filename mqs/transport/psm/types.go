package psm

import "github.com/mpi-queues/mpi-queues/mqs/inferior"

// Types are those of the matched queues (psm_mq_internal.h, psm2_mq.h, psm_mpool.c), of libpsm2 and, changed little, in
// libfabric's provider psm3.
type Types struct {
	Queues  inferior.Struct[Queues]  `c:"psm2_mq"`
	Queue   inferior.Struct[Queue]   `c:"mqq"`
	Request inferior.Struct[Request] `c:"psm2_mq_req"`
	Pool    inferior.Struct[Pool]    `c:"mpool"`
	Element inferior.Struct[Element] `c:"mpool_element"`
}

// Queues are those of an endpoint of psm's. Each receive stands in one list: in that of all, or in one of a table.
// Unexpected messages all stand in one list, and, so as to be found faster, in others too.
type Queues struct {
	PSM          inferior.Addr            `c:"ep"`
	Sends        inferior.Ptr[Pool]       `c:"sreq_pool"`
	Receives     inferior.Ptr[Pool]       `c:"rreq_pool"`
	Tables       inferior.Embedded[Queue] `c:"expected_htab"` // an array of arrays
	Posted       inferior.Embedded[Queue] `c:"expected_q"`
	Messages     inferior.Embedded[Queue] `c:"unexpected_q"`
	Completed    inferior.Embedded[Queue] `c:"completed_q"`
	ListCount    uint32                   `c:"expected_list_len"`
	TableCount   uint32                   `c:"expected_hash_len"`
	MessageCount uint32                   `c:"unexpected_list_len"`
	HashedCount  uint32                   `c:"unexpected_hash_len"`
}

// Queue is a list.
type Queue struct {
	First inferior.Ptr[Request] `c:"first"`
	Last  inferior.Ptr[Request] `c:"last"`
}

// Request is a receive, a send or an unexpected message.
type Request struct {
	// Peer is the receiver of a send and the sender of a message; of a receive the only one that it takes messages of,
	// or none. A send of a blocking call has none.
	Peer inferior.Ptr[Peer] `c:"req_data.peer"`
	// Low, High and More are the three words of a tag, and with Sel those of which bits of them match. The latter are a
	// former user's where a message has come before its receive.
	Low     uint32        `c:"req_data.tag.tag0"`
	High    uint32        `c:"req_data.tag.tag1"`
	More    uint32        `c:"req_data.tag.tag2"`
	SelLow  uint32        `c:"req_data.tagsel.tag0"`
	SelHigh uint32        `c:"req_data.tagsel.tag1"`
	SelMore uint32        `c:"req_data.tagsel.tag2"`
	Buffer  inferior.Addr `c:"req_data.buf"`
	// Capacity is the buffer's, and Length the message's, in bytes. Error is not 0 where the message is longer than the
	// buffer: then Length may be the part of it that is received.
	Capacity uint32 `c:"req_data.buf_len"`
	Length   uint32 `c:"req_data.send_msglen"`
	Error    uint32 `c:"req_data.error_code"`
	// Context is the user's. It is a former user's in a message that none has received, and in the send of a blocking call.
	Context inferior.Addr        `c:"req_data.context"`
	Time    uint64               `c:"timestamp"` // in the order of posting
	State   uint32               `c:"state"`
	Type    uint32               `c:"type"`
	Flags   uint32               `c:"flags_internal"` // from libpsm2 11.2.68
	MQ      inferior.Ptr[Queues] `c:"mq"`
	// Arrays by the kind of list, of which the last is that of all.
	Next inferior.Embedded[inferior.Ptr[Request]] `c:"next"`
	Prev inferior.Embedded[inferior.Ptr[Request]] `c:"prev"`
	In   inferior.Embedded[inferior.Ptr[Queue]]   `c:"q"`
}

// What is said of requests (psm_mq_internal.h, libpsm2 11.2 and 12, and libfabric 1.17 to 2.6).
const (
	Complete   = 0      // MQ_STATE_COMPLETE
	Posted     = 1      // MQ_STATE_POSTED
	Matched    = 2      // MQ_STATE_MATCHED
	Unexpected = 3      // MQ_STATE_UNEXP
	Rendezvous = 4      // MQ_STATE_UNEXP_RV
	IsSend     = 0x1000 // MQE_TYPE_SEND
	IsReceive  = 0x2000 // MQE_TYPE_RECV
	IsOfCall   = 1      // PSMI_REQ_FLAG_IS_INTERNAL, of the send of a blocking call
)

// Pool are objects in chunks of equal size, each behind an element.
type Pool struct {
	Offset   uint32                            `c:"mp_elm_offset"` // of the first element of a chunk
	Count    uint32                            `c:"mp_num_obj"`
	Used     uint32                            `c:"mp_num_obj_inuse"`
	Stride   uint32                            `c:"mp_elm_size"`
	PerChunk uint32                            `c:"mp_num_obj_per_chunk"`
	Chunks   inferior.Ptr[inferior.Ptr[chunk]] `c:"mp_elm_vector"`
}

type chunk struct{}

// Element stands in front of an object. In use, it leads to the pool, and else to another free one.
type Element struct {
	Pool  inferior.Ptr[Pool] `c:"me_mpool"`
	Index uint32             `c:"me_index"`
}
