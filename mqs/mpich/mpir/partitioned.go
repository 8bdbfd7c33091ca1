package mpir

import (
	"fmt"
	"math/bits"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Kinds of the requests of partitioned operations that the program has (MPIR_Request_kind_t in
// src/include/mpir_request.h, 4.0 to 5.0). What moves their data has a kind of its own.
const (
	kindPartitionedSend = 6
	kindPartitionedRecv = 7
)

// Partitioned is what MPI_Psend_init or MPI_Precv_init has kept. Of a send it lacks the tag.
type Partitioned struct {
	Partitions int32
	// IsActive is true between its start and its end.
	IsActive bool
	Buffer   inferior.Addr
	Count    int64 // of elements, in each partition
	Datatype uint32
	Peer     int32
	Tag      int32 // of a receive
	// Sent is what the two sides have in common: the address of the sender's request, 0 of a receive that has not met it.
	Sent inferior.Addr
	// Left is of a send: one for each partition that is not ready, and one more until the receiver has asked for the data. It
	// begins again as soon as the data goes.
	Left mqs.Maybe[int32]
	// IsMatched is true of a receive once both sides have been made, of a send once the
	// receiver has asked for its data.
	IsMatched bool
	// Bytes are those of all partitions of the send that a receive has matched.
	Bytes int64
}

// isPartitioned tells the partitioned operations of the program. One without a communicator is a message that no
// MPI_Precv_init has matched.
func isPartitioned(r *Operation) bool {
	return r.Comm != 0 && (r.Kind == kindPartitionedSend || r.Kind == kindPartitionedRecv)
}

// IsPartitionedSend tells a partitioned send from a partitioned receive.
func (r *Operation) IsPartitionedSend() bool { return r.Kind == kindPartitionedSend }

// yieldPartitioned yields the partitioned operations of a kind that have been started and not
// been collected, in the order of the pools; false if nothing more is wanted.
func (s *Source) yieldPartitioned(c *Communicator, kind uint32, yield yielder) bool {
	for _, r := range ofComm(s.requests().partitioned, c) {
		if r.Kind != kind {
			continue
		}
		if op, ok := s.partitioned(c, r); ok && !yield(op, nil) {
			return false
		}
	}
	return true
}

// partitioned describes a partitioned operation, of which all partitions together are one
// message; false if it has not been started. Where the types do not tell, one that is complete
// may not have been.
func (s *Source) partitioned(c *Communicator, r *Operation) (mqs.PendingOperation, bool) {
	isSend := r.IsPartitionedSend()
	op := mqs.PendingOperation{Status: mqs.Pending, Kind: mqs.KindPartitionedRecv, TagWild: mqs.Known(false), Request: mqs.Known(r.At.Addr())}
	if isSend {
		op.Kind = mqs.KindPartitionedSend
		s.lib.Remarks.Set(UnknownSends, s.device.UnknownSends())
	}
	if r.IsComplete() {
		op.Status = mqs.Complete
	}
	p, ok, err := s.device.Partitioned(r)
	if !ok {
		s.lib.Remarks.Set(BarePartitioned, "this library's types tell no more of partitioned operations than that they are there")
		return op, !r.IsComplete()
	}
	if err != nil {
		return op, !r.IsComplete()
	}
	op.Buffer, op.SystemBuffer = mqs.Known(p.Buffer), mqs.Known(false)
	dt := s.lib.Datatype(p.Datatype)
	op.Datatype, op.DatatypeConstruction = dt.Name, s.lib.unnamed(p.Datatype)
	if count, ok := product(p.Count, int64(p.Partitions)); ok {
		op.Count = mqs.Known(count)
		if bytes, ok := product(count, dt.Size.Value); ok && dt.Size.Known {
			op.DesiredLength = mqs.Known(bytes)
		}
	}
	op.ExtraText = []string{fmt.Sprintf("%d partitions", p.Partitions)}
	if p.Partitions == 1 {
		op.ExtraText = []string{"1 partition"}
	}
	if p.Sent != 0 {
		op.MessageID = mqs.Known(uint64(p.Sent))
	}
	if isSend && p.IsActive && !r.IsComplete() {
		op.ExtraText = append(op.ExtraText, s.readiness(r, p)...)
	}
	switch {
	case !p.IsActive:
		op.Status = mqs.Inactive
	case p.IsMatched && op.Status == mqs.Pending:
		op.Status = mqs.Matched
	}
	op.DesiredLocalRank, op.DesiredGlobalRank = mqs.Known(p.Peer), c.Model.GlobalRank(p.Peer)
	if isSend {
		op.SetActual()
		return op, p.IsActive
	}
	op.DesiredTag = mqs.Known(p.Tag)
	if p.IsMatched && p.IsActive {
		op.SetActual()
		op.ActualLength = mqs.Known(p.Bytes)
	}
	return op, p.IsActive
}

// readiness says how far a partitioned send has come that is started and not complete: empty if that is not known. While its
// data goes, a request of the library's stands for that, which is to notify it.
func (s *Source) readiness(r *Operation, p Partitioned) []string {
	q := s.requests()
	if !p.Left.Known || q.err != nil {
		return nil
	}
	size := inferior.Addr(s.lib.c.Request.Size())
	for _, o := range q.byAddr {
		if o.Notifies >= r.At.Addr() && o.Notifies < r.At.Addr()+size {
			return []string{mqs.PartitionsSent}
		}
	}
	switch {
	case p.Left.Value <= 0:
		return []string{mqs.PartitionsSent} // it is about to go
	case p.Left.Value == 1:
		return []string{mqs.LastPartition}
	case p.Left.Value <= p.Partitions+1:
		return []string{mqs.PartitionsMissing}
	}
	return nil
}

// product multiplies counts; false if there is no such count.
func product(a, b int64) (int64, bool) {
	if a < 0 || b < 0 {
		return 0, false
	}
	high, low := bits.Mul64(uint64(a), uint64(b))
	return int64(low), high == 0 && int64(low) >= 0
}
