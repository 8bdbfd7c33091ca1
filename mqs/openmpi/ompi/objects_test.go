package ompi_test

import (
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ob1"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompitest"
)

// TestHugeArray checks that an array of more objects than a program can have is not read.
func TestHugeArray(t *testing.T) {
	o := ompitest.MakeObjects(t, queuesOf414, ob1.Component)
	array := o.Object("opal_pointer_array_t")
	o.Put(array, "opal_pointer_array_t", "size", 1<<20+1)
	o.To.SetSymbol("ompi_group_f_to_c_table", inferior.Symbol{Addr: array})
	p, q := o.Open(ob1.Component)
	h := p.Resolve(q, mqs.HandleValue{Kind: mqs.GroupHandle, Fortran: true, Value: 2})
	if notes := strings.Join(h.Notes, "\n"); !strings.Contains(notes, "ompi_group_f_to_c_table holds 1048577 objects") {
		t.Errorf("%+v", h)
	}
}
