package ob1

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
)

// A request stands for an operation from its start on, and a persistent one until it has been collected.
func TestInUse(t *testing.T) {
	for state, want := range map[int32]bool{ompi.RequestInvalid: false, ompi.RequestInactive: false, ompi.RequestActive: true, ompi.RequestActive + 1: true} {
		if got := inUse(request{State: state}); got != want {
			t.Errorf("state %d: %t", state, got)
		}
	}
}

// The data of a persistent buffered send that was collected is in the attached buffer until it has been sent.
func TestIsBuffered(t *testing.T) {
	of := sendRequest{Base: request{State: ompi.RequestInactive, Addr: 0x40}, Mode: ompi.ModeBuffered, Addr: 0x80}
	for name, c := range map[string]struct {
		change func(r *sendRequest)
		want   bool
	}{
		"as it is":              {func(*sendRequest) {}, true},
		"active":                {func(r *sendRequest) { r.Base.State = ompi.RequestActive }, false},
		"of another mode":       {func(r *sendRequest) { r.Mode = ompi.ModeStandard }, false},
		"sent":                  {func(r *sendRequest) { r.Base.PMLComplete = true }, false},
		"in the program's data": {func(r *sendRequest) { r.Addr = r.Base.Addr }, false},
	} {
		r := of
		if c.change(&r); isBuffered(r) != c.want {
			t.Errorf("%s: %t", name, !c.want)
		}
	}
}

// A probe that takes a message is complete when it has taken one.
func TestIsTaken(t *testing.T) {
	for kind, want := range map[int32]bool{typeSend: false, typeRecv: false, typeIprobe: false, typeProbe: false, typeImprobe: true, typeMprobe: true} {
		for complete, isOver := range map[uint64]bool{0: false, 0x7000: false, ompi.RequestCompleted: true} {
			if got := isTaken(&recvAt{recvRequest: recvRequest{Base: request{Type: kind, Complete: complete}}}); got != (want && isOver) {
				t.Errorf("a request of type %d, %#x: %t", kind, complete, got)
			}
		}
	}
}

// A receive is found at the address of an element of the list that was read.
func TestRecvAt(t *testing.T) {
	if got := (&requests{}).recvAt(0x1000); got != nil {
		t.Errorf("of a list that was not read: %+v", got)
	}
}

// A blocking call makes sends and receives that are not persistent, not buffered, and have a tag of the program's.
func TestMayBlock(t *testing.T) {
	for name, c := range map[string]struct {
		r    request
		mode int32
		want bool
	}{
		"a send":              {request{Type: typeSend, Tag: 7}, ompi.ModeStandard, true},
		"a synchronous send":  {request{Type: typeSend, Tag: 7}, ompi.ModeSynchronous, true},
		"a buffered send":     {request{Type: typeSend, Tag: 7}, ompi.ModeBuffered, false},
		"a receive":           {request{Type: typeRecv, Tag: 0}, ompi.ModeStandard, true},
		"of any tag":          {request{Type: typeRecv, Tag: ompi.AnyTag}, ompi.ModeStandard, true},
		"of a collective":     {request{Type: typeRecv, Tag: ompi.AnyTag - 1}, ompi.ModeStandard, false},
		"a persistent one":    {request{Type: typeRecv, Tag: 7, Persistent: true}, ompi.ModeStandard, false},
		"one that was freed":  {request{Type: typeRecv, Tag: 7, FreeCalled: true}, ompi.ModeStandard, false},
		"a probe":             {request{Type: typeProbe, Tag: 7}, ompi.ModeStandard, false},
		"a probe that takes":  {request{Type: typeMprobe, Tag: 7}, ompi.ModeStandard, false},
		"one of another kind": {request{Type: 0, Tag: 7}, ompi.ModeStandard, false},
	} {
		if got := mayBlock(&c.r, c.mode); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	for kind, want := range map[int32]mqs.OpClass{typeSend: mqs.PendingSends, typeRecv: mqs.PendingReceives, typeMprobe: mqs.PendingReceives} {
		c := candidate{addr: 0x10, request: request{Type: kind, Comm: 0x20, Tag: 7, Complete: 5}}
		if got, all := c.waitable(), (ompi.Waitable{Addr: 0x10, Class: want, Comm: 0x20, Tag: 7, Complete: 5}); got != all {
			t.Errorf("type %d: %+v, want %+v", kind, got, all)
		}
	}
}
