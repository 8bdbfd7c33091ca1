//go:build live

package gdb

import (
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
	"github.com/mpi-queues/mpi-queues/tests/internal/result"
	"github.com/mpi-queues/mpi-queues/tests/internal/sample"
)

// TestUCX checks that what is shown of each process with pml ucx is its program's account, as far as UCX keeps it. With the
// protocols that are not the default of its UCX, fewer programs show enough.
func TestUCX(t *testing.T) {
	t.Parallel()
	version := live.UCXVersion(t)
	for _, row := range work.RowsOverUCX(t, result.Result{}) {
		live.EachProgram(t, row.Only(func(p live.Program) bool {
			switch {
			case sample.Whole():
				return true
			case testing.Short():
				return p.Is("queues") || p.Is("requests") && strings.HasPrefix(row.Name, "protocols n")
			}
			return live.IsOfUCXsDefault(version, row.Name) || p.Is("queues", "requests")
		}))
	}
}
