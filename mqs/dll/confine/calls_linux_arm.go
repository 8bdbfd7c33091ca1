package confine

import "golang.org/x/sys/unix"

// ownCalls are those that not every architecture has.
var ownCalls = []uintptr{unix.SYS_TRUNCATE64, unix.SYS_CHOWN32, unix.SYS_FCHOWN32, unix.SYS_LCHOWN32, unix.SYS_UTIMENSAT_TIME64}
