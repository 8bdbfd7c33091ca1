package mpir

import (
	"reflect"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// The library has a group of those that have failed, which counts as long as it knows of one.
func TestFailed(t *testing.T) {
	const last, root, group, list = 0x1000, 0x1008, 0x2000, 0x3000
	p := inferiortest.New()
	p.Types["MPIR_Group"] = &layout.Layout{Size: 24, Fields: map[string]layout.Field{"handle": field(0, 4, layout.KindSigned), "ref_count": field(4, 4, layout.KindSigned),
		"size": field(8, 4, layout.KindSigned), "rank": field(12, 4, layout.KindSigned), "lrank_to_lpid": field(16, 8, layout.KindPointer)}}
	p.Types["MPII_Group_pmap_t"] = &layout.Layout{Size: 8, Fields: map[string]layout.Field{"lpid": field(0, 8, layout.KindSigned)}}
	p.PutUint32(last, 0xffff_ffff, 0)
	p.PutUint64(root, group)
	p.PutUint32(group, 0x88000000, 1, 2, 0xffff_8002)
	p.PutUint64(group+16, list)
	p.PutUint64(list, 3, 1)
	failed := func() []int32 {
		l := over(p)
		l.Process.Size = 4
		c := &Communicator{Model: &mqs.Communicator{Group: []mqs.Maybe[int32]{mqs.Known[int32](1), mqs.Known[int32](0), {}, mqs.Known[int32](3)}}}
		l.setFailed([]*Communicator{c, {Model: &mqs.Communicator{}}})
		return c.Model.Failed
	}
	if got := failed(); got != nil {
		t.Errorf("without symbols: %v", got)
	}
	p.Symbols[symLastFailed], p.Symbols[symFailedProcs] = &inferior.Symbol{Addr: last}, &inferior.Symbol{Addr: root}
	if got := failed(); !reflect.DeepEqual(got, []int32{}) {
		t.Errorf("nobody has failed: %v", got)
	}
	p.PutUint32(last, 1)
	if got := failed(); !reflect.DeepEqual(got, []int32{0, 3}) {
		t.Errorf("%v", got)
	}
	p.PutUint32(group, 0x84000000) // a communicator
	if got := failed(); got != nil {
		t.Errorf("what is no group: %v", got)
	}
}
