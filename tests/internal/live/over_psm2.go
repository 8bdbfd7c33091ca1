//go:build live || matrix || full

package live

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/result"
)

// OverPSM2 are the flags of Open MPI's launcher for pml cm with mtl psm2 inside of a node.
var OverPSM2 = []string{"--mca", "pml", "cm", "--mca", "mtl", "psm2", "--mca", "osc", "^ucx"}

// cannotBeMade is tests/internal/live/omnipath's status where there can be no card.
const cannotBeMade = 125

// hasOwnRoot says whether this process was given a root of its own (chroot). gdb looks for the files of a process that is in
// another mount namespace below that namespace's root.
func hasOwnRoot() bool {
	own, err := os.Stat("/")
	first, other := os.Stat("/proc/1/root/.")
	return err == nil && other == nil && !os.SameFile(own, first)
}

// WithOmniPath is a workspace whose jobs are where an Omni-Path card seems to be. The test is skipped if there can be
// none, if gdb would not find the files of such a job, or if this Open MPI has no mtl psm2.
func (w *Workspace) WithOmniPath(t *testing.T) *Workspace {
	t.Helper()
	if hasOwnRoot() {
		t.Skip("gdb does not find the files of a process in another mount namespace from a root of its own")
	}
	card := filepath.Join(w.Root, "tests", "internal", "live", "omnipath")
	out, err := exec.Command(card, "ompi_info", "--param", "mtl", "psm2").CombinedOutput()
	var failed *exec.ExitError
	switch {
	case errors.As(err, &failed) && failed.ExitCode() == cannotBeMade:
		t.Skip("no Omni-Path card can be made up: there are no mount namespaces")
	case err != nil:
		t.Fatalf("%v: %s", err, out)
	case !strings.Contains(string(out), "mtl: psm2"):
		t.Skip("this Open MPI has no mtl psm2")
	}
	mpi := w.MPI
	mpi.Launcher = append([]string{card}, mpi.Launcher...)
	over, err := w.With("omnipath "+t.Name(), mpi)
	if err != nil {
		t.Fatal(err)
	}
	return over
}

// RowOverPSM2 returns the row of Open MPI with mtl psm2. The result has whatever differs of the build.
func (w *Workspace) RowOverPSM2(t testing.TB, of result.Result) Row {
	t.Helper()
	library := w.MPI.Library(t)
	library.Device, library.Transport = "cm", "PSM2"
	of.MPI, of.Layout, of.Outcome = w.MPI.Release(t)+", pml cm, psm2", "embedded tables", "equal"
	return Row{Workspace: w, Flags: OverPSM2, Library: library, Result: of, InNamespace: true, Runs: overTransport}
}
