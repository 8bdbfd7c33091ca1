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
	const root, group, list = 0x1008, 0x2000, 0x3000
	p := inferiortest.New()
	p.Types["MPIR_Group"] = &layout.Layout{Size: 24, Fields: map[string]layout.Field{"handle": field(0, 4, layout.KindSigned), "ref_count": field(4, 4, layout.KindSigned),
		"size": field(8, 4, layout.KindSigned), "rank": field(12, 4, layout.KindSigned), "lrank_to_lpid": field(16, 8, layout.KindPointer)}}
	p.Types["MPII_Group_pmap_t"] = &layout.Layout{Size: 8, Fields: map[string]layout.Field{"lpid": field(0, 8, layout.KindSigned)}}
	p.PutUint64(root, group)
	p.PutUint32(group, 0x88000000, 1, 2, 0xffff_8002)
	p.PutUint64(group+16, list)
	p.PutUint64(list, 3, 1)
	failed := func(enabled, acked int32) []int32 {
		l := over(p)
		l.Process.Size = 4
		c := &Communicator{Comm: Comm{AnySource: enabled, Acked: acked},
			Model: &mqs.Communicator{Group: []mqs.Maybe[int32]{mqs.Known[int32](1), mqs.Known[int32](0), {}, mqs.Known[int32](3)}}}
		l.setFailed([]*Communicator{c, {Comm: Comm{AnySource: 1, Acked: noneAcked}, Model: &mqs.Communicator{}}})
		return c.Model.Failed
	}
	p.Symbols[symFailedProcs] = &inferior.Symbol{Addr: root}
	p.Types["MPIR_Comm"] = commLayout()
	if got := failed(0, 1); got != nil {
		t.Errorf("of another device: %v", got)
	}
	p.Types["MPIR_Comm"] = commLayout("dev.anysource_enabled", "dev.last_ack_rank")
	for _, c := range []struct {
		enabled, acked int32
		want           []int32
	}{
		{1, noneAcked, []int32{}},
		{0, noneAcked, []int32{0, 3}},
		{1, 1, []int32{0, 3}},
	} {
		if got := failed(c.enabled, c.acked); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%+v: %v", c, got)
		}
	}
	p.PutUint32(group, 0x84000000) // a communicator
	if got := failed(0, 1); got != nil {
		t.Errorf("what is no group: %v", got)
	}
	delete(p.Symbols, symFailedProcs)
	if got := failed(0, 1); got != nil {
		t.Errorf("without the symbol: %v", got)
	}
}

// commLayout is a communicator's layout, with members of a device.
func commLayout(dev ...string) *layout.Layout {
	out := &layout.Layout{Size: 256, Fields: map[string]layout.Field{"name": {Offset: 64, Size: 64, Kind: layout.KindArray},
		"local_comm": field(128, 8, layout.KindPointer), "comm_next": field(136, 8, layout.KindPointer)}}
	for i, name := range append([]string{"handle", "ref_count", "context_id", "recvcontext_id", "remote_size", "rank", "local_size", "comm_kind"}, dev...) {
		out.Fields[name] = field(4*i, 4, layout.KindSigned)
	}
	return out
}
