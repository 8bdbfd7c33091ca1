package symbolless_test

import (
	"os"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpichtest"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/symbolless"
)

// tables are those of requests.
func tables() []*layout.Table {
	return layout.OfScope(layout.MustReadTables(os.DirFS(".."), "tables"), layout.ScopeRequests)
}

// Every layout of a stripped library has all members.
func TestTablesAreWhole(t *testing.T) {
	if len(tables()) < 2 {
		t.Errorf("%d tables", len(tables()))
	}
	for _, table := range tables() {
		l := table.Layouts(inferior.Queries(symbolless.Types()...))
		for _, structs := range symbolless.Types() {
			if err := inferior.Bind(structs, l); err != nil {
				t.Errorf("%s: %v", table.Release, err)
			}
		}
	}
}

// Where a communicator is not what the tags of its requests say, none of MPICH's own objects is believed.
func TestProof(t *testing.T) {
	tg := inferiortest.Recorded(t, "mpich-4.2.1-stock/recv-rank-0")
	const note = "communicators by their context ids"
	p := mpichtest.Shown(t, tg)
	if strings.Contains(strings.Join(p.Notes, "\n"), note) {
		t.Fatalf("notes: %q", p.Notes)
	}
	request := mpichtest.Queues(t, p, "MPI_COMM_WORLD").Queue[mqs.PendingReceives].Operations[0].Request.Value
	at := -1
	for i, table := range tables() {
		if table.Release == "MPICH 4.2.1" {
			at = i
		}
	}
	member := func(object inferior.Addr, name, path string) inferior.Addr {
		f, ok := tables()[at].Layouts([]layout.TypeQuery{{Name: name, Fields: []string{path}}}).Field(name, path)
		if !ok {
			t.Fatalf("no %s.%s", name, path)
		}
		return object + inferior.Addr(f.Offset)
	}
	comm := mpichtest.Pointer(t, tg, member(request, "MPIR_Request", "comm"))
	for name, patch := range map[string]struct {
		at    inferior.Addr
		value uint32
	}{
		"its context": {member(comm, "MPIR_Comm", "recvcontext_id"), 0x40},
		"its rank":    {member(comm, "MPIR_Comm", "rank"), 9},
		"its handle":  {member(comm, "MPIR_Comm", "handle"), 0x4c000405},
		"the kind":    {member(request, "MPIR_Request", "kind"), 1},
		"the handle":  {member(request, "MPIR_Request", "handle"), 0x4c000405},
	} {
		if notes := strings.Join(mpichtest.Shown(t, inferiortest.Patch(tg).PutUint32(patch.at, patch.value)).Notes, "\n"); !strings.Contains(notes, note) {
			t.Errorf("%s is wrong: %s", name, notes)
		}
	}
}
