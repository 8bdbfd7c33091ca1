//go:build matrix

// Package ucx tests mpi-queues on UCX as upstream builds its releases: without assertions, so that members
// are at other offsets than in the distribution's build. Nothing is skipped.
package ucx

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

var (
	prefix string          // where UCX is installed: below it stripped libraries, and such with types
	work   *live.Workspace // for Open MPI on the stripped ones
	// mpich are for the distribution's MPICH on either.
	mpich = map[string]*live.Workspace{stripped: nil, typed: nil}
)

// The folders of libraries.
const (
	stripped = "lib"
	typed    = "typed"
)

func TestMain(m *testing.M) {
	live.Main(m, func(w *live.Workspace) (err error) {
		if prefix, err = live.Built("./build"); err != nil {
			return err
		}
		work = w
		work.MPI.Launcher = slices.Concat(work.MPI.Launcher, []string{"-x", "LD_LIBRARY_PATH=" + filepath.Join(prefix, stripped)})
		for folder := range mpich {
			mpi := live.StockMPICH
			mpi.Launcher = slices.Concat(mpi.Launcher, []string{"-genv", "LD_LIBRARY_PATH", filepath.Join(prefix, folder)})
			if mpich[folder], err = work.With("mpich-"+folder, mpi); err != nil {
				return err
			}
		}
		return nil
	})
}

// build says whose build of the MPI and of UCX a workspace has.
func build(t *testing.T, w *live.Workspace) string {
	t.Helper()
	out := live.System(t) + ", stripped, UCX " + release(t) + " without assertions"
	if w == mpich[typed] {
		out += ", with types"
	}
	return out
}

// release is that of the UCX that was built.
func release(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(prefix, stripped, "pkgconfig", "ucx-ucs.pc"))
	if err != nil {
		t.Fatal(err)
	}
	_, version, ok := strings.Cut(string(text), "\nVersion: ")
	if !ok {
		t.Fatalf("the release of UCX is not in\n%s", text)
	}
	version, _, _ = strings.Cut(version, "\n")
	return version
}

// mapped fails the test unless all that a process has of UCX is what was built, and its
// libucp is in the folder.
func mapped(t *testing.T, pid int, folder string) {
	t.Helper()
	matching := false
	for m, err := range procfs.Host.Mappings(pid) {
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(filepath.Base(m.Path), "libuc") {
			continue
		}
		if !strings.HasPrefix(m.Path, prefix+"/") {
			t.Fatalf("process %d has %s", pid, m.Path)
		}
		matching = matching || strings.HasPrefix(m.Path, filepath.Join(prefix, folder, "libucp.so."))
	}
	if !matching {
		t.Fatalf("process %d has no libucp of %s", pid, folder)
	}
}
