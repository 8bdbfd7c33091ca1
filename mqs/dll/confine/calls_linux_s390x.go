package confine

import "golang.org/x/sys/unix"

// ownCalls are those that not every architecture has.
var ownCalls = []uintptr{unix.SYS_SOCKETCALL, unix.SYS_IPC, unix.SYS_UTIME}
