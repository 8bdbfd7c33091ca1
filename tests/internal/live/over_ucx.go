//go:build live || matrix || full

package live

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/result"
)

// OverUCX are the flags of Open MPI's launcher for pml ucx on a machine without a
// network for it, with UCX's old protocols ("n") or its new ones ("y").
func OverUCX(protocols string) []string {
	return []string{"--mca", "pml", "ucx", "--mca", "osc", "^ucx",
		"--mca", "opal_common_ucx_tls", "any", "--mca", "opal_common_ucx_devices", "any",
		"-x", "UCX_RNDV_THRESH=8192", "-x", "UCX_PROTO_ENABLE=" + protocols}
}

// TransportJob is a job of Open MPI whose messages a library beneath it carries.
type TransportJob struct {
	Program    string
	Ranks      int
	Transports string // UCX's, or anyTransport
	Args       []string
}

// anyTransport is UCX's word for all that it has.
const anyTransport = "all"

// transportJobs are those that tests run. Without CMA no rank fetches data from one that stays out of
// MPI: what has matched stays so.
var transportJobs = []TransportJob{
	{"queues", 3, anyTransport, nil},
	{"requests", 2, anyTransport, nil},
	{"requests", 2, "^cma", nil},
	{"groups", 4, anyTransport, nil},
	{"blocked", 3, anyTransport, []string{"recv"}},
	{"blocked", 3, anyTransport, []string{"send"}},
	{"blocked", 3, anyTransport, []string{"ssend"}},
	{"blocked", 3, anyTransport, []string{"barrier"}},
	{"blocked", 3, anyTransport, []string{"waitall"}},
	{"many", 2, anyTransport, []string{"100"}},
	{"many", 2, anyTransport, []string{"100", "wild"}},
	{"many", 2, anyTransport, []string{"100", "specific"}},
}

// EachOverUCX runs the jobs that are chosen, with UCX's old protocols and with its new ones, and
// holds each of their processes against its account, field by field, as far as UCX keeps it: live
// and in a core. The result is written down with what it has of the build. check, if it is not
// nil, looks further at what is shown of a process.
func (w *Workspace) EachOverUCX(t *testing.T, shown result.Result, chosen func(j TransportJob, protocols string) bool,
	check func(t *testing.T, job *Job, account *expect.Account, process expect.Object)) {
	library := w.MPI.Library(t)
	library.Device, library.Transport = "ucx", "UCX"
	shown.MPI, shown.Layout, shown.Outcome = w.MPI.Release(t)+", pml ucx", "embedded tables", "equal"
	for _, protocols := range []string{"n", "y"} {
		t.Run("protocols "+protocols, func(t *testing.T) {
			for _, c := range transportJobs {
				if !chosen(c, protocols) {
					continue
				}
				t.Run(strings.Join(append([]string{c.Program, c.Transports}, c.Args...), " "), func(t *testing.T) {
					t.Parallel()
					job := w.Start(t, c.Program, c.Ranks, append(OverUCX(protocols), "-x", "UCX_TLS="+c.Transports), c.Args...)
					for _, account := range job.Accounts {
						t.Run(account.Name, func(t *testing.T) { w.ReadOver(t, shown, job, account, library, check) })
					}
				})
			}
		})
	}
}

// ReadOver reads a process live and from a core, and holds it against its account. check, if it is not nil, looks
// further at what is shown.
func (w *Workspace) ReadOver(t *testing.T, shown result.Result, job *Job, account *expect.Account, library expect.Library,
	check func(t *testing.T, job *Job, account *expect.Account, process expect.Object)) {
	core := filepath.Join(t.TempDir(), "core")
	for _, where := range job.Ways(account, core) {
		t.Run(where.Name, func(t *testing.T) {
			shown := shown
			shown.Check = where.Name
			w.Record(t, shown)
			r := w.ReadOf(t, job, where, func(p expect.Object) []string { return library.Fidelity().Compare(account, p) })
			process := r.Process(t)
			if source := process["source"]; source != "native" {
				t.Errorf("source is %v", source)
			}
			if check != nil {
				check(t, job, account, process)
			}
		})
	}
	_ = os.Remove(core)
}
