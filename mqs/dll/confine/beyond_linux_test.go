package confine

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What the attempts are made on, by the names of environment variables.
const (
	victimVariable    = "CONFINE_TEST_VICTIM"    // a process of the same user
	semaphoreVariable = "CONFINE_TEST_SEMAPHORE" // a set of one semaphore
)

// call makes a system call. An error is a refusal only if it can be one: that
// the arguments make no sense says that the kernel has looked at them.
func call(number uintptr, args ...uintptr) error {
	var a [6]uintptr
	copy(a[:], args)
	_, _, errno := unix.Syscall6(number, a[0], a[1], a[2], a[3], a[4], a[5])
	switch errno {
	case unix.EPERM, unix.EACCES, unix.ENOSYS:
		return errno
	}
	return nil
}

// fileSetAttr is the call of Linux 6.17 that package unix does not have yet.
const fileSetAttr = 469

// beyond are ways to other processes, to what files are beside their contents,
// and to parts of the kernel that nobody needs for reading queues.
func beyond(dir string) map[string]func() error {
	number := func(variable string) uintptr {
		n, err := strconv.Atoi(os.Getenv(variable))
		if err != nil {
			panic(err)
		}
		return uintptr(n)
	}
	victim, semaphore := number(victimVariable), number(semaphoreVariable)
	// What the attempts point to is zeros again for each: what a call has left there
	// means something to another.
	var room [256]byte
	at := uintptr(unsafe.Pointer(&room))
	of := func(number uintptr, args ...uintptr) func() error {
		return func() error {
			clear(room[:])
			return call(number, args...)
		}
	}
	// onFile hands the call a file that is open for reading.
	onFile := func(do func(fd uintptr) error) func() error {
		return func() error {
			f, err := os.Open(filepath.Join(dir, "attribute"))
			if err != nil {
				return err
			}
			defer func() { _ = f.Close() }()
			return do(f.Fd())
		}
	}
	ioctl := func(fd, command uintptr) error { return of(unix.SYS_IOCTL, fd, command, at)() }
	const stream = 4 // a socket that was inherited
	out := map[string]func() error{
		// Time on the processor and the disk.
		"priority":       of(unix.SYS_SETPRIORITY, unix.PRIO_PROCESS, victim, 19),
		"own priority":   of(unix.SYS_SETPRIORITY, unix.PRIO_PROCESS, 0, 19),
		"scheduler":      of(unix.SYS_SCHED_SETSCHEDULER, victim, unix.SCHED_IDLE, at),
		"sched_setparam": of(unix.SYS_SCHED_SETPARAM, victim, at),
		"sched_setattr":  of(unix.SYS_SCHED_SETATTR, victim, at, 0),
		"affinity": func() error {
			var set unix.CPUSet
			if err := unix.SchedGetaffinity(int(victim), &set); err != nil {
				return err
			}
			return unix.SchedSetaffinity(int(victim), &set)
		},
		"io priority":  of(unix.SYS_IOPRIO_SET, 1, victim, 3<<13),
		"sync":         of(unix.SYS_SYNC),
		"lock memory":  of(unix.SYS_MLOCKALL, 0),
		"memory nodes": of(unix.SYS_MBIND, 0, 0, 0, at, 0, 0),

		// Signals through files, and locks that others wait for.
		"FIOSETOWN": func() error { return ioctl(stream, 0x8901) },
		"SIOCSPGRP": func() error { return ioctl(stream, 0x8902) },
		"F_SETSIG":  of(unix.SYS_FCNTL, stream, unix.F_SETSIG, uintptr(unix.SIGTERM)),
		"O_ASYNC":   of(unix.SYS_FCNTL, stream, unix.F_SETFL, unix.O_ASYNC),
		"lease": onFile(func(fd uintptr) error {
			return call(unix.SYS_FCNTL, fd, unix.F_SETLEASE, unix.F_RDLCK)
		}),
		"lock": onFile(func(fd uintptr) error { return call(unix.SYS_FLOCK, fd, unix.LOCK_EX|unix.LOCK_NB) }),
		"record lock": onFile(func(fd uintptr) error {
			lock := unix.Flock_t{Type: unix.F_RDLCK}
			return unix.FcntlFlock(fd, unix.F_SETLK, &lock)
		}),
		"inotify":        of(unix.SYS_INOTIFY_INIT1, 0),
		"timer":          of(unix.SYS_TIMER_CREATE, unix.CLOCK_MONOTONIC, 0, at),
		"queued signal":  of(unix.SYS_RT_SIGQUEUEINFO, victim, 0, at),
		"signal by file": of(unix.SYS_PIDFD_SEND_SIGNAL, ^uintptr(0), 0, 0, 0),

		// Memory, messages and semaphores of the user's other processes.
		"semop":             of(unix.SYS_SEMTIMEDOP, semaphore, at, 1, 0),
		"semget":            of(unix.SYS_SEMGET, unix.IPC_PRIVATE, 0, 0),
		"message queue":     of(unix.SYS_MSGRCV, ^uintptr(0), at, 1, 0, unix.IPC_NOWAIT),
		"posix queue":       of(unix.SYS_MQ_OPEN, at, 0, 0, 0),
		"memory of others":  of(unix.SYS_PROCESS_VM_READV, victim, at, 0, at, 0, 0),
		"advice for others": of(unix.SYS_PROCESS_MADVISE, ^uintptr(0), at, 0, 0, 0),
		"pidfd_open":        of(unix.SYS_PIDFD_OPEN, victim, 0),
		"pidfd_getfd":       of(unix.SYS_PIDFD_GETFD, ^uintptr(0), 0, 0),
		"kcmp":              of(unix.SYS_KCMP, victim, victim, 0, 0, 0),
		"move pages":        of(unix.SYS_MOVE_PAGES, victim, 0, 0, 0, 0, 0),

		// What a file is beside its contents, for which reading was enough.
		"FS_IOC_SETFLAGS": onFile(func(fd uintptr) error {
			return ioctl(fd, unix.FS_IOC_SETFLAGS)
		}),
		"FS_IOC_FSSETXATTR":    onFile(func(fd uintptr) error { return ioctl(fd, 0x401c5820) }),
		"FS_IOC_ENABLE_VERITY": onFile(func(fd uintptr) error { return ioctl(fd, unix.FS_IOC_ENABLE_VERITY) }),
		"file_setattr":         of(fileSetAttr, ^uintptr(0), at, at, 0, 0),
		"handles":              of(unix.SYS_NAME_TO_HANDLE_AT, ^uintptr(0), at, at, at, 0),
		"splice":               of(unix.SYS_SPLICE, ^uintptr(0), 0, ^uintptr(0), 0, 0, 0),

		// To outlive the helper, and to be somebody or something else.
		"session":         of(unix.SYS_SETSID),
		"process group":   of(unix.SYS_SETPGID, victim, 0),
		"parent's death":  func() error { return unix.Prctl(unix.PR_SET_PDEATHSIG, 0, 0, 0, 0) },
		"dumpable":        func() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0) },
		"over the stream": of(unix.SYS_DUP3, stream, 99, 0),
		"program":         of(unix.SYS_EXECVE, at, 0, 0),
		"program by file": of(unix.SYS_EXECVEAT, ^uintptr(0), at, 0, 0, 0),
		"another filter":  of(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, 0),
		"own limits":      of(unix.SYS_PRLIMIT64, 0, unix.RLIMIT_CORE, at, 0),
		"user":            of(unix.SYS_SETRESUID, ^uintptr(0), ^uintptr(0), ^uintptr(0)),
		"capabilities":    of(unix.SYS_CAPSET, at, at),
		"personality":     of(unix.SYS_PERSONALITY, 0xffffffff),
		"folder":          of(unix.SYS_CHDIR, at),

		// Memory that no limit holds for.
		"shared memory of its own": func() error {
			m, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANONYMOUS)
			if err != nil {
				return err
			}
			return unix.Munmap(m)
		},
		"memory file":   of(unix.SYS_MEMFD_CREATE, at, 0),
		"secret memory": of(unix.SYS_MEMFD_SECRET, 0),

		"descriptors by socket": of(unix.SYS_SENDMSG, ^uintptr(0), at, 0),
		"socket pair": func() error {
			pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
			if err == nil {
				_, _ = unix.Close(pair[0]), unix.Close(pair[1])
			}
			return err
		},
		"keys":      of(unix.SYS_KEYCTL, 0, ^uintptr(2), 0),
		"io_uring":  of(unix.SYS_IO_URING_SETUP, 0, at),
		"quota":     of(unix.SYS_QUOTACTL, 0, 0, 0, 0),
		"swap":      of(unix.SYS_SWAPON, at, 0),
		"fanotify":  of(unix.SYS_FANOTIFY_INIT, 0, 0),
		"landlock":  of(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION),
		"new mount": of(unix.SYS_FSOPEN, at, 0),
		"clock":     of(unix.SYS_CLOCK_ADJTIME, 0, at),
	}
	return out
}

