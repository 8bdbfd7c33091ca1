package main

import "syscall"

// ownSession keeps a child away from the terminal, whose Ctrl-C is not for it,
// and ends it when this program is killed.
func ownSession() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGTERM}
}
