package confine

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The filter is written here and not by a library because it is a plain list,
// and because go-seccomp-bpf lets the calls of other architectures through and
// knows four of the eight that this program runs on.

// rule decides on a system call whose arguments pass all checks: the first of
// a call's rules that does.
type rule struct {
	call   uintptr
	checks []check
	errno  unix.Errno // what the caller gets, 0 to let it through
}

// check looks at an argument.
type check struct {
	arg   int
	is    condition
	value uint32
}

// condition is what is asked of an argument, of its lower 32 bits but for null:
// the kernel takes no more of the process ids, flags and commands that are
// asked about.
type condition int

const (
	equal    condition = iota // it is the value
	anyBit                    // it has a bit of the value
	noBit                     // it has none of the value's bits
	onlyBits                  // it has no other bits than the value's
	null                      // it is a null pointer
)

// allow are rules that let these calls through whatever their arguments.
func allow(numbers ...uintptr) []rule {
	var out []rule
	for _, n := range numbers {
		out = append(out, rule{call: n})
	}
	return out
}

// commands are rules that let a call through if an argument is one of the values.
func commands(call uintptr, arg int, values ...uint32) []rule {
	var out []rule
	for _, v := range values {
		out = append(out, rule{call: call, checks: []check{{arg, equal, v}}})
	}
	return out
}

// Offsets of the kernel's struct seccomp_data.
const (
	offsetCall         = 0
	offsetArchitecture = 4
	offsetArguments    = 16
)

// x32Bit marks the calls of x86-64's 32-bit ABI, which have numbers of their
// own. No architecture here has others that high.
const x32Bit = 0x40000000

// architectures are the kernel's names for those of Go. Calls in another one's
// way, which a processor may offer as well, have other numbers: all are refused.
var architectures = map[string]uint32{
	"386":     unix.AUDIT_ARCH_I386,
	"amd64":   unix.AUDIT_ARCH_X86_64,
	"arm":     unix.AUDIT_ARCH_ARM,
	"arm64":   unix.AUDIT_ARCH_AARCH64,
	"loong64": unix.AUDIT_ARCH_LOONGARCH64,
	"ppc64le": unix.AUDIT_ARCH_PPC64LE,
	"riscv64": unix.AUDIT_ARCH_RISCV64,
	"s390x":   unix.AUDIT_ARCH_S390X,
}

// firstUnknown is behind the last call that this program's rules were made
// with, all of whose newer numbers are the same on every architecture.
const firstUnknown = unix.SYS_OPEN_TREE_ATTR + 1

// filter makes the kernel refuse what [policy] does not allow.
func filter() error { return install(policy(unix.Getpid()), unix.EPERM, 0) }

// Seal takes from the process what [Exec] needed last: to start a program, and
// to be given filters. It holds for all threads.
func Seal() error {
	refused := []rule{}
	for _, call := range []uintptr{unix.SYS_EXECVE, unix.SYS_EXECVEAT, unix.SYS_SECCOMP} {
		refused = append(refused, rule{call: call, errno: unix.EPERM})
	}
	return install(refused, 0, unix.SECCOMP_FILTER_FLAG_TSYNC)
}

// install gives a filter to this thread, with [unix.SECCOMP_FILTER_FLAG_TSYNC]
// to all. What no rule decides gets the error otherwise, or is let through.
func install(rules []rule, otherwise unix.Errno, flags uintptr) error {
	architecture, ok := architectures[runtime.GOARCH]
	if !ok {
		return unix.ENOSYS
	}
	instructions := assemble(architecture, rules, otherwise)
	program := unix.SockFprog{Len: uint16(len(instructions)), Filter: &instructions[0]}
	if flags == 0 {
		// Kernels before 3.17 have this call only.
		return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
	}
	thread, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&program)))
	switch {
	case errno != 0:
		return errno
	case thread != 0:
		return fmt.Errorf("thread %d has other filters", thread)
	}
	return nil
}

