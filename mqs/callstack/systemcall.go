package callstack

import (
	"fmt"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// System calls of x86-64 (arch/x86/entry/syscalls/syscall_64.tbl).
const (
	sysOpen       = 2
	sysPoll       = 7
	sysIoctl      = 16
	sysSelect     = 23
	sysSchedYield = 24
	sysFcntl      = 72
	sysFlock      = 73
	sysTimedWait  = 128 // rt_sigtimedwait
	sysFutex      = 202
	sysEpollWait  = 232
	sysOpenAt     = 257
	sysPselect6   = 270
	sysPpoll      = 271
	sysEpollPwait = 281
)

// transferCalls move data through a descriptor, which may be that of a file or of a peer: read, write, pread64,
// pwrite64, readv, writev, sendfile, preadv, pwritev, preadv2, pwritev2.
var transferCalls = map[int64]string{0: "read", 1: "write", 17: "pread64", 18: "pwrite64", 19: "readv", 20: "writev", 40: "sendfile",
	295: "preadv", 296: "pwritev", 327: "preadv2", 328: "pwritev2"}

// fileCalls work on files alone. On a file system of another machine each of them may wait.
var fileCalls = map[int64]string{sysOpen: "open", 3: "close", 4: "stat", 5: "fstat", 6: "lstat", 8: "lseek", 21: "access", 26: "msync", 74: "fsync", 75: "fdatasync",
	76: "truncate", 77: "ftruncate", 78: "getdents", 82: "rename", 83: "mkdir", 84: "rmdir", 85: "creat", 87: "unlink", 162: "sync",
	206: "io_setup", 208: "io_getevents", 209: "io_submit", 217: "getdents64", sysOpenAt: "openat", 258: "mkdirat", 262: "newfstatat", 263: "unlinkat",
	264: "renameat", 277: "sync_file_range", 285: "fallocate", 306: "syncfs", 316: "renameat2", 326: "copy_file_range", 332: "statx", 426: "io_uring_enter",
	437: "openat2"}

// peerCalls wait for somebody else: a signal, a child, a message, a connection.
var peerCalls = map[int64]string{34: "pause", 42: "connect", 43: "accept", 44: "sendto", 45: "recvfrom", 46: "sendmsg", 47: "recvmsg", 61: "wait4", 65: "semop",
	69: "msgsnd", 70: "msgrcv", 130: "rt_sigsuspend", 220: "semtimedop", 242: "mq_timedsend", 243: "mq_timedreceive", 247: "waitid", 288: "accept4", 299: "recvmmsg"}

// waitCalls may have a timeout, which says how they wait.
var waitCalls = map[int64]string{sysPoll: "poll", sysSelect: "select", sysTimedWait: "rt_sigtimedwait", sysFutex: "futex", sysEpollWait: "epoll_wait",
	sysPselect6: "pselect6", sysPpoll: "ppoll", sysEpollPwait: "epoll_pwait"}

// sleepingCalls are nanosleep and clock_nanosleep.
var sleepingCalls = []int64{35, 230}

// promptCalls wait for nobody: mmap, mprotect, munmap, brk, rt_sigaction, rt_sigprocmask, sched_yield, mremap, madvise, getpid,
// gettimeofday, getrusage, times, getppid, sched_setaffinity, sched_getaffinity, gettid, time, clock_gettime, clock_getres, tgkill, getcpu.
var promptCalls = []int64{9, 10, 11, 12, 13, 14, sysSchedYield, 25, 28, 39, 96, 98, 100, 110, 186, 201, 203, 204, 228, 229, 234, 309}

// resumed is restart_syscall, which goes on with a call that was interrupted. Which one is not known.
const resumed = 219

// Commands of fcntl(2) that wait for a lock: F_SETLKW and F_OFD_SETLKW.
var lockCommands = []uint64{7, 38}

// Of futex(2), linux/futex.h.
const (
	futexWait       = 0
	futexLockPI     = 6
	futexWaitBitset = 9
	futexWaitPI     = 11 // FUTEX_WAIT_REQUEUE_PI
	futexLockPI2    = 13
	futexPrivate    = 128
	futexCommand    = 0x7f // without the flags
)

// commandOf returns which command of futex a system call is.
func commandOf(call *inferior.SystemCall) uint64 { return argumentOf(call, 1) & futexCommand }

func argumentOf(call *inferior.SystemCall, i int) uint64 {
	if i < len(call.Arguments) {
		return call.Arguments[i]
	}
	return 0
}

// systemActivity returns what a thread does in a system call, and the call's name if it says where the thread
// waits; empty if the call does not tell.
func systemActivity(call *inferior.SystemCall) (a mqs.Activity, name string, isKnown bool) {
	if call == nil {
		return "", "", false
	}
	number := call.Number
	timed := func(is bool) (mqs.Activity, string, bool) {
		if is {
			return mqs.Sleeps, waitCalls[number], true
		}
		return mqs.Blocks, waitCalls[number], true
	}
	switch {
	case number < 0 || slices.Contains(promptCalls, number):
		return mqs.Computes, "", true
	case number == resumed:
		return "", "", true
	case slices.Contains(sleepingCalls, number):
		return mqs.Sleeps, "", true
	case number == sysFlock:
		return mqs.Locks, "flock", true
	case number == sysFcntl && slices.Contains(lockCommands, argumentOf(call, 1)):
		return mqs.Locks, "fcntl", true
	case number == sysFcntl:
		return mqs.Computes, "", true
	case fileCalls[number] != "":
		return mqs.UsesFile, fileCalls[number], true
	case transferCalls[number] != "" && isPath(call.File):
		return mqs.UsesFile, transferCalls[number], true
	case transferCalls[number] != "":
		return mqs.Blocks, transferCalls[number], true
	case peerCalls[number] != "":
		return mqs.Blocks, peerCalls[number], true
	case number == sysPoll: // milliseconds, a negative number for ever
		return timed(int32(argumentOf(call, 2)) >= 0)
	case number == sysEpollWait || number == sysEpollPwait:
		return timed(int32(argumentOf(call, 3)) >= 0)
	case number == sysSelect || number == sysPselect6: // a pointer, NULL for ever
		return timed(argumentOf(call, 4) != 0)
	case number == sysPpoll || number == sysTimedWait:
		return timed(argumentOf(call, 2) != 0)
	case number == sysFutex && !slices.Contains([]uint64{futexWait, futexLockPI, futexWaitBitset, futexWaitPI, futexLockPI2}, commandOf(call)):
		return mqs.Computes, "", true // it wakes others
	case number == sysFutex:
		return timed(argumentOf(call, 3) != 0)
	}
	if number == sysIoctl {
		return mqs.InKernel, "ioctl", true
	}
	return mqs.InKernel, fmt.Sprintf("system call %d", number), true
}

// isPath says whether the kernel's name of what a descriptor stands for is that of a file. Terminals and the
// like, whose bytes somebody has to type or to send, are none.
func isPath(file string) bool {
	const devices = "/dev/"
	return len(file) > 0 && file[0] == '/' && (len(file) < len(devices) || file[:len(devices)] != devices)
}
