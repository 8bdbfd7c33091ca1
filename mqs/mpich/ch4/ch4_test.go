package ch4

import (
	"context"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
)

var field = inferiortest.Field

// over is a device of a made-up process, of which nothing is bound.
func over(p *inferiortest.Process) *Device {
	return &Device{lib: &mpir.Library{Reader: inferior.NewReader(context.Background(), p), Symbols: p.Found(), Layouts: layout.FromDWARF(p.Types)}}
}

// withInterfaces is a process with two virtual interfaces.
func withInterfaces() *inferiortest.Process {
	p := inferiortest.New()
	p.Symbols[symGlobal] = &inferior.Symbol{Addr: 0x1000}
	p.Types["MPIDI_CH4_Global_t"] = &layout.Layout{Size: 64, Fields: map[string]layout.Field{"n_vcis": field(0, 4, layout.KindSigned), "per_vci": field(8, 48, layout.KindArray)}}
	p.Types["MPIDI_per_vci_t"] = &layout.Layout{Size: 24, Fields: map[string]layout.Field{"posted_list": field(0, 8, layout.KindPointer), "unexp_list": field(8, 8, layout.KindPointer),
		"progress_count.v": field(16, 4, layout.KindSigned)}}
	p.PutUint32(0x1000, 2)
	p.PutUint64(0x1008, 0x10, 0x20, 1<<31, 0x30, 0x40, 1<<31+5)
	return p
}

// Each virtual interface has lists of its own, and counts what it has freed by 32 bits.
func TestInterfaces(t *testing.T) {
	p := withInterfaces()
	d := over(p)
	_ = inferior.Bind(&d.c, d.lib.Layouts) // which lacks requests
	posted, err := d.Posted()
	if err != nil || len(posted) != 2 || posted[0] != 0x10 || posted[1] != 0x30 {
		t.Errorf("%v, %v", posted, err)
	}
	unexpected, err := d.Unexpected()
	if err != nil || len(unexpected) != 2 || unexpected[0] != 0x20 || unexpected[1] != 0x40 {
		t.Errorf("%v, %v", unexpected, err)
	}
	if got := d.Progress(); got != mqs.Known[uint64](5) {
		t.Errorf("%+v", got)
	}
	delete(p.Types["MPIDI_per_vci_t"].Fields, "progress_count.v")
	d = over(p)
	_ = inferior.Bind(&d.c, d.lib.Layouts)
	if got := d.Progress(); got.Known {
		t.Errorf("of a release that counts nothing: %+v", got)
	}
}

// Where the device does not match messages itself, they are elsewhere, and a note says so.
func TestElsewhere(t *testing.T) {
	group := func(ranks ...mqs.Maybe[int32]) *mpir.Communicator {
		return &mpir.Communicator{Comm: mpir.Comm{LocalSize: int32(len(ranks))}, Model: &mqs.Communicator{Group: ranks}}
	}
	here, other := mqs.Known[int32](0), mqs.Maybe[int32]{}
	for name, c := range map[string]struct {
		hasShared bool
		nodes     int32
		beneath   beneath
		comm      *mpir.Communicator
		fails     bool
		note      string
	}{
		"on one node":                         {true, 1, beneath{}, group(here, here), false, ""},
		"on two nodes":                        {true, 2, beneath{}, group(here, here), false, "from other nodes or programs"},
		"with another program":                {true, 1, beneath{}, group(here, other), false, "from other nodes or programs"},
		"to oneself":                          {false, 1, beneath{}, group(here), false, ""},
		"without shared memory":               {false, 1, beneath{}, group(here, here), true, "--with-ch4-shmmods=posix"},
		"over a network that can't be read":   {false, 1, beneath{err: &NetworkError{Err: context.Canceled}}, group(here, here), true, ""},
		"over a network":                      {false, 2, beneath{network: &Network{}}, group(here, other), false, ""},
		"to oneself, over a network":          {false, 2, beneath{network: &Network{}}, group(here), false, ""},
		"to oneself, though on several nodes": {true, 2, beneath{}, group(here), false, ""},
	} {
		p := newRequests(t)
		if !c.hasShared {
			delete(p.Types["MPIR_Request"].Fields, "dev.is_local")
		}
		d := p.device()
		d.lib.Process.Nodes, d.beneath = c.nodes, c.beneath
		err := d.Elsewhere(c.comm)
		notes := strings.Join(d.lib.Remarks.Sentences(), "\n")
		if (err != nil) != c.fails || !strings.Contains(notes, c.note) || c.note == "" && notes != "" {
			t.Errorf("%s: %v, notes %q", name, err, notes)
		}
	}
}

// A network library that may refuse a send can't do so if no message is left to it.
func TestMayRefuse(t *testing.T) {
	group := func(ranks ...mqs.Maybe[int32]) *mpir.Communicator {
		return &mpir.Communicator{Model: &mqs.Communicator{Group: ranks}}
	}
	here, other := mqs.Known[int32](0), mqs.Maybe[int32]{}
	for name, c := range map[string]struct {
		network   bool
		hasShared bool
		nodes     int32
		comms     []*mpir.Communicator
		want      bool
	}{
		"on one node":                    {true, true, 1, []*mpir.Communicator{group(here, here), group(here)}, false},
		"it never refuses one":           {false, true, 2, []*mpir.Communicator{group(here, here)}, false},
		"without shared memory":          {true, false, 1, []*mpir.Communicator{group(here, here)}, true},
		"on two nodes":                   {true, true, 2, []*mpir.Communicator{group(here, here)}, true},
		"the nodes are not known":        {true, true, 0, []*mpir.Communicator{group(here, here)}, true},
		"with another program":           {true, true, 1, []*mpir.Communicator{group(here, here), group(here, other)}, true},
		"a group that can't be read":     {true, true, 1, []*mpir.Communicator{group(here, here), group()}, true},
		"the communicators are not read": {true, true, 1, nil, true},
	} {
		p := newRequests(t)
		if !c.hasShared {
			delete(p.Types["MPIR_Request"].Fields, "dev.is_local")
		}
		d := p.device()
		d.lib.Process.Nodes, d.beneath.mayRefuse = c.nodes, c.network
		if c.comms != nil {
			d.Join(nil, c.comms, nil)
		}
		if got := d.MayRefuse(); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
