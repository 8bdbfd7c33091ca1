package confine

import (
	"encoding/binary"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The filter is written here and not by a library because it is a plain list,
// and because go-seccomp-bpf lets the calls of other architectures through and
// knows four of the eight that this program runs on.

// rule says when a system call is refused, and how.
type rule struct {
	call  uintptr
	when  condition
	arg   int    // the argument that the condition looks at
	value uint32 // what it is compared with
	errno unix.Errno
}

// condition is what is asked of the lower 32 bits of an argument: the kernel
// takes no more of the process ids, flags and commands that are asked about.
type condition int

const (
	always  condition = iota
	equal             // the argument is the value
	unequal           // the argument is not the value
	anyBit            // the argument has a bit of the value
	noBit             // the argument has none of the value's bits
)

// calls are rules that refuse all these calls with EPERM.
func calls(numbers ...uintptr) []rule {
	var out []rule
	for _, n := range numbers {
		out = append(out, rule{call: n, errno: unix.EPERM})
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

// filter makes the kernel refuse the calls of [rules].
func filter() error {
	architecture, ok := architectures[runtime.GOARCH]
	if !ok {
		return unix.ENOSYS
	}
	instructions := assemble(architecture, rules(unix.Getpid()))
	program := unix.SockFprog{Len: uint16(len(instructions)), Filter: &instructions[0]}
	// Not the newer system call seccomp: kernels before 3.17 have this one only.
	if _, _, errno := unix.Syscall(unix.SYS_PRCTL, unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER,
		uintptr(unsafe.Pointer(&program))); errno != 0 {
		return errno
	}
	return nil
}

// hasFilters is true if the kernel has what [filter] needs: it misses the
// program that it is not given.
func hasFilters() bool {
	_, _, errno := unix.Syscall(unix.SYS_PRCTL, unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, 0)
	return errno == unix.EFAULT || errno == unix.EACCES
}

// assemble writes the rules as a program of the kernel's packet filter machine.
func assemble(architecture uint32, rules []rule) []unix.SockFilter {
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	// jump skips so many instructions if its comparison is true, or if not.
	jump := func(comparison uint16, value uint32, ifTrue, ifFalse uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_K | comparison, K: value, Jt: ifTrue, Jf: ifFalse}
	}
	refuse := func(errno unix.Errno) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(errno)}
	}
	out := []unix.SockFilter{
		load(offsetArchitecture),
		jump(unix.BPF_JEQ, architecture, 1, 0),
		refuse(unix.EPERM),
		load(offsetCall),
		jump(unix.BPF_JGE, x32Bit, 0, 1),
		refuse(unix.EPERM),
	}
	for _, r := range rules {
		if r.when == always {
			out = append(out, jump(unix.BPF_JEQ, uint32(r.call), 0, 1), refuse(r.errno))
			continue
		}
		var test unix.SockFilter
		switch r.when {
		case equal:
			test = jump(unix.BPF_JEQ, r.value, 0, 1)
		case unequal:
			test = jump(unix.BPF_JEQ, r.value, 1, 0)
		case anyBit:
			test = jump(unix.BPF_JSET, r.value, 0, 1)
		case noBit:
			test = jump(unix.BPF_JSET, r.value, 1, 0)
		}
		out = append(out,
			jump(unix.BPF_JEQ, uint32(r.call), 0, 4),
			load(lowerHalf(r.arg)),
			test,
			refuse(r.errno),
			load(offsetCall)) // for the rules that follow
	}
	return append(out, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
}

// lowerHalf is where the lower 32 bits of an argument are.
func lowerHalf(arg int) uint32 {
	at := uint32(offsetArguments + 8*arg)
	if binary.NativeEndian.Uint16([]byte{0, 1}) == 1 {
		at += 4
	}
	return at
}
