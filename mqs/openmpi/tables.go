package openmpi

import (
	"embed"
	"sync"

	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
)

// The layouts of plain builds, and what the configuration changes in them.
//
//go:embed tables/*.json
var tableFiles embed.FS

// tables returns the embedded layouts, oldest release first.
var tables = sync.OnceValue(func() []*layout.Table { return layout.MustReadTables(tableFiles, "tables") })

// Wants are what a table of a scope has: what the decoder reads, and what the release's own
// debugger library asks its host for.
func Wants(layout.Scope) []layout.Want {
	out := ompi.Wants(components)
	for _, q := range vendorAsks {
		w := layout.Want{Name: q.Name}
		for _, field := range q.Fields {
			w.Members = append(w.Members, []string{field})
		}
		out = append(out, w)
	}
	return out
}
