//go:build live

package gdb

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/tests/internal/debuginfo"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// table reads the embedded layouts of the stock library.
func table(t *testing.T) *layout.Table {
	t.Helper()
	tables, err := layout.ReadTables(os.DirFS(filepath.Join(work.Root, "mqs", "openmpi")), "tables")
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range tables {
		if table.Release == release(t) {
			return table
		}
	}
	t.Fatalf("there is no table of %s", release(t))
	return nil
}

// debugFiles makes debug files of libmpi (libopen_mpi from 6.0 on) and, where
// that is a library of its own (up to 4.1, as configured by default), of ob1 from
// a table, and returns their folder.
func debugFiles(t *testing.T, job *live.Job, table *layout.Table) string {
	t.Helper()
	folder := t.TempDir()
	ob1 := func(name string) bool {
		return strings.HasPrefix(name, "mca_pml_ob1_") || name == "mca_btl_base_segment_t"
	}
	pid := job.Accounts[0].PID
	all := cmp.Or(mapped(t, pid, "libopen_mpi.so."), mapped(t, pid, "libmpi.so."))
	libraries := map[string]func(string) bool{all: func(string) bool { return true }}
	if own := mapped(t, pid, "mca_pml_ob1.so"); own != "" {
		libraries[all] = func(name string) bool { return !ob1(name) }
		libraries[own] = ob1
	}
	for library, keep := range libraries {
		source, err := debuginfo.Source(table, keep)
		if err != nil {
			t.Fatal(err)
		}
		if err := debuginfo.Write(folder, library, source); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// mapped returns the path of a library that a process has mapped, "" if it has not.
func mapped(t *testing.T, pid int, library string) string {
	t.Helper()
	for m, err := range procfs.Host.Mappings(pid) {
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(filepath.Base(m.Path), library) {
			return m.Path
		}
	}
	return ""
}

// With debug information for the libraries, the layouts come from it.
func TestDWARF(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		program string
		ranks   int
	}{{"queues", 3}, {"requests", 2}, {"groups", 4}, {shadow, 2}} {
		t.Run(filepath.Base(c.program), func(t *testing.T) {
			job := work.Start(t, c.program, c.ranks, nil)
			folder := debugFiles(t, job, table(t))
			for _, account := range job.Accounts {
				r := readWithDebugFiles(t, account.PID, folder)
				r.Agrees(t, account)
				process := r.Process(t)
				if process["layout"] != "dwarf" || process["layout_name"] != nil {
					t.Errorf("the layout is from %v %v", process["layout"], process["layout_name"])
				}
				if !strings.Contains(string(r.Text), "read by its debug information") {
					t.Errorf("the text says:\n%.300s", r.Text)
				}
				r.Contains(t, "the library's debug information (DWARF)")
				r.Replays(t, work)
			}
		})
	}
}

func readWithDebugFiles(t *testing.T, pid int, folder string) *live.Reading {
	t.Helper()
	where := live.Process(pid)
	where.Args = append([]string{"-iex", "set debug-file-directory " + folder}, where.Args...)
	where.After = []string{"info mpi"}
	return work.ReadRecorded(t, where)
}

// Debug information that is wrong is noticed, and the table is used instead.
func TestWrongDWARF(t *testing.T) {
	t.Parallel()
	job := work.Start(t, "requests", 2, nil)
	for _, c := range []struct {
		name, typeName string
		grow, shift    int
		members        []string // empty: all
	}{
		{"a communicator that is a word longer", "ompi_communicator_t", 8, 8, nil},
		{"a rank in another's place", "ompi_communicator_t", 0, 4, []string{"c_my_rank"}},
		{"a receive request with members in between", "mca_pml_ob1_recv_request_t", 16, 16, []string{"req_match_received"}},
		{"a shorter send request", "mca_pml_ob1_send_request_t", -8, 0, nil},
		{"lists that start elsewhere", "opal_list_t", 0, 8, nil},
		{"a group that is a word longer", "ompi_group_t", 8, 8, nil},
		{"names of datatypes elsewhere", "ompi_datatype_t", 0, -8, []string{"name"}},
		{"free lists of something else", "opal_free_list_t", 0, 8, []string{"fl_frag_class"}},
		{"classes without a size", "opal_class_t", 0, -8, []string{"cls_sizeof"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			table := table(t)
			layout := table.Types[c.typeName]
			layout.Size += c.grow
			for name, f := range layout.Fields {
				if c.members == nil && f.Offset > 0 && name != "super" || slices.Contains(c.members, name) {
					f.Offset += c.shift
					layout.Fields[name] = f
				}
			}
			table.Types[c.typeName] = layout
			for _, account := range job.Accounts {
				r := readWithDebugFiles(t, account.PID, debugFiles(t, job, table))
				r.Agrees(t, account)
				if process := r.Process(t); process["layout"] != "table" || process["layout_name"] != release(t) {
					t.Errorf("the layout is from %v %v", process["layout"], process["layout_name"])
				}
				r.Replays(t, work)
			}
		})
	}
}
