package ch3

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// Messages lie in the process's own queue, and in the boxes of the other processes of its node.
func TestArriving(t *testing.T) {
	const region, queue, boxes, box = 0x1000, 0x2000, 0x3000, 0x4000 // of rank 1 of 2, whose boxes are 64 bytes apart
	no, yes, unknown := mqs.Known(false), mqs.Known(true), mqs.Maybe[bool]{}
	for name, c := range map[string]struct {
		change func(p *inferiortest.Process)
		nodes  int32
		want   mqs.Maybe[bool]
	}{
		"nothing":                   {func(*inferiortest.Process) {}, 1, no},
		"in the queue":              {func(p *inferiortest.Process) { p.PutUint64(queue, 0x100) }, 1, yes},
		"in what it has taken":      {func(p *inferiortest.Process) { p.PutUint64(queue+8, 0x100) }, 1, yes},
		"in the other's box":        {func(p *inferiortest.Process) { p.PutUint32(box, 1) }, 1, yes},
		"in its own box":            {func(p *inferiortest.Process) { p.PutUint32(box+64, 1) }, 1, no},
		"perhaps from another node": {func(*inferiortest.Process) {}, 2, unknown},
		"no processes":              {func(p *inferiortest.Process) { p.PutUint32(region, 0) }, 1, unknown},
		"no queue":                  {func(p *inferiortest.Process) { p.PutUint64(region+16, 0) }, 1, unknown},
		"boxes that can't be read":  {func(p *inferiortest.Process) { p.PutUint64(boxes, 0x9000) }, 1, unknown},
	} {
		p := inferiortest.New()
		p.Symbols[symRegion] = &inferior.Symbol{Addr: region}
		p.Types["MPID_nem_mem_region_t"] = &layout.Layout{Size: 24, Fields: map[string]layout.Field{"num_local": field(0, 4, layout.KindSigned),
			"local_rank": field(4, 4, layout.KindSigned), "mailboxes.in": field(8, 8, layout.KindPointer), "my_recvQ": field(16, 8, layout.KindPointer)}}
		p.Types["MPID_nem_queue_t"] = &layout.Layout{Size: 16, Fields: map[string]layout.Field{"head": field(0, 8, layout.KindStruct), "my_head": field(8, 8, layout.KindStruct)}}
		p.Types["MPID_nem_fastbox_t"] = &layout.Layout{Size: 4, Fields: map[string]layout.Field{"flag.v": field(0, 4, layout.KindSigned)}}
		p.PutUint32(region, 2, 1)
		p.PutUint64(region+8, boxes, queue)
		p.PutUint64(queue, 0)
		p.PutUint64(boxes, box, box+64)
		p.PutUint32(box, 0)
		c.change(p)
		d := over(p)
		d.lib.Process.Nodes = c.nodes
		bind(t, p, &d.arrivals)
		if got := d.Arriving(); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	if got := over(inferiortest.New()).Arriving(); got.Known {
		t.Errorf("without the types: %+v", got)
	}
}
