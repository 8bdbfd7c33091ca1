package mpich

import (
	"embed"
	"sync"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/symbolless"
)

// The layouts of device ch4 with the changes that configure options make, and those of Debian's builds of ch4:ucx. Debian's static library
// of 4.0.2 has symbols, but no types.
//
//go:embed tables/*.json
var tableFiles embed.FS

var allTables = sync.OnceValue(func() []*layout.Table { return layout.MustReadTables(tableFiles, "tables") })

// tables returns the embedded layouts with all that a library with symbols is read by, oldest
// release first.
func tables() []*layout.Table { return layout.OfScope(allTables(), layout.ScopeAll) }

// requestTables returns the embedded layouts with what a stripped library is read by, oldest
// release first.
func requestTables() []*layout.Table { return layout.OfScope(allTables(), layout.ScopeRequests) }

// Wants are what a table of a scope has: what is read of such a library.
func Wants(scope layout.Scope) []layout.Want {
	if scope == layout.ScopeRequests {
		return inferior.Wants(symbolless.Types()...)
	}
	return inferior.Wants(types()...)
}
