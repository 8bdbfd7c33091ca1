//go:build live || matrix || full

package live

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
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

// EachOverOFI runs the jobs that are chosen by a provider of libfabric's, and holds each of their processes against
// its account, field by field, as far as that is kept: live and in a core. The result is written down with what
// it has of the build and of libfabric's layout. check, if it is not nil, looks further at what is shown of a process.
func (w *Workspace) EachOverOFI(t *testing.T, shown result.Result, by OFI, chosen func(j TransportJob) bool,
	check func(t *testing.T, job *Job, account *expect.Account, process expect.Object)) {
	library := w.MPI.Library(t)
	library.Device, library.Transport = "cm", "libfabric"
	shown.MPI, shown.Layout, shown.Outcome = w.MPI.Release(t)+", pml cm, "+by.Provider, cmp.Or(shown.Layout, "embedded tables"), "equal"
	w.eachOverMTL(t, shown, library, by.Flags(), func(j TransportJob) bool {
		isOut := by.TakesAll && slices.Equal(j.Args, []string{"send"}) || by.LacksClaims && j.Program == "requests"
		return !isOut && chosen(j)
	}, check)
}

// eachOverMTL runs the jobs that are chosen by flags of Open MPI's launcher, and holds each of their processes against its
// account.
func (w *Workspace) eachOverMTL(t *testing.T, shown result.Result, library expect.Library, flags []string, chosen func(j TransportJob) bool,
	check func(t *testing.T, job *Job, account *expect.Account, process expect.Object)) {
	for _, c := range transportJobs {
		if c.Transports != anyTransport || !chosen(c) {
			continue
		}
		t.Run(c.Program+" "+strings.Join(c.Args, " "), func(t *testing.T) {
			t.Parallel()
			job := w.Start(t, c.Program, c.Ranks, flags, c.Args...)
			for _, account := range job.Accounts {
				t.Run(account.Name, func(t *testing.T) { w.ReadOver(t, shown, job, account, library, check) })
			}
		})
	}
}