// mayLack are attempts that not every machine allows without a confinement.
var mayLack = map[string]bool{
	"x32": true, "ptrace parent": true, "userfaultfd": true, "perf_event_open": true, "bpf": true, "unshare": true,
	"clone new user": true, "FS_IOC_SETFLAGS": true, "FS_IOC_FSSETXATTR": true, "FS_IOC_ENABLE_VERITY": true, "file_setattr": true,
	"handles": true, "memory nodes": true, "secret memory": true, "quota": true, "swap": true, "fanotify": true, "landlock": true,
	"new mount": true, "clock": true, "io_uring": true, "keys": true, "kcmp": true, "memory of others": true, "move pages": true,
	"advice for others": true, "scheduler": true, "sched_setparam": true, "sched_setattr": true, "lock memory": true, "capabilities": true,
	"signal by file": true, "queued signal": true, "pidfd_getfd": true, "pidfd_open": true,
}

// unlisted are the calls that no rule of [policy] is about, and what each gives.
// Nobody is to try that who is not confined.
func unlisted() map[int]string {
	listed := map[uintptr]bool{}
	if runtime.GOARCH == "amd64" {
		// uretprobe and uprobe: the kernel lets no filter see them, and kills who
		// calls them from elsewhere than its own page.
		listed[335], listed[336] = true, true
	}
	for _, r := range policy(unix.Getpid()) {
		listed[r.call] = true
	}
	out := map[int]string{}
	for n := uintptr(0); n < firstUnknown+100; n++ {
		if listed[n] {
			continue
		}
		_, _, errno := unix.RawSyscall6(n, 0, 0, 0, 0, 0, 0)
		out[int(n)] = words(errno)
	}
	return out
}
