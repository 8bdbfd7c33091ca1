//go:build live

package gdb

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// A rank that has crashed is the one that others wait for: in core files of the whole job, and while gdb holds it at
// its signal. There an MPI's handler may be to come, and then nothing more is said of the rank than that.
func TestCrashedRank(t *testing.T) {
	t.Parallel()
	for mode, words := range map[string]string{"fault": "SIGSEGV (address not mapped)", "abort": "SIGABRT (sent by itself)"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			job := work.Start(t, "crashed", 3, nil, mode)
			folder := t.TempDir()
			core := func(rank int) string { return filepath.Join(folder, fmt.Sprintf("core-%d", rank)) }
			for _, rank := range []int{0, 2} {
				work.GDB(t, live.Process(job.Accounts[rank].PID), "generate-core-file "+core(rank))
			}
			out := work.GDB(t, live.Process(job.Accounts[1].PID), "shell touch "+filepath.Join(job.Folder, "crash"), "continue",
				"mpi-queues", "generate-core-file "+core(1))
			if !strings.Contains(out.Stdout, words) {
				t.Errorf("gdb at the signal says no %q:\n%s", words, out.All())
			}
			var first []string
			for rank := range 3 {
				if rank > 0 {
					first = append(first, "add-inferior -no-connection", fmt.Sprintf("inferior %d", rank+1))
				}
				first = append(first, "file "+job.Program, "core-file "+core(rank))
			}
			got := answers(t, live.Nothing(), first, "mpi-deadlock -all", "mpi-queues -all -json")
			if want := "for rank 1, which has crashed: " + words; !strings.Contains(got[0], want) {
				t.Errorf("mpi-deadlock -all says no %q:\n%s", want, got[0])
			}
			var snapshot struct {
				Processes []struct {
					Signal     *string
					Cause      *string `json:"signal_cause"`
					Thread     *int    `json:"signal_thread"`
					ExitCode   *int    `json:"exit_code"`
					GlobalRank *int    `json:"global_rank"`
				}
			}
			if err := json.Unmarshal([]byte(got[1]), &snapshot); err != nil {
				t.Fatalf("%v in\n%s", err, got[1])
			}
			for _, p := range snapshot.Processes {
				switch {
				case *p.GlobalRank != 1 && p.Signal != nil:
					t.Errorf("rank %d has signal %s, and was held by a debugger", *p.GlobalRank, *p.Signal)
				case *p.GlobalRank == 1 && (p.Signal == nil || p.Cause == nil || p.Thread == nil || *p.Signal+" ("+*p.Cause+")" != words):
					t.Errorf("rank 1 has signal %v, cause %v, thread %v, not %s", p.Signal, p.Cause, p.Thread, words)
				}
			}
			for rank := range 3 {
				_ = os.Remove(core(rank))
			}
		})
	}
}
