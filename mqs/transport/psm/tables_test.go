package psm

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Every embedded table has every member that the reader needs.
func TestTablesAreWhole(t *testing.T) {
	if len(tables()) == 0 {
		t.Error("there is no table")
	}
	for _, table := range tables() {
		for _, types := range libraryTypes() {
			if err := inferior.Bind(types, table.Layouts(inferior.Queries(types))); err != nil {
				t.Errorf("%s: %v", table.Release, err)
			}
		}
	}
}
