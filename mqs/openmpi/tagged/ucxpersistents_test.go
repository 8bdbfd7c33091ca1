package tagged

import (
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompitest"
)

// The list of persistent requests stands where the layout has it, or is found by its classes; never is the list of
// convertors taken for it.
func TestUCXPersistentsList(t *testing.T) {
	for recording, moved := range map[string]inferior.Addr{
		"openmpi-5.0.7-ucx/requests-old-rank-0": 0, "openmpi-5.0.11-ucx/requests-old-rank-0": 16,
	} {
		tg := inferiortest.Recorded(t, recording)
		q, _ := openOf(t, tg)
		module, err := q.R.Symbol(symUCX)
		if err != nil || module == nil {
			t.Fatalf("%v, %v", module, err)
		}
		want := module.Addr + ompitest.Offset(t, q.Process, "mca_pml_ucx_module_t", "persistent_reqs") + moved
		list, err := q.pml.(*pmlUCX).persistents(module.Addr)
		if err != nil || list.Addr() != want {
			t.Errorf("%s: the list is at %s (%v), want %s", recording, list, err, want)
		}
		if moved == 0 {
			continue
		}
		class := want + ompitest.Offset(t, q.Process, "opal_free_list_t", "fl_frag_class")
		for what, changed := range map[string]inferior.Inferior{
			"elements of another class": inferiortest.Patch(tg).PutPointer(class, inferior.Addr(listClass(t, q, list))),
			"another class of its own":  inferiortest.Patch(tg).PutPointer(want, want),
		} {
			again, _ := openOf(t, changed)
			if own, err := again.pml.ownRequests(); err == nil || !strings.Contains(err.Error(), "ompi_pml_ucx has no list of them") {
				t.Errorf("%s, %s: %d requests, %v", recording, what, len(own), err)
			}
			if notes := strings.Join(again.Process.Notes(), "\n"); !strings.Contains(notes, "persistent requests may be shown as others") {
				t.Errorf("%s, %s: the notes are %q", recording, what, notes)
			}
		}
	}
}

// listClass is the class of a list itself.
func listClass(t *testing.T, q *queues, list inferior.Ptr[ompi.FreeList]) inferior.Ptr[ompi.Class] {
	t.Helper()
	o, err := q.Object.Read(q.R, inferior.Ptr[ompi.Object](list))
	if err != nil {
		t.Fatal(err)
	}
	return o.Class
}
