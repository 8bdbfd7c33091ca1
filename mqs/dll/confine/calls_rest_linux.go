//go:build !386 && !amd64 && !arm && !arm64 && !ppc64le && !s390x

package confine

// ownCalls are those that not every architecture has.
var ownCalls []uintptr
