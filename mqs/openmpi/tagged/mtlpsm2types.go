package tagged

import (
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport/psm"
)

// psm2Types are the C types of mtl psm2.
type psm2Types struct {
	Module   inferior.Struct[psm2Module]   `c:"mca_mtl_psm2_module_t"`
	Endpoint inferior.Struct[psm2Endpoint] `c:"mca_mtl_psm2_endpoint_t"`
	PSM2     inferior.Struct[psm2Request]  `c:"mca_mtl_psm2_request_t"`
}

// psm2Module is the only object of its kind, ompi_mtl_psm2.
type psm2Module struct {
	PSM inferior.Addr            `c:"ep"`
	MQ  inferior.Ptr[psm.Queues] `c:"mq"`
}

// psm2Endpoint is what the mtl keeps of a process.
type psm2Endpoint struct {
	Peer inferior.Addr `c:"peer_addr"`
}

// psm2Request is the mtl's part of a request, which stands behind the pml's, or on the stack of a blocking receive.
type psm2Request struct {
	Request inferior.Ptr[cmRequest] `c:"super.ompi_req"`
	Type    uint32                  `c:"type"`
	Length  uint64                  `c:"length"`
	Data    inferior.Ptr[convertor] `c:"convertor"`
}

// Types of requests (mca_mtl_psm2_request_type_t, ompi/mca/mtl/psm2/mtl_psm2_request.h, 4.1 to 6.0).
const (
	psm2Send    = 0
	psm2Receive = 1
)
