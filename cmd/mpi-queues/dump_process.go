package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/mpi-queues/mpi-queues/mqs/dll/trust"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
)

// processState is what the kernel says of a process. The zero value is of one
// of which it says nothing, as without /proc.
type processState struct {
	pid int
	// state is its letter: R, S, D, T (stopped), t (traced), Z (zombie).
	state byte
	// started tells it from another process that got the same number.
	started string
	// tracer is the process that debugs it, uid the user it belongs to; -1 if not known.
	tracer, uid int
	// program is the path of its program, empty if not known.
	program string
}

// lookAt asks the kernel for a process. Where there is none it says so.
func lookAt(pid int) (processState, error) {
	p := processState{pid: pid, uid: -1}
	if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
		return p, fmt.Errorf("there is no process %d", pid)
	}
	folder := filepath.Join("/proc", strconv.Itoa(pid))
	stat, err := os.ReadFile(filepath.Join(folder, "stat"))
	if err != nil {
		return p, nil
	}
	// The name, in parentheses, may hold anything; what follows it is the 3rd field.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(fields) > 19 {
		p.state, p.started = fields[0][0], fields[19]
	}
	p.program, _ = os.Readlink(filepath.Join(folder, "exe"))
	status, _ := os.ReadFile(filepath.Join(folder, "status"))
	for line := range strings.Lines(string(status)) {
		key, value, _ := strings.Cut(line, ":")
		words := strings.Fields(value)
		if len(words) == 0 {
			continue
		}
		switch key {
		case "TracerPid":
			p.tracer, _ = strconv.Atoi(words[0])
		case "Uid":
			p.uid, _ = strconv.Atoi(words[0])
		}
	}
	return p, nil
}

// hasEnded says whether a process has ended, whether its parent has noticed or not.
func hasEnded(pid int) bool {
	p, err := lookAt(pid)
	return err != nil || p.state == 'Z'
}

// lacksMPI says whether a process is known to use no MPI library: of a program that is linked
// statically that is not known.
func lacksMPI(pid int) bool {
	maps, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "maps"))
	return err == nil && bytes.Contains(maps, []byte("/libc.")) && !bytes.Contains(maps, []byte("/libmpi"))
}

// obstacle says why no debugger can attach, whoever runs it; nil if nothing speaks against it.
func (p processState) obstacle() error {
	switch {
	case p.state == 'Z':
		return fmt.Errorf("process %d has ended; it is only waiting for its parent to notice", p.pid)
	case p.tracer > 0:
		return fmt.Errorf("process %d is being debugged already, by %s: type `mpi-queues' there, or `detach'", p.pid, nameOf(p.tracer))
	}
	return nil
}

// refused makes a sentence of gdb's failure to attach to a process.
func refused(pid int, reason string) error {
	p, err := lookAt(pid)
	if err == nil {
		err = p.obstacle()
	}
	if err != nil {
		return err
	}
	reason = strings.TrimSuffix(reason, ".")
	scope, _ := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
	switch me := os.Geteuid(); {
	case me != 0 && p.uid >= 0 && p.uid != me:
		return fmt.Errorf("gdb may not attach to process %d (%s), which is not yours but %s's: use sudo", pid, reason, trust.UserName(p.uid))
	case me != 0 && len(scope) > 0 && scope[0] != '0':
		return fmt.Errorf("gdb may not attach to process %d (%s), since /proc/sys/kernel/yama/ptrace_scope is %c: "+
			"use sudo, or allow it until the next boot with `sudo sysctl kernel.yama.ptrace_scope=0'", pid, reason, scope[0])
	}
	hint := ""
	if strings.Contains(reason, "ptrace") { // the system call, as gdb names it, not what gdb found out
		hint = ": if this is a container, it may need --cap-add=SYS_PTRACE"
	}
	return fmt.Errorf("gdb can't attach to process %d (%s)%s", pid, reason, hint)
}

// letRun makes sure that a process is not left stopped by a gdb that has ended,
// nil if it never ran. One that was told to end, or was killed, while it attached
// leaves its stop signal behind, which the process may take only later.
func (p processState) letRun(gdb *os.ProcessState, isTold bool) {
	handle := openProcess(p.pid) // before it is looked at: the number can become another's
	defer handle.close()
	now, err := lookAt(p.pid)
	if err != nil || gdb == nil || p.state == 'T' || now.started != p.started || now.tracer > 0 {
		return
	}
	if now.state == 'T' || isTold || !gdb.Exited() {
		handle.resume()
	}
}

// nameOf describes a process in a sentence.
func nameOf(pid int) string {
	name, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "comm"))
	if err != nil {
		return fmt.Sprintf("process %d", pid)
	}
	return fmt.Sprintf("%s (process %d)", printable.Line(strings.TrimSpace(string(name))), pid)
}
