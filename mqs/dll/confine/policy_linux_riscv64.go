package confine

import "golang.org/x/sys/unix"

// ownCalls are those that not every architecture has.
var ownCalls = []uintptr{unix.SYS_NEWFSTATAT, unix.SYS_FADVISE64, unix.SYS_GETRLIMIT, unix.SYS_RISCV_HWPROBE, unix.SYS_RISCV_FLUSH_ICACHE}
