// Package child starts child processes out of the terminal's reach.
package child

import (
	"syscall"
)

// Detached keeps a child away from the terminal, whose Ctrl-C is not for it.
func Detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// OwnSession keeps a child away from the terminal, whose Ctrl-C is not for it,
// and ends it when this program is killed.
func OwnSession() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGTERM}
}
