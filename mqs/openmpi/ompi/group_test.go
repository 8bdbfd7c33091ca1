package ompi

import (
	"context"
	"encoding/binary"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// Where a pointer has 32 bits, a group's entry that is no pointer holds the
// number of a process of the own job.
func TestNarrowSentinels(t *testing.T) {
	const start, job = 0x8000_0000, 0x1234_0001
	const own, other = start + 0x100, start + 0x200
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		page := make([]byte, 0x1000)
		for _, p := range []struct{ at, job, vpid uint32 }{{own, job, 1}, {other, job, 2}} {
			order.PutUint32(page[p.at-start+20:], p.job)
			order.PutUint32(page[p.at-start+24:], p.vpid)
		}
		n := &inferiortest.Process{
			Identity: inferior.Info{PointerSize: 4, BigEndian: order == binary.BigEndian},
			Memory:   map[inferior.Addr][]byte{start: page},
			Types: map[string]*layout.Layout{"ompi_proc_t": {Size: 64, Fields: map[string]layout.Field{
				"super.proc_name.jobid": {Offset: 20, Size: 4, Kind: layout.KindUnsigned},
				"super.proc_name.vpid":  {Offset: 24, Size: 4, Kind: layout.KindUnsigned}}}},
		}
		p := &Process{R: inferior.NewReader(context.Background(), n)}
		var bound struct {
			Proc inferior.Struct[Proc] `c:"ompi_proc_t"`
		}
		layouts, err := inferior.FromDebugInfo(p.R, inferior.Queries(&bound))
		if err != nil {
			t.Fatal(err)
		}
		if err := inferior.Bind(&bound, layouts); err != nil {
			t.Fatal(err)
		}
		p.Proc = bound.Proc
		p.world = &worldGroup{rank: 1, entries: []inferior.Ptr[Proc]{0<<1 | 1, own, 2<<1 | 1}}
		for entry, want := range map[inferior.Ptr[Proc]]procName{
			0<<1 | 1: {job, 0}, own: {job, 1}, other: {job, 2}, 2<<1 | 1: {job, 2}, 0x4000_0001<<1 | 1: {job, 0x4000_0001}} {
			if got, err := p.nameOf(entry); got != want || err != nil {
				t.Errorf("%v: %s is %v, %v", order, entry, got, err)
			}
		}
		// What can't be told is not.
		p.world.entries[1] = 1<<1 | 1
		if got, err := p.nameOf(2<<1 | 1); err == nil {
			t.Errorf("%v: without its own job it is %v", order, got)
		}
	}
}
