//go:build live || matrix || full

package live

import (
	"cmp"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/result"
)

// OFI is a provider of libfabric's that needs no network, and how it is set.
type OFI struct {
	Provider string
	// Setting is another setting of the environment, empty for none.
	Setting string
	// TakesAll is true if messages of any length are taken before they are received: no rank waits in MPI_Send.
	TakesAll bool
	// LacksClaims is true if MPI_Imrecv fails.
	LacksClaims bool
}

// Name names it in a test.
func (o OFI) Name() string { return strings.TrimSpace(o.Provider + " " + o.Setting) }

// Flags are those of Open MPI's launcher for pml cm with mtl ofi.
func (o OFI) Flags() []string {
	out := []string{"--mca", "pml", "cm", "--mca", "mtl", "ofi", "--mca", "mtl_ofi_provider_include", o.Provider, "--mca", "osc", "^ucx",
		"-x", "FI_PROVIDER=" + o.Provider}
	if o.Setting != "" {
		out = append(out, "-x", o.Setting)
	}
	if o.TakesAll {
		out = append(out, "-x", "EXPECT_TAKEN=yes") // see tests/programs/expect.h
	}
	return out
}

// RowOverOFI returns the row of Open MPI with pml cm over a provider of libfabric. The result has whatever differs of the build,
// and of libfabric's layout.
func (w *Workspace) RowOverOFI(t testing.TB, of result.Result, by OFI) Row {
	t.Helper()
	library := w.MPI.Library(t)
	library.Device, library.Transport = "cm", "libfabric"
	of.MPI, of.Layout, of.Outcome = w.MPI.Release(t)+", pml cm, "+by.Provider, cmp.Or(of.Layout, "embedded tables"), "equal"
	row := Row{Workspace: w, Flags: by.Flags(), Library: library, Result: of, Runs: overTransport}
	return row.Only(func(p Program) bool {
		return (!by.TakesAll || !p.Is("blocked send")) && (!by.LacksClaims || p.Name != "requests")
	})
}
