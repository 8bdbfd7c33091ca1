package tagged

import (
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
)

// ofiTypes are the C types of mtl ofi.
type ofiTypes struct {
	Module   inferior.Struct[ofiModule]   `c:"mca_mtl_ofi_module_t"`
	Context  inferior.Struct[ofiContext]  `c:"mca_mtl_ofi_context_t"`
	Endpoint inferior.Struct[ofiEndpoint] `c:"mca_mtl_ofi_endpoint_t"`
	OFI      inferior.Struct[ofiRequest]  `c:"ompi_mtl_ofi_request_t"`
}

// ofiModule is the only object of its kind, ompi_mtl_ofi.
type ofiModule struct {
	Contexts inferior.Ptr[ofiContext] `c:"ofi_ctxt"` // an array
	// Used is how many contexts there are, and Scalable whether they share an endpoint.
	Used     int32  `c:"total_ctxts_used"`
	Scalable int32  `c:"enable_sep"`
	AnyPeer  uint64 `c:"any_addr"`
	// HasData is true if the sender's rank travels beside the tag.
	HasData    bool   `c:"fi_cq_data"`
	RankBits   int32  `c:"num_bits_source_rank"`
	TagMask    uint64 `c:"mpi_tag_mask"`
	SyncSend   uint64 `c:"sync_send"`
	SyncAnswer uint64 `c:"sync_send_ack"`
}

type ofiContext struct {
	Receiving inferior.Addr `c:"rx_ep"` // struct fid_ep *
}

// ofiEndpoint is what the mtl keeps of a process.
type ofiEndpoint struct {
	Module inferior.Ptr[ofiModule] `c:"mtl_ofi_module"`
	Peer   uint64                  `c:"peer_fiaddr"`
}

// ofiRequest is the mtl's part of a request, which stands behind the pml's, or on the stack of a blocking send.
type ofiRequest struct {
	Request inferior.Ptr[cmRequest]         `c:"super.ompi_req"`
	Type    uint32                          `c:"type"`
	Context inferior.Embedded[ofiOperation] `c:"ctx"`
	Comm    inferior.Ptr[ompi.Communicator] `c:"comm"`
	Length  uint64                          `c:"length"`
	Data    inferior.Ptr[convertor]         `c:"convertor"` // of a receive
	Matched int32                           `c:"match_state"`
	Started bool                            `c:"req_started"` // its message has come
	Match   uint64                          `c:"match_bits"`
	Peer    uint64                          `c:"remote_addr"`
	Parent  inferior.Ptr[ofiRequest]        `c:"parent"`
}

// ofiOperation is a fi_context, what libfabric keeps for an operation that the mtl has given it.
type ofiOperation struct{}

// ofiProbe is OMPI_MTL_OFI_PROBE (ompi/mca/mtl/ofi/mtl_ofi_request.h, 4.1 to 6.0).
const ofiProbe = 3
