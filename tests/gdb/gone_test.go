//go:build live

package gdb

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// A job whose program has been removed meanwhile, as by building it anew, is read as any
// other: the kernel still has the program.
func TestProgramGoneIsRead(t *testing.T) {
	t.Parallel()
	own, err := work.With(t.Name(), work.MPI)
	if err != nil {
		t.Fatal(err)
	}
	job := own.StartMode(t, expect.Find("deadlock", "recv-ring"))
	if err := os.Remove(job.Program); err != nil {
		t.Fatal(err)
	}
	job.Settle(t)
	pid := job.Accounts[0].PID
	texts := []string{"In MPI_Recv on MPI_COMM_WORLD, called by", "deadlock.c:", "Pending receives", "process " + strconv.Itoa(pid) + ", deadlock:"}
	out := live.Output{Stdout: string(own.Shell(t, "dump", strconv.Itoa(pid)))}
	out.Contains(t, texts...)
	out = own.GDB(t, live.Nothing(), fmt.Sprintf("mpi-attach %d", pid), "mpi-queues -all", "mpi-detach")
	out.Contains(t, texts...)

	// Some releases of gdb do not ask the kernel by themselves.
	attach := fmt.Sprintf("mpi-attach %d", pid)
	if out = own.GDB(t, live.Process(pid), "mpi-queues"); strings.Contains(out.All(), "called by") {
		out.Contains(t, texts...)
	} else {
		out.Contains(t, fmt.Sprintf("gdb has no program for process %d", pid), "`detach', `"+attach+"', and try again")
	}
	own.GDB(t, live.Process(pid), "detach", attach, "mpi-queues").Contains(t, texts...)
}
