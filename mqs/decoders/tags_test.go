package decoders

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/mpich"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi"
	"github.com/mpi-queues/mpi-queues/mqs/recording"
	"github.com/mpi-queues/mpi-queues/mqs/transport/ucx"
)

// unseen are the members of which there is neither a table nor a recording, by whose they are: headers have them.
// Open MPI is configured for machines that are alike.
var unseen = map[string][]string{
	"MPICH over ch4":      {"MPIR_Request dev.ch4.part_req.am.u.send.cc_part"},
	"MPICH 4.3 and later": {"MPIR_Comm dev.ch4.shm.posix.release_gather.reduce_tree_large.children"},
	// What osc/rdma keeps of an epoch is read as what osc/pt2pt does.
	"osc/pt2pt":                         {"ompi_osc_rdma_sync_t sync_expected"},
	"Open MPI for machines that differ": {"mca_pml_ob1_hdr_t hdr_match.hdr_padding"},
}

// Each spelling of each member that a tag names is in a table, or in the debug information of a
// library that was recorded, or is said to be in neither: else it is misspelt, or of no release that
// is served.
func TestTagsNameMembers(t *testing.T) {
	recorded := typesOfRecordings(t)
	missing := map[string]bool{}
	for folder, wants := range map[string]func(layout.Scope) []layout.Want{
		"../mpich": mpich.Wants, "../openmpi": openmpi.Wants, "../transport/ucx": ucx.Wants} {
		tables, err := layout.ReadTables(os.DirFS(folder), "tables")
		if err != nil {
			t.Fatal(err)
		}
		for _, scope := range []layout.Scope{layout.ScopeAll, layout.ScopeRequests} {
			for _, w := range wants(scope) {
				for _, spellings := range w.Members {
					for _, path := range spellings {
						query := []layout.TypeQuery{{Name: w.Name, Fields: []string{path}}}
						isThere := slices.ContainsFunc(tables, func(table *layout.Table) bool {
							_, ok := table.Layouts(query).Field(w.Name, path)
							return ok
						})
						if !isThere && !recorded[w.Name+" "+path] {
							missing[w.Name+" "+path] = true
						}
					}
				}
			}
		}
	}
	for of, names := range unseen {
		for _, name := range names {
			if !missing[name] {
				t.Errorf("%s is not missing, or no tag names it: it need not be listed as one of %s", name, of)
			}
			delete(missing, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		t.Errorf("no table and no recording has %s", name)
	}
}

// typesOfRecordings are the members that debug information of a recorded process has, each
// behind its type's name and a blank.
func typesOfRecordings(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("../../tests/recordings/*/*.mpiq")
	if err != nil || len(files) == 0 {
		t.Fatal("no recordings", err)
	}
	var queries []layout.TypeQuery
	for _, w := range slices.Concat(mpich.Wants(layout.ScopeAll), mpich.Wants(layout.ScopeRequests), openmpi.Wants(layout.ScopeAll), ucx.Wants(layout.ScopeAll)) {
		queries = append(queries, layout.TypeQuery{Name: w.Name})
	}
	out := map[string]bool{}
	for _, file := range files {
		r, err := recording.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range r.Processes {
			found, err := p.FindTypes(t.Context(), queries)
			if err != nil {
				t.Fatal(err)
			}
			for i, l := range found {
				if l != nil {
					for field := range l.Fields {
						out[queries[i].Name+" "+field] = true
					}
				}
			}
		}
	}
	return out
}
