//go:build !linux

package main

import "syscall"

// ownSession keeps a child away from the terminal, whose Ctrl-C is not for it.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// processHandle stands for a process by its number alone.
type processHandle struct{ pid int }

func openProcess(pid int) processHandle { return processHandle{pid} }

// resume has a stopped process run on.
func (h processHandle) resume() { _ = syscall.Kill(h.pid, syscall.SIGCONT) }

func (h processHandle) close() {}
