package openmpi

import (
	"slices"
	"strings"
	"testing"
)

// newInVendor are the members that the debugger library of 4.1 does not ask for.
var newInVendor = []string{"c_contextidb", "c_index"}

// Every embedded table answers whatever the vendor's library asks.
func TestTablesAnswerTheVendor(t *testing.T) {
	for _, table := range tables() {
		layouts := table.Layouts(vendorAsks)
		for _, q := range vendorAsks {
			size, ok := layouts.Size(q.Name)
			if !ok || size <= 0 {
				t.Errorf("%s: no %s", table.Release, q.Name)
			}
			for _, field := range q.Fields {
				asked := !strings.HasPrefix(table.Release, "Open MPI 4.1.4") || !slices.Contains(newInVendor, field)
				if f, ok := layouts.Field(q.Name, field); ok != asked || f.Offset+f.Size > size {
					t.Errorf("%s: %s.%s: %v, %+v in %d bytes", table.Release, q.Name, field, ok, f, size)
				}
			}
		}
	}
}
