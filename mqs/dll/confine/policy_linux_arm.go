package confine

import (
	"slices"

	"golang.org/x/sys/unix"
)

// Calls of this architecture that package unix lacks: <asm/unistd.h>.
const (
	armCacheFlush = 0x0f0002
	armSetTLS     = 0x0f0005
)

// ownCalls are those that not every architecture has.
var ownCalls = slices.Concat(narrowCalls, []uintptr{unix.SYS_ARM_FADVISE64_64, armCacheFlush, armSetTLS})
