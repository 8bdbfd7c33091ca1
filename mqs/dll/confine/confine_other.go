//go:build !linux

package confine

import "syscall"

// Exec replaces the program by another. Only Linux can confine it.
func Exec(path string, argv, env []string) error { return syscall.Exec(path, argv, env) }

// Seal has nothing to take away.
func Seal() error { return nil }

// Status says what this process can't do.
func Status() Confinement { return Confinement{Why: "only Linux has the means"} }
