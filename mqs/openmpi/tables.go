package openmpi

import (
	"embed"
	"sync"

	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// The layouts of the stock x86-64 builds of Debian, whose libraries are
// stripped: 4.1.4 (Debian 12), 5.0.7 (13) and 6.0.0rc2 (testing). They were
// read from DWARF that a compiler made of the release's own headers with that
// build's opal_config.h. They hold the members that [types] names and those that
// the release's own debugger library, libompi_dbg_msgq.so, asks for.
//
//go:embed tables/*.json
var tableFiles embed.FS

// tables returns the embedded layouts, oldest release first.
var tables = sync.OnceValue(func() []*layout.Table { return layout.MustReadTables(tableFiles, "tables") })
