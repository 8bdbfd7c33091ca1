//go:build live

package gdb

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

const variables = "tests/gdb/testdata/variables.c"

// Handles in variables are shown as what they stand for, by all ways to see a process.
func TestHandles(t *testing.T) {
	t.Parallel()
	job := work.Start(t, variables, 2, nil)
	account := job.Accounts[1]
	const halo = `MPI_COMM "halo exchange" (rank 1 of 2)`
	for _, where := range job.Ways(account, filepath.Join(t.TempDir(), "core"), live.Remote(account.PID)) {
		t.Run(where.Name, func(t *testing.T) {
			out := work.GDB(t, where, "mpi-queues -output /dev/null", "frame function stand", "info locals", "bt", "print of_file", "print/r none == 0",
				"print $mpi_rank() + 10 * $mpi_size()", "print $mpi_comm_rank(exchange.comm) + 30", `print $mpi_comm("halo exchange") == comm`)
			out.Contains(t,
				"exchange = {width = 3, comm = "+halo+" = {handle = 0x", "none = MPI_COMM_NULL", "garbage = ", "(not valid)",
				"column = MPI_DATATYPE (vector 3 of 2 MPI_DOUBLE stride 100", "number = MPI_DOUBLE",
				"receive = MPI_REQUEST (irecv from 0, tag 4, 12 bytes", "requests = {MPI_REQUEST_NULL",
				"stand (comm="+halo+" = {...}, peer=0)", "$1 = "+halo, "$3 = 21\n", "$4 = 31\n", "$5 = 1\n")
			out.Lacks(t, "Traceback", "rror")
		})
	}
}

// The first print of a script shows what a later one does, also if the process was there before the extension.
func TestFirstPrint(t *testing.T) {
	t.Parallel()
	job := work.Start(t, variables, 2, nil)
	account := job.Accounts[1]
	const halo = `MPI_COMM "halo exchange" (rank 1 of 2)`
	for _, where := range job.Ways(account, filepath.Join(t.TempDir(), "core"), live.Remote(account.PID)) {
		t.Run(where.Name, func(t *testing.T) {
			where.Commands = append(slices.Clone(where.Commands), fmt.Sprintf("python import os; os.environ['MPI_QUEUES_HELPER'] = %q", work.Helper))
			work.GDB(t, where, "frame function stand", "print comm", "info locals").Contains(t, "$1 = "+halo, "exchange = {width = 3, comm = "+halo)
		})
	}
	// `set mpi-queues helper', which follows the extension here, has the same effect.
	work.GDB(t, live.Process(account.PID), "frame function stand", "print comm").Contains(t, "$1 = "+halo)
}

// mpi-handle and -comm take expressions, and mpi-comms has the communicators' handles.
func TestHandleCommands(t *testing.T) {
	t.Parallel()
	job := work.Start(t, variables, 2, nil)
	where := live.Process(job.Accounts[0].PID)
	const halo = "MPI_COMM \"halo exchange\" (rank 0 of 2)\n"
	for _, command := range []string{"mpi-handle comm", "mpi-handle exchange.comm", "mpi-handle old -type comm", `mpi-handle $mpi_comm("halo exchange")`} {
		work.GDB(t, where, "frame function stand", command).Contains(t, halo)
	}
	work.GDB(t, where, "frame function stand", "mpi-handle garbage").Contains(t, "(not valid)")
	work.GDB(t, where, "frame function stand", "mpi-queues -comm exchange.comm").Contains(t, "halo exchange (0x", "irecv")
	work.GDB(t, where, "frame function stand", "mpi-queues -comm of_nothing").Contains(t, `no communicator has the name or id "of_nothing"`)
	// Of a whole job, the communicator is that of the selected process: handles differ from rank to rank.
	// gdb 13.1 crashes at `frame function' with several inferiors.
	out := work.GDB(t, where, "mpi-attach", "python f = gdb.newest_frame()", `python exec("while f.name() != 'stand': f = f.older()")`,
		"python f.select()", "mpi-queues -all -comm exchange.comm")
	out.Contains(t, "Rank 0 of 2", "Rank 1 of 2", "halo exchange (0x")
	out.Lacks(t, "MPI_COMM_WORLD", "no communicator")
	work.GDB(t, where, "mpi-comms").Contains(t, "halo exchange", "Fortran")
	work.GDB(t, where, "mpi-windows").Contains(t, "no windows")
	work.GDB(t, where, "mpi-files").Contains(t, "no files")
}

// Without the setting, or without a helper, variables are printed as they are.
func TestNoPrinters(t *testing.T) {
	t.Parallel()
	job := work.Start(t, variables, 2, nil)
	where := live.Process(job.Accounts[0].PID)
	for _, command := range []string{"set mpi-queues pretty-printers off", "set mpi-queues helper /nowhere/helper"} {
		out := work.GDB(t, where, command, "frame function stand", "info locals")
		out.Contains(t, "exchange = {width = 3, comm = 0x")
		out.Lacks(t, "halo", "Traceback", "rror")
	}
}

// The first command of somebody who has attached can be print: gdb's prompt has started the helper.
func TestFirstCommand(t *testing.T) {
	t.Parallel()
	job := work.Start(t, variables, 2, nil)
	s := work.StartSession(t, live.Process(job.Accounts[0].PID))
	s.Do("frame function stand")
	s.Says("print comm", `MPI_COMM "halo exchange" (rank 0 of 2)`)
	s.Says("info locals", "number = MPI_DOUBLE")
}
