package procfs

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// SystemCall is the system call that a thread is in (/proc/PID/syscall).
type SystemCall struct {
	// Number is negative for a thread that the kernel holds outside of a system call, as for a page of memory.
	Number int64
	// Arguments are the six registers that hold them; none outside of a call.
	Arguments []uint64
	// StackPointer and Counter are the program's own registers.
	StackPointer, Counter uint64
}

var errSystemCall = errors.New("/proc/PID/syscall names no system call")

// SystemCall returns the system call of a thread. It fails for a thread that runs, and where the kernel does not
// let this process trace that one.
func (f FS) SystemCall(thread int) (SystemCall, error) {
	text, err := read(f.Path(thread, "syscall"), maxLine)
	if err != nil {
		return SystemCall{}, err
	}
	words := strings.Fields(string(text))
	if len(words) != 3 && len(words) != 9 { // the number, six arguments, and two registers
		return SystemCall{}, errSystemCall
	}
	var call SystemCall
	if call.Number, err = strconv.ParseInt(words[0], 10, 64); err != nil {
		return SystemCall{}, errSystemCall
	}
	var registers []uint64
	for _, word := range words[1:] {
		value, err := strconv.ParseUint(word, 0, 64)
		if err != nil {
			return SystemCall{}, errSystemCall
		}
		registers = append(registers, value)
	}
	own := len(registers) - 2
	call.Arguments, call.StackPointer, call.Counter = registers[:own:own], registers[own], registers[own+1]
	return call, nil
}

// Descriptor returns the kernel's name of what a process's descriptor refers to: a path, or the like of
// "pipe:[17]". It is empty if that is unknown.
func (f FS) Descriptor(pid int, number int32) string {
	name, _ := os.Readlink(f.Path(pid, "fd", strconv.Itoa(int(number))))
	return name
}

// WaitChannel returns the kernel's function in which a thread sleeps, empty if it is unknown.
func (f FS) WaitChannel(thread int) string {
	text, _ := read(f.Path(thread, "wchan"), maxLine)
	return strings.TrimPrefix(strings.TrimSpace(string(text)), "0")
}

// KernelStack returns the kernel's functions that a thread is in, the innermost first; none if they can't be read:
// they are root's alone.
func (f FS) KernelStack(thread int) []string {
	text, _ := read(f.Path(thread, "stack"), maxStatus)
	var out []string
	for line := range strings.Lines(string(text)) { // "[<0>] kernel_clone+0x1af/0x3e0"
		if _, frame, ok := strings.Cut(line, "] "); ok {
			name, _, _ := strings.Cut(strings.TrimSpace(frame), "+")
			out = append(out, name)
		}
	}
	return out
}

// FrozenBy returns the control group (cgroups(7)) whose freezer has stopped a process, empty if none has or that is
// unknown.
func (f FS) FrozenBy(pid int) string {
	groups, _ := read(f.Path(pid, "cgroup"), maxStatus)
	mounts, _ := read(filepath.Join(string(f), "self", "mountinfo"), maxList)
	for line := range strings.Lines(string(groups)) { // "0::/path" of version 2, "6:freezer:/path" of version 1
		words := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(words) != 3 {
			continue
		}
		switch controllers, path := strings.Split(words[1], ","), words[2]; {
		case words[1] == "":
			events, _ := read(filepath.Join(controlFolder(string(mounts), "cgroup2", ""), path, "cgroup.events"), maxLine)
			if slices.Contains(strings.Split(string(events), "\n"), "frozen 1") {
				return path
			}
		case slices.Contains(controllers, "freezer"):
			state, _ := read(filepath.Join(controlFolder(string(mounts), "cgroup", "freezer"), path, "freezer.state"), maxLine)
			if string(state) == "FROZEN\n" {
				return path
			}
		}
	}
	return ""
}

// controlFolder returns where a hierarchy of control groups is mounted in whole, by its type and, of version 1, a
// controller that it has (proc_pid_mountinfo(5)). Without one it returns a path that does not exist.
func controlFolder(mounts, kind, controller string) string {
	for line := range strings.Lines(mounts) {
		before, after, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " - ")
		place, system := strings.Fields(before), strings.Fields(after)
		if len(place) < 5 || len(system) < 3 || system[0] != kind || place[3] != "/" {
			continue
		}
		if controller == "" || slices.Contains(strings.Split(system[2], ","), controller) {
			return place[4]
		}
	}
	return os.DevNull
}
