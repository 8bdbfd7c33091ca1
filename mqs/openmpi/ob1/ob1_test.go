package ob1

import (
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompitest"
)

// ob1 is a process's if it has made something of its communicators, whatever pml is selected: monitoring
// puts itself in front of it.
func TestOpen(t *testing.T) {
	tg := inferiortest.Recorded(t, "openmpi-4.1.4/queues-rank-0")
	p, q := ompitest.MustOpen(t, tg, Component)
	if q == nil || p.PML != "ob1" {
		t.Fatalf("pml %s, %v", p.PML, q)
	}
	component := p.Symbols["mca_pml_base_selected_component"].Addr + ompitest.Offset(t, p, "mca_base_component_t", "mca_component_name")
	named := func(pml string) *inferiortest.Patched {
		return inferiortest.Patch(tg).PutBytes(component, append([]byte(pml), 0))
	}
	if p, q := ompitest.MustOpen(t, named("monitoring"), Component); q == nil || p.PML != "monitoring" {
		t.Errorf("beneath pml %s: %v", p.PML, q)
	}

	// Of another pml's process nothing is ob1's, and of its own one something is.
	world := ompitest.Comm(t, p, "MPI_COMM_WORLD")
	class, err := p.Object.Read(p.R, inferior.Ptr[ompi.Object](world.PMLComm))
	if err != nil {
		t.Fatal(err)
	}
	name, err := p.R.Pointers(class.Class.Addr()+ompitest.Offset(t, p, "opal_class_t", "cls_name"), 1)
	if err != nil {
		t.Fatal(err)
	}
	other := func(pml string) inferior.Inferior { return named(pml).PutBytes(name[0], []byte("x")) }
	if _, q, err := ompitest.Open(t, other("ucx"), Component); q != nil || err != nil {
		t.Errorf("of pml ucx: %v, %v", q, err)
	}
	if _, _, err := ompitest.Open(t, other("ob1"), Component); err == nil || !strings.Contains(err.Error(), "pml ob1 is selected, but communicator 0 has no mca_pml_ob1_comm_t") {
		t.Errorf("without ob1's objects: %v", err)
	}
}

// Layouts are refused if the list of receives of a communicator, or a list that requests are from, is no such object, or
// if it holds others.
func TestProofOfObjects(t *testing.T) {
	tg := inferiortest.Recorded(t, "openmpi-4.1.4/queues-rank-0")
	p, _ := ompitest.MustOpen(t, tg, Component)
	class := ompitest.Offset(t, p, "opal_object_t", "obj_class")
	world := ompitest.Comm(t, p, "MPI_COMM_WORLD").PMLComm
	held := func(list inferior.Addr) inferior.Addr {
		return list + ompitest.Offset(t, p, "opal_free_list_t", "fl_frag_class")
	}
	at := func(a inferior.Addr) inferior.Addr {
		to, err := p.R.Pointers(a, 1)
		if err != nil {
			t.Fatal(err)
		}
		return to[0]
	}
	sends, receives := p.Symbols[ompi.SymSendRequests].Addr, p.Symbols[ompi.SymRecvRequests].Addr
	list := world + ompitest.Offset(t, p, "mca_pml_ob1_comm_t", "wild_receives")
	first, wild := list+ompitest.Offset(t, p, "opal_list_t", "opal_list_sentinel.opal_list_next"), list+class
	for want, of := range map[string]inferior.Inferior{
		"is not closed":    inferiortest.Patch(tg).PutPointer(first, sends),
		"opal_list_t":      inferiortest.Patch(tg).PutPointer(wild, at(sends+class)),
		"opal_free_list_t": inferiortest.Patch(tg).PutPointer(sends+class, at(wild)),
		"the free list at " + sends.String() + ` holds "mca_pml_ob1_recv_request_t"`:    inferiortest.Patch(tg).PutPointer(held(sends), at(held(receives))),
		"the free list at " + receives.String() + ` holds "mca_pml_ob1_send_request_t"`: inferiortest.Patch(tg).PutPointer(held(receives), at(held(sends))),
		"cannot read": inferiortest.Patch(tg).PutPointer(held(receives), 0x10),
	} {
		if _, _, err := ompitest.Open(t, of, Component); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
