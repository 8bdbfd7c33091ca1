package confine

import "golang.org/x/sys/unix"

// ownCalls are those that not every architecture has.
var ownCalls = []uintptr{
	unix.SYS_NEWFSTATAT, unix.SYS_FADVISE64, unix.SYS_GETRLIMIT, unix.SYS_SELECT, unix.SYS_STATFS64, unix.SYS_FSTATFS64, unix.SYS_SIGRETURN,
}

var (
	// Its arguments are in memory, where a filter can't see them.
	mapping  = allow(unix.SYS_MMAP)
	ownRules []rule
)
