// Package tracee says what speaks against attaching a debugger to a process, and why that failed, and
// sees that the process runs on when the debugger has ended, however that was.
package tracee

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/pidfd"
	"github.com/mpi-queues/mpi-queues/mqs/dll/trust"
	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
)

// State is what the kernel says of a process. The zero value is of one
// of which it says nothing, as without /proc.
type State struct {
	PID int
	// State is its letter: R, S, D, T (stopped), t (traced), Z (zombie); 0 if not known.
	State byte
	// started tells it from another process that got the same number: ticks since boot.
	started uint64
	// Tracer is the process that debugs it, 0 or less if there is none or that is not known.
	Tracer int
	// user is the user it belongs to, -1 if not known.
	user int
	// Program is the path of its program, empty if not known.
	Program string
}

// Read asks the kernel for a process. Where there is none it says so.
func Read(pid int) (State, error) {
	p := State{PID: pid, user: -1}
	if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
		return p, fmt.Errorf("there is no process %d", pid)
	}
	stat, err := procfs.Host.Stat(pid)
	if err != nil {
		return p, nil
	}
	p.State, p.started = stat.State, stat.Started
	p.Program, _ = procfs.Host.Program(pid)
	if status, err := procfs.Host.Status(pid); err == nil {
		p.Tracer = status.Tracer
		if len(status.Users) > 0 {
			p.user = status.Users[0]
		}
	}
	return p, nil
}

// HasEnded says whether a process has ended, whether its parent has noticed or not.
func HasEnded(pid int) bool {
	p, err := Read(pid)
	return err != nil || p.State == 'Z'
}

// LacksMPI says whether a process is known to use no MPI library: of a program that is linked
// statically that is not known.
func LacksMPI(pid int) bool {
	isDynamic := false
	for m, err := range procfs.Host.Mappings(pid) {
		if err != nil || strings.Contains(m.Path, "/libmpi") {
			return false
		}
		isDynamic = isDynamic || strings.Contains(m.Path, "/libc.")
	}
	return isDynamic
}

// Obstacle says why no debugger can attach, whoever runs it; nil if nothing speaks against it.
func (p State) Obstacle() error {
	switch {
	case p.State == 'Z':
		return fmt.Errorf("process %d has ended; it is only waiting for its parent to notice", p.PID)
	case p.Tracer > 0:
		return fmt.Errorf("process %d is being debugged already, by %s: type `mpi-queues' there, or `detach'", p.PID, Name(p.Tracer))
	}
	return nil
}

// Refused makes a sentence of gdb's failure to attach to a process.
func Refused(pid int, reason string) error {
	p, err := Read(pid)
	if err == nil {
		err = p.Obstacle()
	}
	if err != nil {
		return err
	}
	reason = strings.TrimSuffix(reason, ".")
	scope, _ := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
	switch me := os.Geteuid(); {
	case me != 0 && p.user >= 0 && p.user != me:
		return fmt.Errorf("gdb may not attach to process %d (%s), which is not yours but %s's: use sudo", pid, reason, trust.UserName(p.user))
	case me != 0 && len(scope) > 0 && scope[0] != '0':
		started := ""
		if scope[0] == '1' {
			started = ", or start the job with `mpi-queues run' or its program with `mpi-queues rank --'"
		}
		return fmt.Errorf("gdb may not attach to process %d (%s), since /proc/sys/kernel/yama/ptrace_scope is %c: "+
			"use sudo, or allow it until the next boot with `sudo sysctl kernel.yama.ptrace_scope=0'%s", pid, reason, scope[0], started)
	}
	hint := ""
	if strings.Contains(reason, "ptrace") { // the system call, as gdb names it, not what gdb found out
		hint = ": if this is a container, it may need --cap-add=SYS_PTRACE"
	}
	return fmt.Errorf("gdb can't attach to process %d (%s)%s", pid, reason, hint)
}

// LetRun makes sure that a process is not left stopped by a gdb that has ended,
// nil if it never ran. One that was told to end, or was killed, while it attached
// leaves its stop signal behind, which the process may take only later.
func (p State) LetRun(gdb *os.ProcessState, isTold bool) {
	handle := pidfd.Open(p.PID) // before it is looked at: the number can become another's
	defer handle.Close()
	now, err := Read(p.PID)
	if err != nil || gdb == nil || p.State == 'T' || now.started != p.started || now.Tracer > 0 {
		return
	}
	if now.State == 'T' || isTold || !gdb.Exited() {
		handle.Signal(syscall.SIGCONT)
	}
}

// Name describes a process in a sentence.
func Name(pid int) string {
	name, err := procfs.Host.Name(pid)
	if err != nil {
		return fmt.Sprintf("process %d", pid)
	}
	return fmt.Sprintf("%s (process %d)", printable.Line(strings.TrimSpace(name)), pid)
}
