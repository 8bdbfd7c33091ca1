package confine

import (
	"runtime"
	"slices"

	"golang.org/x/sys/unix"
)

// policy is what the process with this id may call: what Go's runtime, the C
// library, the loader, and a library that reads queues need. All else is refused
// with an error.
//
// A call goes on the list only if it can't reach beyond the process: not other
// processes, not files but by reading, nobody else's time on a processor. One
// that can has a rule that looks at its arguments.
func policy(pid int) []rule {
	self := uint32(pid)
	return slices.Concat(
		allow(memory...), allow(threads...), allow(signals...), allow(times...), allow(reading...),
		allow(waiting...), allow(identity...), allow(olderCalls...), allow(ownCalls...),
		// Writing to what was open before: the stream to the helper, its pipes.
		allow(unix.SYS_WRITE, unix.SYS_WRITEV),
		// The first lets the program be started anew; [Seal] takes both away.
		allow(unix.SYS_EXECVE, unix.SYS_SECCOMP),

		opening, mapping, controls(unix.SYS_FCNTL), ownRules,
		[]rule{
			// A process that is not a thread would outlive this one, and one in a
			// namespace of its own has root's powers there.
			{call: unix.SYS_CLONE, checks: []check{{cloneFlags(), onlyBits, threadFlags}, {cloneFlags(), anyBit, unix.CLONE_THREAD}}},
			// Their flags are in memory, where a filter can't see them. The error
			// makes libraries use the older call.
			{call: unix.SYS_CLONE3, errno: unix.ENOSYS},
			{call: unix.SYS_OPENAT2, errno: unix.ENOSYS},

			// Signals to itself are the C library's abort() and the runtime's wake-ups.
			{call: unix.SYS_KILL, checks: []check{{0, equal, self}}},
			{call: unix.SYS_TGKILL, checks: []check{{0, equal, self}}},

			// Its own limits, without new ones.
			{call: unix.SYS_PRLIMIT64, checks: []check{{0, equal, 0}, {2, null, 0}}},
			{call: unix.SYS_PRLIMIT64, checks: []check{{0, equal, self}, {2, null, 0}}},
		},
		// Whether this is a terminal, and how much there is to read.
		commands(unix.SYS_IOCTL, 1, unix.TCGETS, unix.TIOCINQ),
		commands(unix.SYS_PRCTL, 0, unix.PR_SET_NAME, unix.PR_GET_NAME, unix.PR_SET_VMA, unix.PR_GET_NO_NEW_PRIVS),
	)
}

var memory = []uintptr{
	unix.SYS_MUNMAP, unix.SYS_MPROTECT, unix.SYS_MADVISE, unix.SYS_MREMAP, unix.SYS_BRK,
	unix.SYS_MINCORE, // how the runtime finds the size of a page without /proc
	unix.SYS_MAP_SHADOW_STACK,
}

var threads = []uintptr{
	unix.SYS_FUTEX, unix.SYS_SET_ROBUST_LIST, unix.SYS_SET_TID_ADDRESS, unix.SYS_RSEQ,
	unix.SYS_SCHED_YIELD, unix.SYS_GETTID, unix.SYS_EXIT, unix.SYS_EXIT_GROUP,
	// It only reads, and the C library asks it of threads by their ids.
	unix.SYS_SCHED_GETAFFINITY,
}

// signals are how the process receives them.
var signals = []uintptr{
	unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_RT_SIGPENDING,
	unix.SYS_RT_SIGSUSPEND, unix.SYS_RT_SIGTIMEDWAIT, unix.SYS_SIGALTSTACK, unix.SYS_RESTART_SYSCALL,
}

var times = []uintptr{
	unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_CLOCK_GETTIME, unix.SYS_CLOCK_GETRES,
	unix.SYS_GETTIMEOFDAY, unix.SYS_TIMES, unix.SYS_GETRUSAGE,
}

// reading is what there is to do with a file but opening it.
var reading = []uintptr{
	unix.SYS_READ, unix.SYS_READV, unix.SYS_PREAD64, unix.SYS_LSEEK, unix.SYS_CLOSE,
	unix.SYS_FSTAT, unix.SYS_STATX, unix.SYS_STATFS, unix.SYS_FSTATFS,
	unix.SYS_FACCESSAT, unix.SYS_FACCESSAT2, unix.SYS_READLINKAT, unix.SYS_GETDENTS64, unix.SYS_GETCWD,
}

// waiting is for files, and the pipes and counters that libraries wake themselves with.
var waiting = []uintptr{
	unix.SYS_PPOLL, unix.SYS_PSELECT6, unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_PWAIT,
	unix.SYS_EPOLL_PWAIT2, unix.SYS_EVENTFD2, unix.SYS_PIPE2,
}

// identity is who this is, and on what machine.
var identity = []uintptr{
	unix.SYS_GETPID, unix.SYS_GETPPID, unix.SYS_GETUID, unix.SYS_GETEUID, unix.SYS_GETGID, unix.SYS_GETEGID,
	unix.SYS_UNAME, unix.SYS_SYSINFO, unix.SYS_GETCPU, unix.SYS_GETRANDOM,
}

// threadFlags are those that Go's runtime and the C library start threads with.
const threadFlags = unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_SYSVSEM |
	unix.CLONE_THREAD | unix.CLONE_SETTLS | unix.CLONE_PARENT_SETTID | unix.CLONE_CHILD_SETTID |
	unix.CLONE_CHILD_CLEARTID | unix.CLONE_DETACHED

// cloneFlags is which argument of clone they are in.
func cloneFlags() int {
	if runtime.GOARCH == "s390x" {
		return 1
	}
	return 0
}

// largeFile is O_LARGEFILE, which is another bit on each kind of processor. The
// others of these bits are O_DIRECTORY, O_NOFOLLOW and O_DIRECT there.
const largeFile = 1<<15 | 1<<16 | 1<<17

// readFlags are those of opening a file that don't change it.
const readFlags = unix.O_RDONLY | unix.O_CLOEXEC | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_NONBLOCK |
	unix.O_NOCTTY | unix.O_PATH | largeFile

// maps are the rules for a call that maps memory or a file. Memory that is
// shared and no file's is under no limit: see [limitMemory].
func maps(call uintptr) []rule {
	return []rule{
		{call: call, checks: []check{{3, noBit, unix.MAP_SHARED}}},
		{call: call, checks: []check{{3, noBit, unix.MAP_ANONYMOUS}}},
	}
}

// controls are the rules for a call of fcntl's kind. What is not here are locks
// and leases that others wait for, and signals to anyone when a file is ready.
func controls(call uintptr) []rule {
	return append(commands(call, 1, unix.F_GETFD, unix.F_SETFD, unix.F_GETFL, unix.F_DUPFD_CLOEXEC),
		rule{call: call, checks: []check{{1, equal, unix.F_SETFL},
			{2, onlyBits, unix.O_ACCMODE | unix.O_NONBLOCK | unix.O_APPEND | unix.O_CLOEXEC | largeFile}}})
}
