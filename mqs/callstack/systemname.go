package callstack

import "fmt"

// otherCalls are system calls of x86-64 in which a thread may block, and which the analysis of stacks does not use.
var otherCalls = map[int64]string{9: "mmap", 10: "mprotect", 11: "munmap", 12: "brk", sysIoctl: "ioctl", sysSchedYield: "sched_yield", 28: "madvise", 35: "nanosleep",
	56: "clone", 57: "fork", 58: "vfork", 59: "execve", 60: "exit", sysFcntl: "fcntl", sysFlock: "flock", 80: "chdir", 81: "fchdir", 86: "link", 88: "symlink", 89: "readlink",
	90: "chmod", 91: "fchmod", 92: "chown", 93: "fchown", 132: "utime", 137: "statfs", 138: "fstatfs", 165: "mount", 166: "umount2", 188: "setxattr", 191: "getxattr",
	resumed: "restart_syscall", 230: "clock_nanosleep", 231: "exit_group", 235: "utimes", 257: "openat", 265: "linkat", 267: "readlinkat", 269: "faccessat",
	275: "splice", 280: "utimensat", 322: "execveat", 435: "clone3", 439: "faccessat2"}

// SystemCallName returns the name of a system call of x86-64: "openat".
func SystemCallName(number int64) string {
	for _, names := range []map[int64]string{transferCalls, fileCalls, peerCalls, waitCalls, otherCalls} {
		if name := names[number]; name != "" {
			return name
		}
	}
	return fmt.Sprintf("system call %d", number)
}

// The system calls of x86-64 whose first or second argument is the address of a path, and those whose first is a
// descriptor.
var (
	firstIsPath       = callSet(sysOpen, 4, 6, 21, 59, 76, 80, 82, 83, 84, 85, 86, 87, 88, 89, 90, 92, 132, 137, 166, 188, 191, 235)
	secondIsPath      = callSet(165, sysOpenAt, 258, 262, 263, 264, 265, 267, 269, 280, 316, 322, 332, 437, 439)
	firstIsDescriptor = callSet(0, 1, 3, 5, 8, sysIoctl, 17, 18, 19, 20, 40, 42, 43, 44, 45, 46, 47, sysFcntl, sysFlock, 74, 75, 77, 78, 81, 91, 93, 138, 217, 275, 277,
		285, 288, 295, 296, 299, 306, 326, 327, 328)
)

func callSet(numbers ...int64) map[int64]bool {
	out := map[int64]bool{}
	for _, n := range numbers {
		out[n] = true
	}
	return out
}

// PathArgument returns the address of the path that a system call of x86-64 works on, 0 for a call without one.
func PathArgument(number int64, arguments []uint64) uint64 {
	switch {
	case firstIsPath[number] && len(arguments) > 0:
		return arguments[0]
	case secondIsPath[number] && len(arguments) > 1:
		return arguments[1]
	}
	return 0
}

// DescriptorArgument returns the descriptor that a system call of x86-64 works on; ok is false for a call without one.
func DescriptorArgument(number int64, arguments []uint64) (descriptor int32, ok bool) {
	if !firstIsDescriptor[number] || len(arguments) == 0 {
		return 0, false
	}
	return int32(arguments[0]), true
}
