//go:build live

package gdb

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// A deadlock that crosses hosts is reported as a whole from the launcher's host, with the same verdict and the
// same words as on one host. Whatever dies, a report names the host, and nothing is left anywhere.
func TestReportOfHosts(t *testing.T) {
	t.Parallel()
	const program, mode, ranks = "deadlock", "send-ring", 3
	want := work.OnOneHost(t, program, mode, ranks)
	s := work.Spread(t, live.OverAgent, program, mode, ranks)
	report := fmt.Sprintf("report %d", s.Launcher)
	via := s.Via
	s.Via = ""
	got := s.Deadlocked(t, report)
	if got != want {
		t.Errorf("on two hosts:\n%s\non one:\n%s", got, want)
	}
	s.ByMPIRun(t)
	if got := s.Deadlocked(t, fmt.Sprintf("report --hosts %s,%s", live.FirstHost, live.SecondHost)); got != want {
		t.Errorf("by their names, by mpirun:\n%s\nand by what the launcher has reached them with:\n%s", got, want)
	}
	s.Via, s.Env = via, ""
	if out, err := s.Command(live.SecondHost, "mount -t tmpfs none "+filepath.Dir(work.Helper)).CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	if got := s.Deadlocked(t, report); got != want {
		t.Errorf("with the program sent along:\n%s\nand where it is there:\n%s", got, want)
	}
	s.NothingIsLeft(t)

	killed := s.Tool(report)
	var said bytes.Buffer
	killed.Stdout, killed.Stderr = &said, &said
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	live.Until(t, "for a collector", func() bool { return s.Reads(t, live.SecondHost) })
	s.SignalCollectors(t, live.SecondHost, "KILL")
	if err := killed.Wait(); err != nil || !strings.Contains(said.String(), "Not read: "+live.SecondHost+": ") || strings.HasPrefix(said.String(), "Deadlock") {
		t.Errorf("after its collector was killed: %v\n%s", err, &said)
	}
	s.NothingIsLeft(t)

	s.Engine(t, `[ "$1" != `+live.SecondHost+` ] || set -- "$1" "$2 | sed -u '/ end /Q'"`)
	half := s.Says(t, report)
	if !strings.Contains(half, "Not read: "+live.SecondHost+": the document is cut off behind part ") || strings.HasPrefix(half, "Deadlock") {
		t.Errorf("of half a document:\n%s", half)
	}
	s.NothingIsLeft(t)
	s.Via = via

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
