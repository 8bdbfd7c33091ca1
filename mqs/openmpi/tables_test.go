package openmpi

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ob1"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
)

// newInVendor are the members that the debugger libraries of 4.0 and 4.1 do not ask for.
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
				asked := !strings.HasPrefix(table.Release, "Open MPI 4.") || !slices.Contains(newInVendor, field)
				if f, ok := layouts.Field(q.Name, field); ok != asked || f.Offset+f.Size > size {
					t.Errorf("%s: %s.%s: %v, %+v in %d bytes", table.Release, q.Name, field, ok, f, size)
				}
			}
		}
	}
}

// provenSizes are the types whose size each process with pml ob1 proves before anything is read of it.
var provenSizes = []string{"mca_pml_ob1_comm_t", "mca_pml_ob1_recv_request_t", "mca_pml_ob1_send_request_t", "ompi_communicator_t", "ompi_group_t",
	"opal_free_list_t", "opal_list_t", "opal_pointer_array_t"}

// excludes reports whether a process that layout a fits is certain to refuse layout b.
func excludes(a, b *layout.Table) bool {
	if slices.ContainsFunc(provenSizes, func(name string) bool { return a.Types[name].Size != b.Types[name].Size }) {
		return true
	}
	// MPI_INT has its name where the layout says.
	return a.Types["ompi_datatype_t"].Fields["name"].Offset != b.Types["ompi_datatype_t"].Fields["name"].Offset
}

// toldWhenRead maps each type that a process may have no object of, and so may fit two layouts that differ in it, to the check that rejects
// an object of the wrong layout before any of its values is shown; empty if there is no such check.
var toldWhenRead = map[string]string{
	"attribute_key_value_t":      "class", // the attributes of windows
	"attribute_value_t":          "class",
	"mca_pml_ob1_recv_frag_t":    "class",
	"ompi_coll_libnbc_request_t": "class", // of the free list that has them all
	"ompi_osc_rdma_module_t":     "its communicator, see TestReleasesOfWindows",
	// With heterogeneous support of 4.0 and 4.1, lengths of unexpected eager messages are 2 bytes too large. Fragments of 5.0
	// have another size with it.
	"mca_pml_ob1_hdr_t": "",
}

// undetectable is the option that can't be detected before a message has arrived, since it changes only the length of a
// message's header.
const undetectable = "heterogeneous support"

// TestTablesAreToldApart checks that wherever two layouts have a member that pml ob1 reads in different places, a check shows
// which of them is the process's (but see toldWhenRead).
func TestTablesAreToldApart(t *testing.T) {
	var all []*layout.Table
	for v := range layout.Variants(tables()) {
		if v.Architecture == "" {
			all = append(all, v)
		}
	}
	seen := map[string]bool{}
	for i, a := range all {
		for _, b := range all[:i] {
			if excludes(a, b) {
				continue
			}
			for _, name := range readDifferently(a, b) {
				told, isKnown := toldWhenRead[name]
				seen[name] = true
				sameSize := a.Types[name].Size == b.Types[name].Size
				sameSupport := slices.Contains(a.With, undetectable) == slices.Contains(b.With, undetectable)
				if !isKnown || told == "class" && sameSize || told == "" && sameSupport {
					t.Errorf("layouts %s and %s differ in %s, and nothing tells them apart", a, b, name)
				}
			}
		}
	}
	for name := range toldWhenRead {
		if !seen[name] {
			t.Errorf("there are no two layouts that differ in %s alone", name)
		}
	}
}

// readDifferently returns the types with a member that pml ob1 reads and that two layouts have in different places.
func readDifferently(a, b *layout.Table) (out []string) {
	for _, w := range ompi.Wants([]ompi.Component{ob1.Component}) {
		for _, spellings := range w.Members {
			if place(a, w.Name, spellings) != place(b, w.Name, spellings) {
				out = append(out, w.Name)
				break
			}
		}
	}
	return out
}

// place returns where a layout has a member, by whichever of its spellings the layout has; empty if it has none.
func place(of *layout.Table, name string, spellings []string) (out string) {
	for _, path := range spellings {
		if f, ok := of.Layouts(nil).Field(name, path); ok {
			out = cmp.Or(out, fmt.Sprint(f))
		}
	}
	return out
}
