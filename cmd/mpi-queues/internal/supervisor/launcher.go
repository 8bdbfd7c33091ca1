//go:build linux

package supervisor

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/mpi-queues/mpi-queues/bridge"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/acquisition"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/commandline"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/gate"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/hold"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/pidfd"
	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
)

// launcher is the process that a job's command line has started.
type launcher struct {
	pid    int
	ended  chan struct{} // closed when it has
	state  *os.ProcessState
	tracer *acquisition.Tracer // nil if no debugger has it
}

// name is that of its program.
func (l *launcher) name() string {
	name, _ := procfs.Host.Name(l.pid)
	return name
}

// launch starts a command line.
func (s *Supervisor) launch(command, prefix string, p bridge.RunParams) error {
	var tty *os.File
	if p.Terminal != "" {
		var err error
		if tty, err = os.OpenFile(p.Terminal, os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
			return fmt.Errorf("the terminal of `set inferior-tty' can't be opened: %w", err)
		}
		defer func() { _ = tty.Close() }()
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd, untraced := s.start(func() *exec.Cmd {
		// As it is with gdb's `run', the shell is replaced by the command.
		cmd := exec.Command(self, "launch", "/bin/sh", "-c", commandline.Replacing(command))
		cmd.Dir = string(p.Folder)
		environment := strings.Split(strings.TrimSuffix(string(p.Environment), "\x00"), "\x00")
		cmd.Env = slices.Concat(environment, commandline.Settings(prefix), []string{gate.Variable + "=" + s.listener.Path,
			// Open MPI 4.1 warns of later releases, in which MPIR is not needed here.
			"OMPI_MPIR_DO_NOT_WARN=1"})
		cmd.Stdout, cmd.Stderr = s.out, s.errs
		if tty != nil {
			cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
		}
		// A process group of this session, which is not the terminal's: Ctrl-C is for gdb. If this process is killed while the
		// launcher is stopped, the kernel sends SIGHUP and SIGCONT to the group.
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		return cmd
	})
	if cmd.Process == nil {
		return untraced
	}
	s.mu.Lock()
	s.launcher = &launcher{pid: cmd.Process.Pid, ended: make(chan struct{})}
	s.mu.Unlock()
	process := pidfd.Open(cmd.Process.Pid)
	go func() {
		process.AwaitEnd() // it may be held, as a rank
		process.Close()
		_ = cmd.Wait() // the state says how
		s.launcher.state = cmd.ProcessState
		close(s.launcher.ended)
	}()
	if untraced == nil {
		if untraced = s.trace(); untraced != nil {
			_ = unix.Kill(s.launcher.pid, unix.SIGCONT)
		}
	}
	if untraced != nil {
		s.notes = append(s.notes, fmt.Sprintf("The launcher runs without a debugger of its own, to which it could tell of its ranks (MPIR): %v.", untraced))
	}
	return nil
}

// start starts what build returns, this program as what lets the shell be traced, and holds the shell
// before its first instruction. If that can't be done, it runs, and the error says why.
func (s *Supervisor) start(build func() *exec.Cmd) (*exec.Cmd, error) {
	cmd := build()
	cmd.SysProcAttr.Ptrace = true
	_, err := hold.Start(2, func() (int, error) {
		if err := cmd.Start(); err != nil {
			return 0, err
		}
		return cmd.Process.Pid, nil
	})
	if cmd.Process == nil {
		cmd = build()
		if startErr := cmd.Start(); startErr != nil {
			err = startErr
		}
	}
	return cmd, err
}

// end is how the launcher, which has, has ended.
func (l *launcher) end() *bridge.End {
	status, ok := l.state.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		return &bridge.End{Signal: unix.SignalName(status.Signal())}
	}
	code := l.state.ExitCode()
	return &bridge.End{Code: &code}
}
