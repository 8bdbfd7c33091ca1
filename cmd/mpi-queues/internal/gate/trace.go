//go:build linux

package gate

import "golang.org/x/sys/unix"

// LetTrace lets a process, and what it has started, trace this one where Yama would let nobody but
// its ancestors (ptrace_scope 1); 0 is any process of the user's. Other kernels need no word.
func LetTrace(debugger int) {
	tracer := uintptr(debugger)
	if debugger == 0 {
		tracer = unix.PR_SET_PTRACER_ANY
	}
	_ = unix.Prctl(unix.PR_SET_PTRACER, tracer, 0, 0, 0)
}

// LetAnyTrace lets any process of the user's trace this one.
func LetAnyTrace() { LetTrace(0) }
