//go:build 386 || amd64 || arm || ppc64le || s390x

package confine

import "golang.org/x/sys/unix"

// olderCalls are those for which newer architectures have only a more general one.
var olderCalls = []uintptr{
	unix.SYS_STAT, unix.SYS_LSTAT, unix.SYS_ACCESS, unix.SYS_READLINK, unix.SYS_GETDENTS,
	unix.SYS_POLL, unix.SYS_PAUSE, unix.SYS_PIPE, unix.SYS_EVENTFD, unix.SYS_EPOLL_CREATE, unix.SYS_EPOLL_WAIT,
}

var opening = []rule{
	{call: unix.SYS_OPENAT, checks: []check{{2, onlyBits, readFlags}}},
	{call: unix.SYS_OPEN, checks: []check{{1, onlyBits, readFlags}}},
}
