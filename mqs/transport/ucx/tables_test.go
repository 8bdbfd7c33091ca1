package ucx

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Every embedded table has every member that the reader needs, optional ones included: what
// is optional is missing in some builds with types.
func TestTablesAreWhole(t *testing.T) {
	if len(tables()) < 20 {
		t.Errorf("%d tables", len(tables()))
	}
	releases := map[string]bool{}
	for _, table := range tables() {
		if releases[table.Release] {
			t.Errorf("%s is there twice", table.Release)
		}
		releases[table.Release] = true
		var ts types
		if err := inferior.Bind(&ts, table.Layouts(inferior.Queries(&ts))); err != nil {
			t.Errorf("%s: %v", table.Release, err)
			continue
		}
		if p := inferior.Places(&ts.Worker, 0x1000); p.Requests <= 0x1000 || p.Match.Addr() <= p.Requests.Addr() {
			t.Errorf("%s: a worker has its requests at %#x and its queues at %#x", table.Release, p.Requests, p.Match)
		}
		if !ts.ProtoConfig.Bound() || !ts.Proto.Bound() {
			t.Errorf("%s lacks the new protocols", table.Release)
		}
	}
}
