//go:build live

package gdb

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/hosts"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// A job that mpirun has spread by ssh is reported with the same words as on one host, by ssh, which nobody has to name.
// Nothing is left on any host, also where the connection
// breaks while the ranks are read.
func TestReportOverSSH(t *testing.T) {
	t.Parallel()
	const program, mode, ranks = "deadlock", "send-ring", 3
	want := work.OnOneHost(t, program, mode, ranks)
	path := ""
	s := work.Spread(t, func(h *hosts.Hosts) []string {
		path = "PATH=" + h.SSH(t) + ":$PATH"
		h.Agent = h.Folder + "/bin/ssh"
		return live.OverAgent(h)
	}, program, mode, ranks)
	s.Via, s.Env = "", path
	report := fmt.Sprintf("report %d", s.Launcher)
	if got := s.Deadlocked(t, report); got != want {
		t.Errorf("on two hosts:\n%s\non one:\n%s", got, want)
	}
	s.NothingIsLeft(t)

	gone := s.Tool(report)
	gone.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := gone.Start(); err != nil {
		t.Fatal(err)
	}
	live.Until(t, "for a collector", func() bool { return s.Reads(t, live.SecondHost) })
	_ = syscall.Kill(-gone.Process.Pid, syscall.SIGKILL)
	_ = gone.Wait()
	s.NothingIsLeft(t)
}
