package confine

import (
	"runtime"
	"slices"

	"golang.org/x/sys/unix"
)

// rules are what a process with this id is refused. What needs a capability is
// not here: root's are dropped. What Go's runtime and the C library need for
// threads, memory and reading stays.
func rules(pid int) []rule {
	self := uint32(pid)
	out := slices.Concat(
		calls(network...), calls(processes...), calls(mounts...), calls(files...), calls(others...), olderCalls,
		writingOpen(unix.SYS_OPENAT, 2),
		[]rule{
			// Their flags are in memory, where a filter can't see them. ENOSYS makes
			// libraries use the older call.
			{call: unix.SYS_OPENAT2, errno: unix.ENOSYS},
			{call: unix.SYS_CLONE3, errno: unix.ENOSYS},
			{call: unix.SYS_CLONE, when: anyBit, arg: cloneFlags(), value: newNamespace, errno: unix.EPERM},
			// A process that is not a thread would outlive this one.
			{call: unix.SYS_CLONE, when: noBit, arg: cloneFlags(), value: unix.CLONE_THREAD, errno: unix.EPERM},

			// Signals to itself are the C library's abort() and the runtime's wake-ups.
			{call: unix.SYS_KILL, when: unequal, arg: 0, value: self, errno: unix.EPERM},
			{call: unix.SYS_TGKILL, when: unequal, arg: 0, value: self, errno: unix.EPERM},
			{call: unix.SYS_RT_SIGQUEUEINFO, when: unequal, arg: 0, value: self, errno: unix.EPERM},
			{call: unix.SYS_RT_TGSIGQUEUEINFO, when: unequal, arg: 0, value: self, errno: unix.EPERM},
			// A file can be told to send signals to anyone.
			{call: unix.SYS_FCNTL, when: equal, arg: 1, value: unix.F_SETOWN, errno: unix.EPERM},
			{call: unix.SYS_FCNTL, when: equal, arg: 1, value: unix.F_SETOWN_EX, errno: unix.EPERM},
			// The limits of other processes. 0 is the own one.
			{call: unix.SYS_PRLIMIT64, when: unequal, arg: 0, value: 0, errno: unix.EPERM},

			// Typing into the terminal that the user has gdb in.
			{call: unix.SYS_IOCTL, when: equal, arg: 1, value: unix.TIOCSTI, errno: unix.EPERM},
			{call: unix.SYS_IOCTL, when: equal, arg: 1, value: unix.TIOCLINUX, errno: unix.EPERM},
		})
	return out
}

// network is every way to a socket that was not inherited. io_uring does what
// it is asked without a system call.
var network = []uintptr{
	unix.SYS_SOCKET, unix.SYS_SOCKETPAIR, unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN, unix.SYS_ACCEPT4,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
}

// processes is every way into other processes, but for the signals of [rules].
var processes = []uintptr{
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE,
	unix.SYS_PROCESS_MRELEASE, unix.SYS_PIDFD_OPEN, unix.SYS_PIDFD_GETFD, unix.SYS_PIDFD_SEND_SIGNAL,
	unix.SYS_TKILL, unix.SYS_KCMP, unix.SYS_MOVE_PAGES, unix.SYS_MIGRATE_PAGES,
	// Memory, messages and semaphores that other processes of the user share.
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV,
	unix.SYS_MSGCTL, unix.SYS_SEMGET, unix.SYS_SEMCTL, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK,
}

// mounts is every way to another view of the files.
var mounts = []uintptr{
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_UNSHARE, unix.SYS_SETNS,
	unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_OPEN_TREE,
	unix.SYS_OPEN_TREE_ATTR, unix.SYS_MOVE_MOUNT, unix.SYS_MOUNT_SETATTR,
}

// files is every way to change a file that is not open. Kernels without landlock
// have only this, and landlock leaves owners, modes, times and attributes alone.
var files = []uintptr{
	unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_TRUNCATE, unix.SYS_FTRUNCATE, unix.SYS_FALLOCATE, unix.SYS_MEMFD_CREATE, unix.SYS_MKDIRAT, unix.SYS_MKNODAT, unix.SYS_UNLINKAT,
	unix.SYS_RENAMEAT2, unix.SYS_LINKAT, unix.SYS_SYMLINKAT,
	unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT,
	unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_SETXATTRAT,
	unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR, unix.SYS_REMOVEXATTRAT,
}

// others are parts of the kernel that a library for debuggers has no use for.
var others = []uintptr{
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_USERFAULTFD, unix.SYS_FANOTIFY_INIT,
}

// newNamespace are the flags of clone that give a process a world of its own,
// in which it has root's powers.
const newNamespace = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWPID |
	unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// cloneFlags is which argument of clone they are in.
func cloneFlags() int {
	if runtime.GOARCH == "s390x" {
		return 1
	}
	return 0
}

// writingOpen are the rules for a call that opens files.
func writingOpen(call uintptr, flags int) []rule {
	return []rule{{call: call, when: anyBit, arg: flags,
		value: unix.O_WRONLY | unix.O_RDWR | unix.O_CREAT | unix.O_TRUNC, errno: unix.EPERM}}
}
