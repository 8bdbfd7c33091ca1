//go:build matrix

package matrix

import (
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
	"github.com/mpi-queues/mpi-queues/tests/internal/result"
)

// A stripped MPICH is recognised, and its user is told why there is nothing to
// see and the three ways out.
func TestStrippedMPICH(t *testing.T) {
	w, err := work.With("stripped", live.StockMPICH)
	if err != nil {
		t.Fatal(err)
	}
	job := w.Start(t, "blocked", 2, nil, "recv")
	out := w.GDB(t, live.Process(job.Accounts[0].PID), "info address MPII_Version_string",
		`printf "UCX: %s\n", ((char *(*)(void)) ucp_get_version_string)()`, "mpi-queues")
	_, ucx, _ := strings.Cut(out.Stdout, "UCX: ")
	ucx, _, _ = strings.Cut(ucx, "\n")
	release := w.MPI.Release(t)
	w.Record(t, result.Result{MPI: release, Build: live.System(t) + ", stripped, UCX " + ucx, Layout: "–", Check: "live", Outcome: "says why not"})
	out.Contains(t, "libmpich.so.12 is stripped", "debug symbols", "debuginfod", "MPICHLIB_CFLAGS=-g", "--enable-debuginfo")
	out.Lacks(t, "Traceback")
	// Up to 4.1 its version is there to be read.
	if strings.Contains(out.Stdout, `Symbol "MPII_Version_string" is `) {
		out.Contains(t, release+" ch4:ucx")
	}
}
