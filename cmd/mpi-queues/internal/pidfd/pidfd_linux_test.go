package pidfd

import (
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
)

// A process that has ended is not signalled, nor is the one that has its number by then.
func TestSignalNobodyElse(t *testing.T) {
	first, heir := exec.Command("sleep", "3600"), exec.Command("sleep", "3600")
	for _, cmd := range []*exec.Cmd{first, heir} {
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	}
	p := Open(first.Process.Pid)
	defer p.Close()
	if p.fd < 0 {
		t.Fatal("this kernel has no handles of processes (pidfd_open, Linux 5.3)")
	}
	p.Signal(unix.SIGTERM)
	_ = first.Wait()
	p.pid = heir.Process.Pid // as if it had got the number
	p.Signal(unix.SIGTERM)
	_ = heir.Process.Signal(unix.SIGINT)
	_ = heir.Wait()
	for cmd, want := range map[*exec.Cmd]unix.Signal{first: unix.SIGTERM, heir: unix.SIGINT} {
		if status := cmd.ProcessState.Sys().(interface{ Signal() unix.Signal }); status.Signal() != want {
			t.Errorf("it ended with %v, not %v", status.Signal(), want)
		}
	}
}
