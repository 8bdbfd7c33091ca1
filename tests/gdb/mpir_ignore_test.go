//go:build live

package gdb

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// A launcher may say that there are no queues to show (MPIR_ignore_queues): none are read from itself,
// whatever DLL it names, and none from ranks that name none.
func TestMPIRIgnoreQueues(t *testing.T) {
	t.Parallel()
	dll := dlls().Reference(t)
	for name, ignores := range map[string]bool{"ignores": true, "does not": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			flags := []string{`-DDLL="` + dll + `"`}
			if ignores {
				flags = append(flags, "-DWITH_IGNORE_QUEUES")
			}
			l := newLauncher(t, flags...)
			command := strings.Join([]string{l.program, l.folder, "n=1", "--", work.Program(t, "tests/dll/toy_none.c"), l.folder}, " ")
			cmd := exec.Command("sh", "-c", "exec "+command)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				live.Kill(t, cmd.Process.Pid)
				_ = cmd.Wait()
			})
			l.await(t, "launcher", "spawned: ")
			rank := rankOf(t, cmd.Process.Pid)
			t.Cleanup(func() { live.Kill(t, rank) })
			live.Until(t, "the rank", func() bool { return live.Exists(l.folder + "/ready-0") })
			ofRank := work.GDB(t, live.Process(rank), append(trusting(""), "mpi-queues")...)
			ofLauncher := work.GDB(t, live.Process(cmd.Process.Pid), append(trusting(""), "mpi-queues")...)
			ofLauncher.Lacks(t, "toy world")
			if ignores {
				ofRank.Lacks(t, "toy world")
				ofLauncher.Lacks(t, "is the launcher of")
				return
			}
			ofRank.Contains(t, "toy world")
			ofLauncher.Contains(t, "is the launcher of an MPI job")
		})
	}
}
