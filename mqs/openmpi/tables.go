package openmpi

import (
	"embed"
	"slices"
	"sync"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// The layouts of the stock x86-64 builds of Debian, whose libraries are stripped.
//
//go:embed tables/*.json
var tableFiles embed.FS

// tables returns the embedded layouts, oldest release first.
var tables = sync.OnceValue(func() []*layout.Table { return layout.MustReadTables(tableFiles, "tables") })

// TableQueries are what a table of a scope has: what the decoder reads, and what the release's
// own debugger library asks its host for.
func TableQueries(layout.Scope) []layout.TypeQuery {
	return slices.Concat(inferior.Queries(&types{}), vendorAsks)
}
