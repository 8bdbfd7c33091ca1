package main

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// minSpace is the address space that this program needs, in bytes. Go reserves most of it, and what it can't have ends the program
// with a page of stacks: seen with up to 1.6 GB.
const minSpace = 2 << 30

// checkSpace fails if this process may not have the address space that it needs.
func checkSpace() error {
	var own unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &own) == nil && own.Cur < minSpace {
		return fmt.Errorf("the limit of address space is %d KiB, and mpi-queues needs %d: raise it with `ulimit -v unlimited'",
			own.Cur>>10, minSpace>>10)
	}
	return nil
}
