package gdbrun

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// maxData bounds the private memory of a gdb, in bytes. Otherwise a process whose files have bogus headers could make gdb use up
// the memory of the node, on which the job's other ranks run. gdb needs about a tenth of the size of the debug information for
// its index, and more for the functions on the stacks: a few gigabytes for ten gigabytes of debug information. RLIMIT_DATA counts
// neither the files that gdb maps nor address space that is only reserved, as by cuda-gdb's driver; RLIMIT_AS would count both.
const maxData = 8 << 30

// setLimit bounds the memory of a gdb, and raises its soft limit of open files to the hard limit. A gdb that runs as another user, under sudo for
// example, keeps that user's limits.
func setLimit(pid int) {
	var own unix.Rlimit
	if unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &own) == nil {
		_ = unix.Prlimit(pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: own.Max, Max: own.Max}, nil)
	}
	if unix.Prlimit(pid, unix.RLIMIT_DATA, nil, &own) == nil && own.Max > maxData {
		_ = unix.Prlimit(pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: min(own.Cur, maxData), Max: own.Max}, nil)
	}
}

// checkFiles fails if a gdb that attaches to so many processes at once may not open the files that it needs. Without enough of
// them gdb 13.1 shows processes without their libraries, which then seem not to use MPI.
func checkFiles(processes int) error {
	needs := 40 + 2*uint64(processes) // seen: 30 for two processes
	var own unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &own) == nil && own.Max < needs {
		return &UselessError{fmt.Errorf("gdb needs %d open files for %d processes, and the hard limit is %d: have it raised (`ulimit -Hn'), or read fewer ranks at once",
			needs, processes, own.Max)}
	}
	return nil
}
