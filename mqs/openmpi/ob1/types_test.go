package ob1

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompitest"
)

// Every embedded table has every member of ob1's.
func TestTablesHaveOB1(t *testing.T) {
	for _, table := range ompitest.Tables(t) {
		var ts types
		if err := inferior.Bind(&ts, table.Layouts(inferior.Queries(&ts))); err != nil {
			t.Errorf("%s: %v", table.Release, err)
		}
	}
}
