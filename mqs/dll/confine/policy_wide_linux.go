//go:build amd64 || arm64 || loong64 || ppc64le || riscv64

package confine

import "golang.org/x/sys/unix"

var (
	mapping  = maps(unix.SYS_MMAP)
	ownRules []rule
)
