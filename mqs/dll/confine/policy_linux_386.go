package confine

import (
	"slices"

	"golang.org/x/sys/unix"
)

// ownCalls are those that not every architecture has.
var ownCalls = slices.Concat(narrowCalls, []uintptr{
	unix.SYS_FADVISE64, unix.SYS_FADVISE64_64, unix.SYS_GETRLIMIT, unix.SYS_TIME, unix.SYS_SET_THREAD_AREA, unix.SYS_ARCH_PRCTL,
})
