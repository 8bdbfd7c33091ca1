//go:build !386 && !amd64 && !arm && !ppc64le && !s390x

package confine

// olderCalls are those that only this architecture has.
var olderCalls = calls(ownCalls...)
