package openmpi

import (
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
)

// newInVendor are the members that the debugger library of 4.1 does not ask for.
var newInVendor = []string{"c_contextidb", "c_index"}

// Every embedded table answers whatever the vendor's library asks. That library
// refuses a process for a type that is missing, and takes -1 for the offset of a
// member that is.
func TestTablesAnswerTheVendor(t *testing.T) {
	for _, table := range tables() {
		layouts := table.Layouts(vendorAsks)
		for _, q := range vendorAsks {
			size, ok := layouts.Size(q.Name)
			if !ok || size <= 0 {
				t.Errorf("%s: no %s", table.Release, q.Name)
			}
			for _, field := range q.Fields {
				asked := table.Release != "Open MPI 4.1.4" || !slices.Contains(newInVendor, field)
				if f, ok := layouts.Field(q.Name, field); ok != asked || f.Offset+f.Size > size {
					t.Errorf("%s: %s.%s: %v, %+v in %d bytes", table.Release, q.Name, field, ok, f, size)
				}
			}
		}
	}
}

// Every embedded table has every member of what all of Open MPI shares.
func TestTablesAreWhole(t *testing.T) {
	if len(tables()) < 3 {
		t.Errorf("%d tables", len(tables()))
	}
	for _, table := range tables() {
		p, err := ompi.NewProcess(nil, nil, table.Layouts(inferior.Queries(ompi.Types())))
		if err != nil {
			t.Errorf("%s: %v", table.Release, err)
			continue
		}
		if !p.Request.Bound() || !p.Message.Bound() {
			t.Errorf("%s lacks types of requests", table.Release)
		}
	}
}
