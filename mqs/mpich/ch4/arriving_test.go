package ch4

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// Messages lie in the process's own terminal of the only transport.
func TestArriving(t *testing.T) {
	const all, terminal = 0x1000, 0x2000
	no, yes, unknown := mqs.Known(false), mqs.Known(true), mqs.Maybe[bool]{}
	for name, c := range map[string]struct {
		change     func(p *inferiortest.Process)
		nodes      int32
		transports int
		want       mqs.Maybe[bool]
	}{
		"nothing":                   {func(*inferiortest.Process) {}, 1, 1, no},
		"at the head":               {func(p *inferiortest.Process) { p.PutUint64(terminal, 0x100) }, 1, 1, yes},
		"at the tail":               {func(p *inferiortest.Process) { p.PutUint64(terminal+8, 0x100) }, 1, 1, yes},
		"perhaps from another node": {func(*inferiortest.Process) {}, 2, 1, unknown},
		"no terminal":               {func(p *inferiortest.Process) { p.PutUint64(all, 0) }, 1, 1, unknown},
		"several transports":        {func(*inferiortest.Process) {}, 1, 2, unknown},
		"it can't be read":          {func(p *inferiortest.Process) { p.PutUint64(all, 0x9000) }, 1, 1, unknown},
	} {
		p := inferiortest.New()
		p.Symbols[symTransports] = &inferior.Symbol{Addr: all}
		p.Types["MPIDI_POSIX_eager_iqueue_global_t"] = &layout.Layout{Size: 8 * c.transports, Fields: map[string]layout.Field{"transports": field(0, 8*c.transports, layout.KindArray)}}
		p.Types["MPIDI_POSIX_eager_iqueue_transport_t"] = &layout.Layout{Size: 8, Fields: map[string]layout.Field{"my_terminal": field(0, 8, layout.KindPointer)}}
		p.Types["MPIDU_genq_shmem_queue_u"] = &layout.Layout{Size: 16, Fields: map[string]layout.Field{"q.head": field(0, 8, layout.KindStruct), "q.tail": field(8, 8, layout.KindStruct)}}
		p.PutUint64(all, terminal)
		p.PutUint64(terminal, 0, 0)
		c.change(p)
		d := over(p)
		d.lib.Process.Nodes = c.nodes
		if err := inferior.Bind(&d.arrivals, d.lib.Layouts); err != nil {
			t.Fatal(err)
		}
		if got := d.Arriving(); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	if got := over(inferiortest.New()).Arriving(); got.Known {
		t.Errorf("without the types: %+v", got)
	}
}

// Where one of the types is not known, nothing is.
func TestArrivingWithoutTypes(t *testing.T) {
	types := map[string]*layout.Layout{
		"MPIDI_POSIX_eager_iqueue_global_t":    {Size: 8, Fields: map[string]layout.Field{"transports": field(0, 8, layout.KindArray)}},
		"MPIDI_POSIX_eager_iqueue_transport_t": {Size: 8, Fields: map[string]layout.Field{"my_terminal": field(0, 8, layout.KindPointer)}},
		"MPIDU_genq_shmem_queue_u":             {Size: 16, Fields: map[string]layout.Field{"q.head": field(0, 8, layout.KindStruct), "q.tail": field(8, 8, layout.KindStruct)}},
	}
	for missing := range types {
		p := inferiortest.New()
		p.Symbols[symTransports] = &inferior.Symbol{Addr: 0x1000}
		p.PutUint64(0x1000, 0x2000)
		p.PutUint64(0x2000, 0, 0)
		for name, l := range types {
			if name != missing {
				p.Types[name] = l
			}
		}
		d := over(p)
		d.lib.Process.Nodes = 1
		if err := inferior.Bind(&d.arrivals, d.lib.Layouts); err != nil {
			t.Fatal(err)
		}
		if got := d.Arriving(); got.Known {
			t.Errorf("without %s: %+v", missing, got)
		}
	}
}
