//go:build !linux

package main

import "syscall"

// ownSession keeps a child away from the terminal, whose Ctrl-C is not for it.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
