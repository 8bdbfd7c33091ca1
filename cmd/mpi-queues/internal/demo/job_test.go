package demo

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestKill checks that only the user's own processes are taken for ranks of the demo.
func TestKill(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can start another user's process")
	}
	folder, err := os.MkdirTemp("", "demo") // those of t.TempDir are closed to others
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	cat, err := os.ReadFile("/bin/cat")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(folder, "program")
	if err := os.WriteFile(program, cat, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	start := func(user uint32) (*exec.Cmd, io.Closer) {
		cmd := exec.Command(program)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
		in, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		return cmd, in
	}
	own, ownIn := start(0)
	other, otherIn := start(54321)
	if killed := (&Job{Program: program}).kill(); killed != 1 {
		t.Errorf("%d are killed", killed)
	}
	_ = otherIn.Close()
	if err := other.Wait(); err != nil {
		t.Errorf("another user's: %v", err)
	}
	if err := own.Wait(); err == nil || !strings.Contains(err.Error(), unix.SIGKILL.String()) {
		t.Errorf("the user's own: %v", err)
	}
	_ = ownIn.Close()
}
