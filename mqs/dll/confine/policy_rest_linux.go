//go:build !386 && !amd64 && !arm && !arm64 && !loong64 && !ppc64le && !riscv64 && !s390x

package confine

// Libraries can't be loaded here: see [architectures].
var (
	ownCalls          []uintptr
	mapping, ownRules []rule
)
