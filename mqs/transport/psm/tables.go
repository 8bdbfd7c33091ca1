package psm

import (
	"embed"
	"sync"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// The layouts of libpsm2's releases, which are for x86-64 alone.
//
//go:embed tables/*.json
var tableFiles embed.FS

// tables returns the embedded layouts, oldest release first.
var tables = sync.OnceValue(func() []*layout.Table { return layout.MustReadTables(tableFiles, "tables") })

// Wants are what a table has: what the reader reads.
func Wants(layout.Scope) []layout.Want { return inferior.Wants(libraryTypes()...) }
