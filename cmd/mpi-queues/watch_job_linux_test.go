package main

import (
	"bufio"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/tracee"
)

// starter is a shell that has started a rank through a command. ended waits for the end of the rank, and reports whether
// the shell has outlived it.
func starter(t *testing.T, through string) (cmd *exec.Cmd, rank int, ended func() bool) {
	t.Helper()
	name := "watch" + strconv.Itoa(os.Getpid())
	// The rank executes no other program once it has printed its process id: during execve a process has no environment.
	cmd = exec.Command("sh", "-c", "exec 3<&0; PMIX_NAMESPACE="+name+" PMIX_RANK=0 "+through+
		" sh -c 'echo $$; read end <&3' & wait; echo ended; read end")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	pipe, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	})
	out := bufio.NewScanner(pipe)
	out.Scan()
	if rank, err = strconv.Atoi(out.Text()); err != nil {
		t.Fatal(err)
	}
	return cmd, rank, func() bool { return out.Scan() && out.Text() == "ended" }
}

// endJob ends the job of a rank as `watch --kill' does.
func endJob(t *testing.T, rank int) error {
	t.Helper()
	j, err := findWatched(t.Context(), rank)
	if err != nil {
		t.Fatal(err)
	}
	err = j.kill()
	<-j.ended
	return err
}

// TestKillLauncher checks that a launcher is told to end with its ranks.
func TestKillLauncher(t *testing.T) {
	cmd, rank, _ := starter(t, "env")
	if err := endJob(t, rank); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait()
	if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGTERM {
		t.Errorf("the launcher: %v", cmd.ProcessState)
	}
}

// TestKillSparesOthers checks that what has started a rank as another user, as a daemon does, is not taken for a launcher
// that may be ended: who owns a rank chooses what is above it.
func TestKillSparesOthers(t *testing.T) {
	setpriv, err := exec.LookPath("setpriv")
	if os.Geteuid() != 0 || err != nil {
		t.Skip("only root can start another user's rank, by setpriv")
	}
	_, rank, ended := starter(t, setpriv+" --reuid 54321 --regid 54321 --clear-groups")
	if err := endJob(t, rank); err == nil || !strings.Contains(err.Error(), "started the ranks but does not belong to their user") {
		t.Error(err)
	}
	if !ended() {
		t.Error("what has started the rank does not run on")
	}
	if !tracee.HasEnded(rank) {
		t.Error("the rank runs on")
	}
}
