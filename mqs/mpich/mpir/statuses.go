package mpir

import (
	"encoding/binary"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Members of MPI_Status, in bytes (src/include/mpi.h.in, 4.0 to 5.0). In Fortran it is an array of five INTEGER in
// the same order.
const (
	statusCountLo = 0
	statusCountHi = 4 // the higher half of the count, above the bit for cancelled
	statusSource  = 8
	statusTag     = 12
	statusError   = 16
	statusSize    = 20
)

// readStatus reads what an MPI_Status holds.
func readStatus(r *inferior.Reader, h *mqs.Handle, v mqs.HandleValue) {
	if data, ok := statusBytes(r, h, v, statusSize); ok {
		h.State, h.Status = mqs.LiveHandle, statusOf(data, byteOrder(r))
	}
}

// statusBytes are the first bytes of an MPI_Status; false, with a note, if they can't be read.
func statusBytes(r *inferior.Reader, h *mqs.Handle, v mqs.HandleValue, size int) ([]byte, bool) {
	data := v.Data
	if len(data) == 0 {
		data, _ = r.Bytes(inferior.Addr(v.Value), size)
	}
	if len(data) < size {
		h.Notes = append(h.Notes, "it is not in memory that can be read")
		return nil, false
	}
	return data, true
}

// statusOf reads the bytes of an MPI_Status.
func statusOf(data []byte, order binary.ByteOrder) *mqs.MessageStatus {
	at := func(i int) uint32 { return order.Uint32(data[i:]) }
	high := at(statusCountHi)
	return &mqs.MessageStatus{
		Source:    mqs.Known(int32(at(statusSource))),
		Tag:       mqs.Known(int32(at(statusTag))),
		Error:     mqs.Known(int32(at(statusError))),
		Length:    mqs.Known(int64(high>>1)<<32 | int64(at(statusCountLo))),
		Cancelled: mqs.Known(high&1 != 0),
	}
}
