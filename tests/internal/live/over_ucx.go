//go:build live || matrix || full

package live

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/result"
)

// OverUCX are the flags of Open MPI's launcher for pml ucx on a machine without a
// network for it, with UCX's old protocols ("n") or its new ones ("y").
func OverUCX(protocols string) []string {
	return []string{"--mca", "pml", "ucx", "--mca", "osc", "^ucx",
		"--mca", "opal_common_ucx_tls", "any", "--mca", "opal_common_ucx_devices", "any",
		"-x", "UCX_RNDV_THRESH=8192", "-x", "UCX_PROTO_ENABLE=" + protocols}
}

// WithoutCMA ends the names of rows in which no rank fetches data from one that stays out of MPI, so that what has matched
// stays so.
const WithoutCMA = " without CMA"

// RowsOverUCX returns the rows of Open MPI with pml ucx: "protocols n" and "protocols y", and these [WithoutCMA]. The result has
// whatever differs of the build.
func (w *Workspace) RowsOverUCX(t testing.TB, of result.Result) (rows []Row) {
	t.Helper()
	library := w.MPI.Library(t)
	library.Device, library.Transport = "ucx", "UCX"
	of.MPI, of.Layout, of.Outcome = w.MPI.Release(t)+", pml ucx", "embedded tables", "equal"
	for _, protocols := range []string{"n", "y"} {
		row := Row{Workspace: w, Name: "protocols " + protocols, Library: library, Result: of, Runs: overTransport}
		row.Flags = append(OverUCX(protocols), "-x", "UCX_TLS=all")
		rows = append(rows, row)
		row.Name, row.Flags = row.Name+WithoutCMA, append(OverUCX(protocols), "-x", "UCX_TLS=^cma")
		rows = append(rows, row.Only(func(p Program) bool { return p.Is("requests") }))
	}
	return rows
}

// UCXVersion returns that of this machine's UCX. It is asked in a process of its own: a debugger can't call a function of a
// process everywhere.
func UCXVersion(t testing.TB) string {
	t.Helper()
	out, err := exec.Command("python3", "-c", `import ctypes
version = ctypes.CDLL("libucp.so.0").ucp_get_version_string
version.restype = ctypes.c_char_p
print(version().decode())`).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return strings.TrimSpace(string(out))
}

// IsOfUCXsDefault reports whether a row's name is of the protocols that a release of UCX has by default: the new ones since 1.16.
func IsOfUCXsDefault(version, row string) bool {
	var major, minor int
	_, _ = fmt.Sscanf(version, "%d.%d", &major, &minor)
	return strings.HasPrefix(row, "protocols y") == (major > 1 || minor >= 16)
}
