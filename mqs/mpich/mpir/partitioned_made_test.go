package mpir

import (
	"errors"
	"reflect"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// A partitioned operation is one message of all its partitions, from its start until the program has collected it.
func TestPartitioned(t *testing.T) {
	const intType = 0x4c000405
	on := comm(0x10, 8, false)
	send, recv := uint32(kindPartitionedSend), uint32(kindPartitionedRecv)
	one, more := []string{"1 partition"}, []string{"3 partitions"}
	for name, c := range map[string]struct {
		kind       uint32
		pending    int32
		p          Partitioned
		status     mqs.Status
		isShown    bool
		length     mqs.Maybe[int64] // desired
		actual     mqs.Maybe[int64]
		partitions []string
	}{
		"a send":                     {send, 1, Partitioned{Partitions: 3, Count: 2, IsActive: true}, mqs.Pending, true, mqs.Known[int64](24), mqs.Known[int64](24), more},
		"a send that has matched":    {send, 1, Partitioned{Partitions: 1, Count: 2, IsActive: true, IsMatched: true}, mqs.Matched, true, mqs.Known[int64](8), mqs.Known[int64](8), one},
		"a send that is over":        {send, 0, Partitioned{Partitions: 1, Count: 2, IsActive: true, IsMatched: true}, mqs.Complete, true, mqs.Known[int64](8), mqs.Known[int64](8), one},
		"a send that is not started": {send, 0, Partitioned{Partitions: 1, Count: 2, IsMatched: true}, mqs.Inactive, false, mqs.Known[int64](8), mqs.Known[int64](8), one},
		"a receive":                  {recv, 1, Partitioned{Partitions: 3, Count: 2, IsActive: true, Bytes: 9}, mqs.Pending, true, mqs.Known[int64](24), mqs.Maybe[int64]{}, more},
		"a receive that has matched": {recv, 1, Partitioned{Partitions: 3, Count: 2, IsActive: true, IsMatched: true, Bytes: 9}, mqs.Matched, true, mqs.Known[int64](24), mqs.Known[int64](9), more},
		"a receive that never began": {recv, 0, Partitioned{Partitions: 3, Count: 2, IsMatched: true, Bytes: 9}, mqs.Inactive, false, mqs.Known[int64](24), mqs.Maybe[int64]{}, more},
		"as much as nothing can be":  {recv, 1, Partitioned{Partitions: 3, Count: 1 << 62, IsActive: true}, mqs.Pending, true, mqs.Maybe[int64]{}, mqs.Maybe[int64]{}, more},
		"less than nothing":          {recv, 1, Partitioned{Partitions: 3, Count: -1, IsActive: true}, mqs.Pending, true, mqs.Maybe[int64]{}, mqs.Maybe[int64]{}, more},
	} {
		c.p.Datatype, c.p.Peer, c.p.Tag = intType, 1, 7
		r := &Operation{At: 0x1000, Request: Request{Kind: c.kind, Pending: c.pending, Comm: 0x10}}
		d := &scripted{partitions: map[*Operation]Partitioned{r: c.p}}
		op, isShown := made(inferiortest.New(), d, []*Communicator{on}, r).partitioned(on, r)
		if op.Status != c.status || isShown != c.isShown || op.DesiredLength != c.length || op.ActualLength != c.actual || !reflect.DeepEqual(op.ExtraText, c.partitions) {
			t.Errorf("%s: %+v, shown: %t", name, op, isShown)
		}
		if op.DesiredTag.Known != (c.kind == recv) || op.DesiredGlobalRank != mqs.Known[int32](11) || op.Kind == mqs.KindPartitionedSend != (c.kind == send) {
			t.Errorf("%s: %+v", name, op)
		}
		d.unreadable = errors.New("no memory")
		op, isShown = made(inferiortest.New(), d, []*Communicator{on}, r).partitioned(on, r)
		if op.Buffer.Known || op.ExtraText != nil || isShown != (c.pending != 0) {
			t.Errorf("%s, which can't be read: %+v, shown: %t", name, op, isShown)
		}
		op, isShown = made(inferiortest.New(), &scripted{}, []*Communicator{on}, r).partitioned(on, r)
		if op.Buffer.Known || op.ExtraText != nil || isShown != (c.pending != 0) {
			t.Errorf("%s, which the types do not tell: %+v, shown: %t", name, op, isShown)
		}
	}
}

// The length of a type that is not known is not known, nor is that of an operation with it.
func TestPartitionedOfUnknownType(t *testing.T) {
	on, r := comm(0x10, 8, false), &Operation{At: 0x1000, Request: Request{Kind: kindPartitionedRecv, Pending: 1, Comm: 0x10}}
	d := &scripted{partitions: map[*Operation]Partitioned{r: {Partitions: 1, Count: 2, Datatype: 0x8c000001, IsActive: true}}}
	if op, _ := made(inferiortest.New(), d, []*Communicator{on}, r).partitioned(on, r); op.DesiredLength.Known || op.Count != mqs.Known[int64](2) {
		t.Errorf("%+v", op)
	}
}

// How far a partitioned send has come is told by what it counts, unless its data goes: then it counts for the next time.
func TestReadiness(t *testing.T) {
	const more = "3 partitions"
	on := comm(0x10, 8, false)
	p := inferiortest.New()
	p.Types["MPIR_Request"] = &layout.Layout{Size: 0x100, Fields: map[string]layout.Field{}}
	for i, path := range []string{"handle", "ref_count", "kind", "cc", "comm", "status.MPI_SOURCE", "status.MPI_TAG", "status.count_lo", "status.count_hi_and_cancelled", "u.persist.real_request", "next"} {
		f := layout.Field{Offset: 8 * i, Size: 4, Kind: layout.KindUnsigned}
		switch path {
		case "comm", "u.persist.real_request", "next":
			f.Size, f.Kind = 8, layout.KindPointer
		}
		p.Types["MPIR_Request"].Fields[path] = f
	}
	for name, c := range map[string]struct {
		left  mqs.Maybe[int32]
		other uint64 // what another request is to notify
		err   error
		want  []string
	}{
		"none is ready":          {left: mqs.Known[int32](4), want: []string{more, mqs.PartitionsMissing}},
		"two are not":            {left: mqs.Known[int32](2), want: []string{more, mqs.PartitionsMissing}},
		"one is not, or is":      {left: mqs.Known[int32](1), want: []string{more, mqs.LastPartition}},
		"it is about to go":      {left: mqs.Known[int32](0), want: []string{more, mqs.PartitionsSent}},
		"it goes":                {left: mqs.Known[int32](4), other: 0x1010, want: []string{more, mqs.PartitionsSent}},
		"another one goes":       {left: mqs.Known[int32](4), other: 0x900, want: []string{more, mqs.PartitionsMissing}},
		"more than there can be": {left: mqs.Known[int32](5), want: []string{more}},
		"it is not known":        {want: []string{more}},
		"requests can't be read": {left: mqs.Known[int32](2), err: errors.New("no pool"), want: []string{more}},
	} {
		r := &Operation{At: 0x1000, Request: Request{Kind: kindPartitionedSend, Pending: 1, Comm: 0x10}}
		other := &Operation{At: 0x2000, Request: Request{Kind: 8, Pending: 1, Notifies: inferior.Addr(c.other)}}
		d := &scripted{partitions: map[*Operation]Partitioned{r: {Partitions: 3, Count: 2, IsActive: true, Sent: 0x1000, Left: c.left}}}
		s := made(p, d, []*Communicator{on}, r, other)
		s.requests().err = c.err
		op, _ := s.partitioned(on, r)
		if !reflect.DeepEqual(op.ExtraText, c.want) || op.MessageID != mqs.Known[uint64](0x1000) {
			t.Errorf("%s: %q, %+v", name, op.ExtraText, op.MessageID)
		}
	}
}
