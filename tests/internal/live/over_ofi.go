//go:build live || matrix || full

package live

import (
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/result"
)

// OverOFI are the flags of Open MPI's launcher for pml cm with mtl ofi, by a provider of libfabric's that needs no
// network: "tcp;ofi_rxm".
func OverOFI(provider string) []string {
	return []string{"--mca", "pml", "cm", "--mca", "mtl", "ofi", "--mca", "mtl_ofi_provider_include", provider, "--mca", "osc", "^ucx",
		"-x", "FI_PROVIDER=" + provider}
}

// EachOverOFI runs the jobs that are chosen by a provider of libfabric's, and holds each of their processes against
// its account, field by field, as far as that is kept: live and in a core. The result is written down with what
// it has of the build.
func (w *Workspace) EachOverOFI(t *testing.T, shown result.Result, provider string, chosen func(j TransportJob) bool) {
	library := w.MPI.Library(t)
	library.Device, library.Transport = "cm", "libfabric"
	shown.MPI, shown.Layout, shown.Outcome = w.MPI.Release(t)+", pml cm, "+provider, "embedded tables", "equal"
	for _, c := range transportJobs {
		if c.Transports != anyTransport || !chosen(c) {
			continue
		}
		t.Run(c.Program+" "+strings.Join(c.Args, " "), func(t *testing.T) {
			t.Parallel()
			job := w.Start(t, c.Program, c.Ranks, OverOFI(provider), c.Args...)
			for _, account := range job.Accounts {
				t.Run(account.Name, func(t *testing.T) { w.ReadOver(t, shown, job, account, library, nil) })
			}
		})
	}
}
