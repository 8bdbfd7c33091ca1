package symbolless_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpichtest"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
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

// Where a communicator is not what the tags of its requests say, none of MPICH's own objects is believed; nor where one can't be what it should.
func TestProof(t *testing.T) {
	const note = "communicators by their context ids"
	at := slices.IndexFunc(tables(), func(table *layout.Table) bool { return table.Release == "MPICH 4.2.1" })
	member := func(object inferior.Addr, name, path string) inferior.Addr {
		f, ok := tables()[at].Layouts([]layout.TypeQuery{{Name: name, Fields: []string{path}}}).Field(name, path)
		if !ok {
			t.Fatalf("no %s.%s", name, path)
		}
		return object + inferior.Addr(f.Offset)
	}
	for name, c := range map[string]struct {
		recording, object, member string
		value                     uint32
		isBelieved                bool
	}{
		"a receive's context":         {"recv-rank-0", "MPIR_Comm", "recvcontext_id", 0x40, false},
		"a receive's rank":            {"recv-rank-0", "MPIR_Comm", "rank", 9, false},
		"a communicator's handle":     {"recv-rank-0", "MPIR_Comm", "handle", 0x4c000405, false},
		"a receive's kind":            {"recv-rank-0", "MPIR_Request", "kind", 1, false},
		"a request's handle":          {"recv-rank-0", "MPIR_Request", "handle", 0x4c000405, false},
		"a send's context":            {"send-rank-1", "MPIR_Comm", "context_id", 0x40, false},
		"a send's rank, of the group": {"send-rank-1", "MPIR_Comm", "rank", 0, false},
		"a receive's rank, none":      {"recv-rank-0", "MPIR_Comm", "rank", 0xffffffff, false},
		"as many ranks as may be":     {"recv-rank-0", "MPIR_Comm", "local_size", mpir.MaxMembers, true},
		"more ranks than may be":      {"recv-rank-0", "MPIR_Comm", "local_size", mpir.MaxMembers + 1, false},
		"no ranks":                    {"recv-rank-0", "MPIR_Comm", "local_size", 0, false},
		"its own rank alone":          {"recv-rank-0", "MPIR_Comm", "local_size", 1, true},
		"an intercommunicator":        {"recv-rank-0", "MPIR_Comm", "comm_kind", 1, true},
		"another kind":                {"recv-rank-0", "MPIR_Comm", "comm_kind", 2, false},
		"a communicator of no use":    {"recv-rank-0", "MPIR_Comm", "ref_count", 0, false},
		"a communicator of less":      {"recv-rank-0", "MPIR_Comm", "ref_count", 0xffffffff, false},
		"a request of no use":         {"recv-rank-0", "MPIR_Request", "ref_count", 0, false},
		"a request of less":           {"recv-rank-0", "MPIR_Request", "ref_count", 0xffffffff, false},
	} {
		tg := inferiortest.Recorded(t, "mpich-4.2.1-stock/"+c.recording)
		p := mpichtest.Shown(t, tg)
		if strings.Contains(strings.Join(p.Notes, "\n"), note) {
			t.Fatalf("notes: %q", p.Notes)
		}
		queue := mpichtest.Queues(t, p, "MPI_COMM_WORLD").Queue
		object := slices.Concat(queue[mqs.PendingReceives].Operations, queue[mqs.PendingSends].Operations)[0].Request.Value
		if c.object == "MPIR_Comm" {
			object = mpichtest.Pointer(t, tg, member(object, "MPIR_Request", "comm"))
		}
		patched := inferiortest.Patch(tg).PutUint32(member(object, c.object, c.member), c.value)
		if notes := strings.Join(mpichtest.Shown(t, patched).Notes, "\n"); strings.Contains(notes, note) == c.isBelieved {
			t.Errorf("%s: %s", name, notes)
		}
	}
}
