package tagged

import (
	"embed"
	"sync"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// The layouts of pml cm and its mtls in the stock builds of Debian.
//
//go:embed tables/*.json
var cmTableFiles embed.FS

// cmTables returns the embedded layouts, oldest release first.
var cmTables = sync.OnceValue(func() []*layout.Table { return layout.MustReadTables(cmTableFiles, "tables") })

// Wants are what a table of pml cm has: what is read of it and of its mtls. What is read of other components is in
// the tables of package openmpi.
func Wants(layout.Scope) []layout.Want { return inferior.Wants(&cmTypes{}, &ofiTypes{}, &psm2Types{}) }
