//go:build !386 && !amd64 && !arm && !ppc64le && !s390x

package confine

import "golang.org/x/sys/unix"

// olderCalls are those for which this architecture has only a more general one.
var olderCalls []uintptr

var opening = []rule{{call: unix.SYS_OPENAT, checks: []check{{2, onlyBits, readFlags}}}}
