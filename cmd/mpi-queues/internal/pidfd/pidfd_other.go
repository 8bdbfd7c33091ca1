//go:build !linux

// Package pidfd signals processes.
package pidfd

import "syscall"

// Process stands for a process by its number alone.
type Process struct{ pid int }

// Open returns the process that has a number now. [Process.Close] gives it back.
func Open(pid int) *Process { return &Process{pid} }

// Signal sends a signal to the process.
func (p *Process) Signal(signal syscall.Signal) { _ = syscall.Kill(p.pid, signal) }

// Close gives up the process.
func (p *Process) Close() {}
