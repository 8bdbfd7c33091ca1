package mpich

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/compare"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/ch3"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/ch4"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// TestLayoutsAreToldApart reads each recorded process without its debug information, by every table with every option. A layout that the
// process does not refuse must show the same values as the debug information.
func TestLayoutsAreToldApart(t *testing.T) {
	paths, err := filepath.Glob("../../tests/recordings/mpich-*/queues-rank-0.mpiq")
	if err != nil || len(paths) < 20 {
		t.Fatal(len(paths), err)
	}
	refused, read := 0, 0
	for _, path := range paths {
		name := filepath.Base(filepath.Dir(path)) + "/queues-rank-0"
		whole := inferiortest.Recorded(t, name)
		want, err := readBy(t, whole, nil)
		if err != nil {
			continue // it needs something else than types
		}
		for v := range layout.Variants(tables()) {
			if v.Architecture != "" {
				continue
			}
			got, err := readBy(t, inferiortest.Patch(whole).RemoveTypes(), []*layout.Table{v.Alone()})
			if err != nil {
				refused++
				continue
			}
			read++
			for _, d := range compare.Compare(want, got, "", true) {
				if d.Native != "" { // a value that is unknown with debug information may be known by a table
					t.Errorf("%s, read by the table of %s: %+v", name, v, d)
					break
				}
			}
		}
	}
	if refused == 0 || read < len(paths)/2 {
		t.Errorf("%d layouts were refused and %d accepted by %d recordings", refused, read, len(paths))
	}
}

// readBy reads a process by its types or, if it has none, by some tables.
func readBy(t *testing.T, of inferior.Inferior, tables []*layout.Table) (*mqs.Process, error) {
	t.Helper()
	r := inferior.NewReader(t.Context(), of)
	symbols, err := r.Symbols(slices.Concat(Decoder{}.Symbols(), mpir.Symbols(), ch3.Symbols(), ch4.Symbols())...)
	if err != nil {
		t.Fatal(err)
	}
	p, err := fit(r, symbols, tables, nil)
	if err != nil {
		return nil, err
	}
	p.device.Open()
	return read.Collect(r, mpir.NewSource(p.library, p.device), read.Filter{Internal: true})
}
