package mpich

import (
	"embed"
	"sync"

	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// The layout of Debian 12's x86-64 build of 4.0.2, whose static library has
// symbols but no types. It was read from DWARF that a compiler made of the
// release's own headers as that build configures them, and holds the members
// that the decoder asks for and no others.
//
//go:embed tables/*.json
var tableFiles embed.FS

// tables returns the embedded layouts, oldest release first.
var tables = sync.OnceValue(func() []*layout.Table { return layout.ReadTables(tableFiles, "tables") })
