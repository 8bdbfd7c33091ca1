package mpir_test

import (
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpichtest"
)

// TestBadSchedules checks that no request of a collective is shown if a schedule is no request's own, or at an entry that it
// does not have.
func TestBadSchedules(t *testing.T) {
	tg := inferiortest.Recorded(t, "mpich-4.0.2-ch4-debug/nonblocking-rank-0")
	schedule := mpichtest.Pointer(t, tg, mpichtest.Symbol(t, tg, "all_schedules"))
	member := func(path string) inferior.Addr { return schedule + mpichtest.Offset(t, tg, "MPIDU_Sched", path) }
	if p := mpichtest.Collect(t, tg); len(p.CollectiveRequests) == 0 {
		t.Fatal("there is no collective")
	}
	for says, of := range map[string]*inferiortest.Patched{
		"is of no request of its own": inferiortest.Patch(tg).PutPointer(member("req"), 0),
		"a schedule is at entry 9999": inferiortest.Patch(tg).PutUint64(member("idx"), 9999),
	} {
		if p := mpichtest.Collect(t, of); len(p.CollectiveRequests) != 0 || !strings.Contains(strings.Join(p.Notes, "\n"), says) {
			t.Errorf("%s: %d collectives, %q", says, len(p.CollectiveRequests), p.Notes)
		}
	}
}
