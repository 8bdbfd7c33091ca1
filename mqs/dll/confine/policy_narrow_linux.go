//go:build 386 || arm

package confine

import "golang.org/x/sys/unix"

// narrowCalls are those of 32-bit architectures: for wider file offsets, user
// ids and times than the first calls had.
var narrowCalls = []uintptr{
	unix.SYS_FSTAT64, unix.SYS_STAT64, unix.SYS_LSTAT64, unix.SYS_FSTATAT64, unix.SYS_STATFS64, unix.SYS_FSTATFS64, unix.SYS__LLSEEK,
	unix.SYS_GETUID32, unix.SYS_GETEUID32, unix.SYS_GETGID32, unix.SYS_GETEGID32, unix.SYS_UGETRLIMIT,
	unix.SYS_CLOCK_GETTIME64, unix.SYS_CLOCK_GETRES_TIME64, unix.SYS_CLOCK_NANOSLEEP_TIME64, unix.SYS_FUTEX_TIME64,
	unix.SYS_PPOLL_TIME64, unix.SYS_PSELECT6_TIME64, unix.SYS_RT_SIGTIMEDWAIT_TIME64,
	unix.SYS__NEWSELECT, unix.SYS_SIGRETURN,
}

var (
	mapping  = maps(unix.SYS_MMAP2)
	ownRules = controls(unix.SYS_FCNTL64)
)
