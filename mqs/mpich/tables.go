package mpich

import (
	"embed"
	"sync"

	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// The layouts of Debian's x86-64 builds of ch4:ucx. That of 4.0.2, whose static library has
// symbols but no types, was read from DWARF that a compiler made of the release's own headers
// as that build configures them. Those of scope [layout.ScopeRequests] have the members of
// [nakedTypes], as the releases' headers order them and running processes have them.
//
//go:embed tables/*.json
var tableFiles embed.FS

var allTables = sync.OnceValue(func() []*layout.Table { return layout.MustReadTables(tableFiles, "tables") })

// tables returns the embedded layouts with all that a library with symbols is read by, oldest
// release first.
func tables() []*layout.Table { return layout.OfScope(allTables(), layout.ScopeAll) }

// nakedTables returns the embedded layouts with what a stripped library is read by, oldest
// release first.
func nakedTables() []*layout.Table { return layout.OfScope(allTables(), layout.ScopeRequests) }
