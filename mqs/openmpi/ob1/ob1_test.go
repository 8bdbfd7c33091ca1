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
