package ch4

import (
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
)

// partitionedTypes are bound where the types say how partitioned operations are kept.
type partitionedTypes struct {
	Request inferior.Struct[partRequest] `c:"MPIR_Request"`
}

// partRequest is MPIR_Request.u.part and .dev.ch4.part_req, of a partitioned operation.
type partRequest struct {
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
	// receiver has asked for its data. It is an address there, not here.
	Peer inferior.Addr `c:"dev.ch4.part_req.am.peer_req_ptr"`
	// The bytes of all partitions of the send that a receive has matched.
	Bytes int64 `c:"dev.ch4.part_req.am.u.recv.sdata_size"`
	// One for each partition of a send that is not ready, and one for the receiver's request for the data.
	Counts inferior.Embedded[struct{}] `c:"dev.ch4.part_req.am.u.send.ready_cntr,optional"`
	Ready  int32                       `c:"dev.ch4.part_req.am.u.send.ready_cntr.v|dev.ch4.part_req.am.u.send.ready_cntr,optional"`
	// Where each partition has a counter, that one counts something else.
	Each inferior.Embedded[struct{}] `c:"dev.ch4.part_req.am.u.send.cc_part,optional"`
}

// Partitioned returns what a partitioned operation asks for.
func (d *Device) Partitioned(r *mpir.Operation) (mpir.Partitioned, bool, error) {
	if !d.partitioned.Request.Bound() {
		return mpir.Partitioned{}, false, nil
	}
	p, err := d.partitioned.Request.Read(d.lib.Reader, inferior.Ptr[partRequest](r.At))
	out := mpir.Partitioned{Partitions: p.Partitions, IsActive: p.Active != 0, Buffer: p.Buffer, Count: p.Count, Datatype: p.Datatype,
		Peer: p.Source, Tag: p.Tag, IsMatched: p.Peer != 0, Bytes: p.Bytes}
	out.Sent = p.Peer
	if r.IsPartitionedSend() {
		out.Peer, out.Sent = p.Dest, r.At.Addr()
		out.Left = mqs.Maybe[int32]{Value: p.Ready, Known: p.Counts != 0 && p.Each == 0}
	}
	return out, true, err
}
