package mpich

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

// partitionedTypes are bound where the device has partitioned operations and its types say how
// they are kept.
type partitionedTypes struct {
	Request inferior.Struct[partitioned] `c:"MPIR_Request"`
}

// partitioned is what MPI_Psend_init or MPI_Precv_init has kept. The tag of a send it has not.
type partitioned struct {
	Partitions int32         `c:"u.part.partitions"`
	Active     int32         `c:"u.part.active_flag.v|u.part.active_flag"`
	Buffer     inferior.Addr `c:"dev.ch4.part_req.buffer"`
	Count      int64         `c:"dev.ch4.part_req.count"` // of elements, in each partition
	Datatype   uint32        `c:"dev.ch4.part_req.datatype"`
	Dest       int32         `c:"dev.ch4.part_req.u.send.dest"`
	// From 4.1 the envelope of a receive is in its status.
	Source int32 `c:"dev.ch4.part_req.u.recv.source|status.MPI_SOURCE"`
	Tag    int32 `c:"dev.ch4.part_req.u.recv.tag|status.MPI_TAG"`
	// The other side's request: a receive has it once both have been made, a send once the
	// receiver has asked for its data.
	Peer inferior.Addr `c:"dev.ch4.part_req.am.peer_req_ptr"`
	// The bytes of all partitions of the send that a receive has matched.
	Bytes int64 `c:"dev.ch4.part_req.am.u.recv.sdata_size"`
}

// isPartitioned tells those of the program; one without a communicator is a message that no
// MPI_Precv_init has matched.
func isPartitioned(r *requestAt) bool {
	return r.Comm != 0 && (r.Kind == kindPartitionedSend || r.Kind == kindPartitionedRecv)
}

// yieldPartitioned yields the partitioned operations of a kind that have been started and not
// been collected, in the order of the pools; false if nothing more is wanted.
func (s *source) yieldPartitioned(c *commState, kind uint32, yield yielder) bool {
	for _, r := range ofComm(s.requests.partitioned, c) {
		if r.Kind != kind {
			continue
		}
		if op, ok := s.startedPartitioned(c, r); ok && !yield(op, nil) {
			return false
		}
	}
	return true
}

// startedPartitioned describes a partitioned operation, of which all partitions together are one
// message; false if it has not been started. Where the types do not tell, one that is complete
// may not have been.
func (s *source) startedPartitioned(c *commState, r *requestAt) (mqs.PendingOperation, bool) {
	sends := r.Kind == kindPartitionedSend
	op := mqs.PendingOperation{Status: mqs.Pending, Kind: mqs.KindPartitionedRecv, TagWild: mqs.Known(false), Request: mqs.Known(r.at)}
	if sends {
		op.Kind = mqs.KindPartitionedSend
		s.unknownSends = true
	}
	if r.complete() {
		op.Status = mqs.Complete
	}
	if !s.partitions.Request.Bound() {
		s.barePartitioned = true
		return op, !r.complete()
	}
	p, err := s.partitions.Request.ReadAt(s.r, r.at)
	if err != nil || p.Active == 0 {
		return op, err != nil && !r.complete()
	}
	op.Buffer, op.SystemBuffer = mqs.Known(p.Buffer), mqs.Known(false)
	dt := s.datatypeOf(p.Datatype)
	op.Datatype = dt.name
	if count, ok := product(p.Count, int64(p.Partitions)); ok {
		op.Count = mqs.Known(count)
		if bytes, ok := product(count, dt.size.Value); ok && dt.size.Known {
			op.DesiredLength = mqs.Known(bytes)
		}
	}
	op.ExtraText = []string{fmt.Sprintf("%d partitions", p.Partitions)}
	if p.Partitions == 1 {
		op.ExtraText = []string{"1 partition"}
	}
	matched := p.Peer != 0
	if matched && op.Status == mqs.Pending {
		op.Status = mqs.Matched
	}
	if sends {
		op.DesiredLocalRank, op.DesiredGlobalRank = mqs.Known(p.Dest), c.model.GlobalRank(p.Dest)
		op.ActualLocalRank, op.ActualGlobalRank, op.ActualLength = op.DesiredLocalRank, op.DesiredGlobalRank, op.DesiredLength
		return op, true
	}
	op.DesiredLocalRank, op.DesiredGlobalRank, op.DesiredTag = mqs.Known(p.Source), c.model.GlobalRank(p.Source), mqs.Known(p.Tag)
	if matched {
		op.ActualLocalRank, op.ActualGlobalRank, op.ActualTag = op.DesiredLocalRank, op.DesiredGlobalRank, op.DesiredTag
		op.ActualLength = mqs.Known(p.Bytes)
	}
	return op, true
}

// product multiplies counts; false if there is no such count.
func product(a, b int64) (int64, bool) {
	if a < 0 || b < 0 {
		return 0, false
	}
	high, low := bits.Mul64(uint64(a), uint64(b))
	return int64(low), high == 0 && int64(low) >= 0
}
