//go:build !linux

package child

import (
	"syscall"
)

// Detached keeps a child away from the terminal, whose Ctrl-C is not for it.
func Detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// OwnSession keeps a child away from the terminal, whose Ctrl-C is not for it.
func OwnSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
