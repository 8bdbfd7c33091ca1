//go:build 386 || amd64 || arm || ppc64le || s390x

package confine

import (
	"slices"

	"golang.org/x/sys/unix"
)

// olderCalls are those for which newer architectures have only the call with a
// folder's file descriptor.
var olderCalls = slices.Concat(writingOpen(unix.SYS_OPEN, 1), calls(
	unix.SYS_CREAT, unix.SYS_MKDIR, unix.SYS_MKNOD, unix.SYS_RMDIR, unix.SYS_UNLINK,
	unix.SYS_RENAME, unix.SYS_RENAMEAT, unix.SYS_LINK, unix.SYS_SYMLINK,
	unix.SYS_FORK, unix.SYS_VFORK,
	unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIMES, unix.SYS_FUTIMESAT,
), calls(ownCalls...))
