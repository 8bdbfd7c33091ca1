//go:build matrix

package wheels

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
	"github.com/mpi-queues/mpi-queues/tests/internal/result"
)

const impi = "impi-devel-2021.18.1"

// intelMPI is a workspace for Intel MPI, whose compiler wants to know where it is. Ranks of one machine pass messages
// through shared memory of its own, or through libfabric.
func intelMPI(t *testing.T, fabrics string) *live.Workspace {
	t.Helper()
	w := wheel(t, impi, live.StockMPICH)
	root := "I_MPI_ROOT=" + filepath.Join(folder, impi)
	w.MPI.Launcher = []string{"env", root, "I_MPI_FABRICS=" + fabrics, "FI_PROVIDER=tcp", filepath.Join(folder, impi, "bin", "mpiexec.hydra")}
	script := fmt.Sprintf("#!/bin/sh\nexec env '%s' '%s' \"$@\"\n", root, w.MPI.Compiler)
	w.MPI.Compiler = filepath.Join(w.Folder, "compile")
	if err := os.WriteFile(w.MPI.Compiler, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return w
}

// Of Intel MPI the calls are told that ranks hang in, by its own name, and no queue of it is shown as if it were known.
func TestIntelMPI(t *testing.T) {
	t.Parallel()
	for _, fabrics := range []string{"shm", "ofi"} {
		t.Run(fabrics, func(t *testing.T) {
			t.Parallel()
			w := intelMPI(t, fabrics)
			job := w.Start(t, "blocked", 3, nil, "barrier")
			for _, account := range job.Accounts {
				document, err := expect.ParseDocument(w.Shell(t, "dump", "--json", fmt.Sprint(account.PID)))
				if err != nil || len(document.Processes) != 1 {
					t.Fatalf("%v: %v", err, document)
				}
				process := document.Processes[0]
				if process["mpi"] != "Intel MPI" || process["mpi_version"] != "2021.18.1" || fmt.Sprint(process["world_size"]) != "3" {
					t.Errorf("it is %v %v, of %v ranks", process["mpi"], process["mpi_version"], process["world_size"])
				}
				w.Record(t, result.Result{MPI: "Intel MPI 2021.18.1", Build: "wheel for pip, without types", Layout: "–", Check: "live", Outcome: "says why not"})
				comms := expect.Communicators(process)
				if len(comms) != 1 {
					t.Fatalf("it has %d communicators", len(comms))
				}
				for _, queue := range []string{"pending_sends", "pending_receives", "unexpected_messages"} {
					why, _ := comms[0]["unavailable"].(map[string]any)
					if text, _ := why[queue].(string); text == "" {
						t.Errorf("the %s are shown as if they were known: %v", queue, comms[0])
					}
				}
				if notes := fmt.Sprint(process["notes"]); !strings.Contains(notes, "Intel MPI 2021.18.1, which was derived from MPICH") {
					t.Errorf("the notes are %s", notes)
				}
			}
			wants := []string{"Unknown. Whether the job hangs can't be told.", "rank 0: MPI_Recv at blocked.c:", "ranks 1-2: MPI_Barrier at blocked.c:"}
			live.Until(t, "for the report that is expected", func() bool {
				report := string(w.Shell(t, "report", fmt.Sprint(job.Accounts[0].PID)))
				for _, want := range wants {
					if !strings.Contains(report, want) {
						t.Logf("without %q: %s", want, report)
						return false
					}
				}
				return true
			})
		})
	}
}

// A program on Intel MPI that gets on is never called deadlocked.
func TestIntelMPIRuns(t *testing.T) {
	t.Parallel()
	w := intelMPI(t, "shm")
	for mode, ranks := range map[string]int{"slow": 4, "wildcard": 3} {
		job := w.Start(t, "moving", ranks, nil, mode)
		report, err := expect.ParseReport(w.Shell(t, "report", "--json", fmt.Sprint(job.Accounts[0].PID)))
		if err != nil {
			t.Fatal(err)
		}
		if report.Verdict == expect.Deadlock || len(report.Deadlocks) > 0 {
			t.Errorf("%s: it is %s: %v", mode, report.Verdict, report.Deadlocks)
		}
	}
}
