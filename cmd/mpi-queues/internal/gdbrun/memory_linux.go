package gdbrun

import "golang.org/x/sys/unix"

// maxData is how much memory of its own a gdb may have, in bytes, so that a process whose files claim more than they have does not
// take all of a node's, on which the job's other ranks run. Of a program's debug information gdb has some tenth as an index
// there, and what it has read of those functions that are on stacks: with ten gigabytes of it that is a few. Files that gdb
// maps do not count, nor does address space that is only reserved, as by cuda-gdb's driver: RLIMIT_AS would count both.
const maxData = 8 << 30

// setLimit bounds the memory of a gdb. One that is another user's, as by sudo, has that user's limits.
func setLimit(pid int) {
	var own unix.Rlimit
	if unix.Prlimit(pid, unix.RLIMIT_DATA, nil, &own) == nil && own.Max > maxData {
		_ = unix.Prlimit(pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: min(own.Cur, maxData), Max: own.Max}, nil)
	}
}