// hasFilters is true if the kernel has what [filter] needs: it misses the
// program that it is not given.
func hasFilters() bool {
	err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, 0, 0, 0)
	return err == unix.EFAULT || err == unix.EACCES
}

// assemble writes the rules as a program of the kernel's packet filter machine.
func assemble(architecture uint32, rules []rule, otherwise unix.Errno) []unix.SockFilter {
	out := []unix.SockFilter{
		load(offsetArchitecture),
		jump(unix.BPF_JEQ, architecture, 1, 0),
		end(unix.EPERM),
		load(offsetCall),
		jump(unix.BPF_JGE, x32Bit, 0, 1),
		end(unix.EPERM),
	}
	var order []uintptr
	byCall := map[uintptr][]rule{}
	for _, r := range rules {
		if byCall[r.call] == nil {
			order = append(order, r.call)
		}
		byCall[r.call] = append(byCall[r.call], r)
	}
	for _, call := range order {
		block := decide(byCall[call], otherwise)
		// A jump that is conditional reaches 255 instructions far.
		out = append(out,
			jump(unix.BPF_JEQ, uint32(call), 1, 0),
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JA, K: uint32(len(block))})
		out = append(out, block...)
	}
	if otherwise != 0 {
		// Libraries that know newer calls know kernels that don't have them.
		out = append(out, jump(unix.BPF_JGE, firstUnknown, 0, 1), end(unix.ENOSYS))
	}
	return append(out, end(otherwise))
}

// decide are the instructions for a call that has these rules.
func decide(rules []rule, otherwise unix.Errno) []unix.SockFilter {
	var out []unix.SockFilter
	for _, r := range rules {
		verdict := []unix.SockFilter{end(r.errno)}
		for _, c := range slices.Backward(r.checks) {
			verdict = slices.Concat(c.instructions(uint8(len(verdict))), verdict)
		}
		out = append(out, verdict...)
		if len(r.checks) == 0 {
			return out
		}
	}
	return append(out, end(otherwise))
}

// instructions go on behind them if the check holds, and else skip so many more.
func (c check) instructions(skip uint8) []unix.SockFilter {
	first := load(lowerHalf(c.arg))
	switch c.is {
	case anyBit:
		return []unix.SockFilter{first, jump(unix.BPF_JSET, c.value, 0, skip)}
	case noBit:
		return []unix.SockFilter{first, jump(unix.BPF_JSET, c.value, skip, 0)}
	case onlyBits:
		return []unix.SockFilter{first, jump(unix.BPF_JSET, ^c.value, skip, 0)}
	case null:
		return []unix.SockFilter{first, jump(unix.BPF_JEQ, 0, 0, skip+2),
			load(upperHalf(c.arg)), jump(unix.BPF_JEQ, 0, 0, skip)}
	default:
		return []unix.SockFilter{first, jump(unix.BPF_JEQ, c.value, 0, skip)}
	}
}

func load(offset uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
}

// jump skips so many instructions if its comparison is true, or if not.
func jump(comparison uint16, value uint32, ifTrue, ifFalse uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_K | comparison, K: value, Jt: ifTrue, Jf: ifFalse}
}

// end refuses the call with an error, or lets it through if that is 0.
func end(errno unix.Errno) unix.SockFilter {
	action := uint32(unix.SECCOMP_RET_ALLOW)
	if errno != 0 {
		action = unix.SECCOMP_RET_ERRNO | uint32(errno)
	}
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
}

// lowerHalf is where the lower 32 bits of an argument are.
func lowerHalf(arg int) uint32 {
	at := uint32(offsetArguments + 8*arg)
	if binary.NativeEndian.Uint16([]byte{0, 1}) == 1 {
		at += 4
	}
	return at
}

// upperHalf is where the others are.
func upperHalf(arg int) uint32 { return lowerHalf(arg) ^ 4 }
