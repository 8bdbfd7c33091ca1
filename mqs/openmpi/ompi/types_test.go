package ompi

import (
	"os"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// Every embedded table has every member of what all of Open MPI shares.
func TestTablesAreWhole(t *testing.T) {
	tables, err := layout.ReadTables(os.DirFS(".."), "tables")
	if err != nil || len(tables) < 3 {
		t.Fatalf("%d tables, %v", len(tables), err)
	}
	for _, table := range tables {
		var ts types
		if err := inferior.Bind(&ts, table.Layouts(inferior.Queries(&ts))); err != nil {
			t.Errorf("%s: %v", table.Release, err)
		}
		if !ts.Request.Bound() || !ts.Message.Bound() {
			t.Errorf("%s lacks types of requests", table.Release)
		}
	}
}
