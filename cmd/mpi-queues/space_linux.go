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
		return fmt.Errorf("too little memory is allowed: mpi-queues needs %d KiB of address space, and the limit is %d; raise it with `ulimit -v'",
			minSpace>>10, own.Cur>>10)
	}
	return nil
}
