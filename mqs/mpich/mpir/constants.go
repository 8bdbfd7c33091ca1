package mpir

import "github.com/mpi-queues/mpi-queues/mqs"

// constant is a handle that mpi.h has as a constant.
type constant struct {
	kind   mqs.HandleKind
	number uint32
}

// lastReduction is MPI_MAXLOC, the last one of the reduction operations: what follows is for one-sided communication.
const lastReduction = 0x5800000c

// constants are the names of handles that are the same in every process (src/include/mpi.h.in, 4.0 to 5.0).
// Datatypes have theirs in their objects.
var constants = map[constant]string{
	{mqs.CommHandle, 0x04000000}:       "MPI_COMM_NULL",
	{mqs.CommHandle, 0x44000000}:       "MPI_COMM_WORLD",
	{mqs.CommHandle, 0x44000001}:       "MPI_COMM_SELF",
	{mqs.GroupHandle, 0x08000000}:      "MPI_GROUP_NULL",
	{mqs.GroupHandle, 0x48000000}:      "MPI_GROUP_EMPTY",
	{mqs.DatatypeHandle, 0x0c000000}:   "MPI_DATATYPE_NULL",
	{mqs.ErrhandlerHandle, 0x14000000}: "MPI_ERRHANDLER_NULL",
	{mqs.ErrhandlerHandle, 0x54000000}: "MPI_ERRORS_ARE_FATAL",
	{mqs.ErrhandlerHandle, 0x54000001}: "MPI_ERRORS_RETURN",
	{mqs.ErrhandlerHandle, 0x54000003}: "MPI_ERRORS_ABORT",
	{mqs.OpHandle, 0x18000000}:         "MPI_OP_NULL",
	{mqs.OpHandle, 0x58000001}:         "MPI_MAX",
	{mqs.OpHandle, 0x58000002}:         "MPI_MIN",
	{mqs.OpHandle, 0x58000003}:         "MPI_SUM",
	{mqs.OpHandle, 0x58000004}:         "MPI_PROD",
	{mqs.OpHandle, 0x58000005}:         "MPI_LAND",
	{mqs.OpHandle, 0x58000006}:         "MPI_BAND",
	{mqs.OpHandle, 0x58000007}:         "MPI_LOR",
	{mqs.OpHandle, 0x58000008}:         "MPI_BOR",
	{mqs.OpHandle, 0x58000009}:         "MPI_LXOR",
	{mqs.OpHandle, 0x5800000a}:         "MPI_BXOR",
	{mqs.OpHandle, 0x5800000b}:         "MPI_MINLOC",
	{mqs.OpHandle, lastReduction}:      "MPI_MAXLOC",
	{mqs.OpHandle, 0x5800000d}:         "MPI_REPLACE",
	{mqs.OpHandle, 0x5800000e}:         "MPI_NO_OP",
	{mqs.InfoHandle, 0x1c000000}:       "MPI_INFO_NULL",
	{mqs.InfoHandle, 0x5c000001}:       "MPI_INFO_ENV",
	{mqs.WinHandle, 0x20000000}:        "MPI_WIN_NULL",
	{mqs.RequestHandle, 0x2c000000}:    "MPI_REQUEST_NULL",
	{mqs.MessageHandle, 0x2c000000}:    "MPI_MESSAGE_NULL",
	{mqs.MessageHandle, 0x6c000000}:    "MPI_MESSAGE_NO_PROC",
	{mqs.SessionHandle, 0x38000000}:    "MPI_SESSION_NULL",
}
