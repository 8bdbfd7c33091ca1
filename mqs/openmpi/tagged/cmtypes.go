package tagged

import (
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
)

// cmTypes are the C types of pml cm.
type cmTypes struct {
	CM          inferior.Struct[cmRequest] `c:"mca_pml_cm_request_t"`
	Send        inferior.Struct[cmSend]    `c:"mca_pml_cm_send_request_t"`
	ThinSend    inferior.Struct[cmThin]    `c:"mca_pml_cm_thin_send_request_t"`
	HeavySend   inferior.Struct[cmHeavy]   `c:"mca_pml_cm_hvy_send_request_t"`
	ThinReceive inferior.Struct[cmThin]    `c:"mca_pml_cm_thin_recv_request_t"`
	Receive     inferior.Struct[cmHeavy]   `c:"mca_pml_cm_hvy_recv_request_t"`
	Convertor   inferior.Struct[convertor] `c:"opal_convertor_t"`
	Data        inferior.Struct[opalType]  `c:"opal_datatype_t"`
}

// mtlRequest is what each mtl's part of a request starts with.
type mtlRequest struct{}

// cmRequest is what all requests of the pml start with.
type cmRequest struct {
	Complete   uint64                          `c:"req_ompi.req_complete"`
	State      int32                           `c:"req_ompi.req_state"`
	Persistent bool                            `c:"req_ompi.req_persistent"`
	Source     int32                           `c:"req_ompi.req_status.MPI_SOURCE"`
	Tag        int32                           `c:"req_ompi.req_status.MPI_TAG"`
	Cancelled  bool                            `c:"req_ompi.req_status._cancelled"`
	Received   uint64                          `c:"req_ompi.req_status._ucount"`
	FreeCalled bool                            `c:"req_free_called"`
	PMLDone    bool                            `c:"req_pml_complete"`
	Type       uint32                          `c:"req_pml_type"`
	Comm       inferior.Ptr[ompi.Communicator] `c:"req_comm"`
	Datatype   inferior.Ptr[ompi.Datatype]     `c:"req_datatype"`
	Convertor  inferior.Embedded[convertor]    `c:"req_convertor"`
}

// cmSend is what sends have besides.
type cmSend struct {
	Mode int32 `c:"req_send_mode"`
}

// cmThin is a request that is started once.
type cmThin struct {
	MTL inferior.Embedded[mtlRequest] `c:"req_mtl"` // mca_mtl_request_t, with the mtl's part
}

// cmHeavy is one that may be started again, or a buffered send.
type cmHeavy struct {
	Addr inferior.Addr `c:"req_addr"`
	// Count is that of elements of a receive, of bytes of a send.
	Count uint64                        `c:"req_count"`
	Peer  int32                         `c:"req_peer"`
	Tag   int32                         `c:"req_tag"`
	Copy  inferior.Addr                 `c:"req_buff"` // of a buffered send's data
	MTL   inferior.Embedded[mtlRequest] `c:"req_mtl"`
}

// convertor knows where the data of a request is.
type convertor struct {
	Datatype inferior.Ptr[ompi.Datatype] `c:"pDesc"` // its opal_datatype_t, which it begins with
	Buffer   inferior.Addr               `c:"pBaseBuf"`
	Count    uint64                      `c:"count"`
}

// opalType is what a datatype begins with.
type opalType struct {
	Flags          uint32 `c:"flags"`   // of 16 bits up to 5.0
	TrueLowerBound int64  `c:"true_lb"` // bytes
}

// Types of requests (mca_pml_cm_request_type_t, ompi/mca/pml/cm/pml_cm_request.h, 4.1 to 6.0).
const (
	cmSendHeavy = iota
	cmSendThin
	cmReceiveHeavy
	cmReceiveThin
)

// Bits of a datatype's flags (opal/datatype/opal_datatype.h, 4.1 to 6.0).
const (
	typeContiguous = 0x0010
	typeNoGaps     = 0x0020
)
