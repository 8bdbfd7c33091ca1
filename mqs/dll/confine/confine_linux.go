package confine

import (
	"errors"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// memoryLimit bounds the private writable memory of a confined process, in bytes.
const memoryLimit = 8 << 30

// Exec restricts the calling thread and replaces the program by path, which
// starts with these restrictions and can't lose them. It is killed when who has
// started this process ends. The process keeps its id, its open files and the
// rights that those were opened with. What this
// kernel does not have is left out: ask [Status] in the new program.
//
// env is to have one value for each name: in a program of Go the first of two
// counts, not the last as with os/exec.
//
// Exec returns only if the program can't be started. The thread stays
// restricted then, so the caller is to end the process.
func Exec(path string, argv, env []string) error {
	// Never unlocked: nothing else may run on a thread that can do so little.
	runtime.LockOSThread()
	for _, step := range []func() error{endWithParent, noNewPrivileges, dropCapabilities, limitMemory, landlock, filter} {
		// One protection less is no reason to do without the others.
		_ = step()
	}
	return syscall.Exec(path, argv, env)
}

// endWithParent has the kernel kill the process when its parent ends. The signal
// is a thread's own: the first one has it from the process's start, and the one
// that replaces the program may be another (prctl(2), PR_SET_PDEATHSIG).
func endWithParent() error {
	return unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0)
}

// noNewPrivileges makes set-user-id programs ordinary ones. Without it the
// kernel takes landlock and filters from root alone.
func noNewPrivileges() error { return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }

// dropCapabilities leaves root's processes the right to read and no other:
// exec gives root what the bounding set holds. It fails, as it should, for other
// users: exec leaves them the ambient capabilities, which are cleared.
func dropCapabilities() error {
	failed := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	// The last one that this kernel knows is followed by EINVAL.
	for c := uintptr(0); c < 64; c++ {
		if c == unix.CAP_DAC_READ_SEARCH || c == unix.CAP_SETPCAP {
			continue
		}
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil && err != unix.EINVAL {
			return err
		}
	}
	// The one that the calls above need goes last.
	return errors.Join(failed, unix.Prctl(unix.PR_CAPBSET_DROP, unix.CAP_SETPCAP, 0, 0, 0))
}

// limitMemory keeps a library that allocates without end from taking the node
// down, and its crash from leaving a core file of the debugger's.
func limitMemory() error {
	limits := map[int]uint64{unix.RLIMIT_CORE: 0, unix.RLIMIT_DATA: memoryLimit}
	if raceDetector {
		// Its shadow of the address space counts as data.
		delete(limits, unix.RLIMIT_DATA)
	}
	var failed error
	for which, most := range limits {
		var l unix.Rlimit
		if err := unix.Getrlimit(which, &l); err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		l.Cur, l.Max = min(l.Cur, most), min(l.Max, most)
		failed = errors.Join(failed, unix.Setrlimit(which, &l))
	}
	return failed
}

// landlockVersion is the version of the kernel's landlock, 0 if it has none or
// was started without it.
func landlockVersion() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
}

// landlock forbids all changes of files, TCP, and signals and abstract sockets
// to the outside, as far as this kernel's version of it can. Files that are
// open are not touched by it.
func landlock() error {
	version := landlockVersion()
	if version == 0 {
		return unix.ENOSYS
	}
	// What is handled and has no rule that allows it is forbidden.
	forbidden := unix.LandlockRulesetAttr{
		Access_fs: unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
			unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
			unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_DIR |
			unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
			unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK |
			unix.LANDLOCK_ACCESS_FS_MAKE_SYM,
	}
	if version >= 2 {
		forbidden.Access_fs |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if version >= 3 {
		forbidden.Access_fs |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if version >= 4 {
		forbidden.Access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if version >= 5 {
		forbidden.Access_fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if version >= 6 {
		forbidden.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	// An older kernel takes the longer structure if what it doesn't know is zero.
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET,
		uintptr(unsafe.Pointer(&forbidden)), unsafe.Sizeof(forbidden), 0)
	if errno != 0 {
		return errno
	}
	defer func() { _ = unix.Close(int(fd)) }()
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// Status says what this process can't do. It is found out by trying, with
// attempts that do no harm if they succeed.
func Status() Confinement {
	privileges, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
	c := Confinement{
		NoWriting:       readOnly("/dev/null") && readOnly("/proc/self/comm"),
		NoNetwork:       !socket(unix.AF_UNIX) && !socket(unix.AF_INET) && !socket(unix.AF_INET6),
		NoNewPrivileges: err == nil && privileges == 1,
		NoPrograms:      !programs(),
	}
	if c.Complete() {
		return c
	}
	switch hasLandlock, hasFilters := landlockVersion() > 0, hasFilters(); {
	case c.NoWriting && c.NoNetwork && c.NoNewPrivileges:
		c.Why = "the kernel filters one thread at a time" // [Seal] needs one that filters all at once
	case hasLandlock && hasFilters:
		c.Why = "the restrictions were not applied"
	case hasFilters:
		c.Why = "the kernel has no landlock"
	case hasLandlock:
		c.Why = "the kernel has no seccomp filters"
	default:
		c.Why = "the kernel has neither landlock nor seccomp filters"
	}
	return c
}

// readOnly is true if a file can be read but not written, for want of a right.
// It is asked of two files that everybody and every process may write.
func readOnly(path string) bool {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	_ = unix.Close(fd)
	fd, err = unix.Open(path, unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err == nil {
		_ = unix.Close(fd)
	}
	return err == unix.EACCES || err == unix.EPERM
}

// programs is true if a program can be started: one without a name is missing.
func programs() bool {
	var none [1]byte
	_, _, errno := unix.Syscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(&none)), 0, 0)
	return errno != unix.EACCES && errno != unix.EPERM
}

// socket is true if a socket can be opened, or could be if the kernel had the
// family: that a family is missing is no restriction.
func socket(family int) bool {
	fd, err := unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		_ = unix.Close(fd)
	}
	return err != unix.EACCES && err != unix.EPERM
}
