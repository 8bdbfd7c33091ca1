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
	data := v.Data
	if len(data) == 0 {
		data, _ = r.Bytes(inferior.Addr(v.Value), statusSize)
	}
	if len(data) < statusSize {
		h.Notes = append(h.Notes, "it is not in memory that can be read")
		return
	}
	h.State, h.Status = mqs.LiveHandle, statusOf(data, r.Info().BigEndian)
}

// statusOf reads the bytes of an MPI_Status.
func statusOf(data []byte, isBigEndian bool) *mqs.MessageStatus {
	var order binary.ByteOrder = binary.LittleEndian
	if isBigEndian {
		order = binary.BigEndian
	}
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
