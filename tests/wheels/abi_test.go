//go:build matrix

package wheels

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// leftToUCX are mpirun's flags with which ranks of one machine leave their messages to UCX.
var leftToUCX = []string{"-genv", "MPIR_CVAR_NOLOCAL", "1"}

// Of a program that is linked with the library for MPI 5.0's ABI, calls and receives are shown with what the program has
// asked for.
func TestABI(t *testing.T) {
	t.Parallel()
	w := wheel(t, "mpich-5.0.2", mpich())
	w.MPI.Compiler += "_abi"
	for _, c := range []struct {
		mode, call string
		receives   bool
	}{
		{"recv", "MPI_Recv on MPI_COMM_WORLD", true}, {"barrier", "MPI_Barrier", false},
	} {
		t.Run(c.mode, func(t *testing.T) {
			t.Parallel()
			job := w.Start(t, "blocked", 2, leftToUCX, c.mode)
			pid := job.Accounts[1].PID
			live.Until(t, "for the call that is expected", func() bool {
				return strings.Contains(string(w.Shell(t, "dump", fmt.Sprint(pid))), "In "+c.call)
			})
			document, err := expect.ParseDocument(w.Shell(t, "dump", "--json", fmt.Sprint(pid)))
			if err != nil || len(document.Processes) != 1 {
				t.Fatalf("%v: %v", err, document)
			}
			process := document.Processes[0]
			if notes := fmt.Sprint(process["notes"]); process["mpi"] != "MPICH" || !strings.Contains(notes, "libmpi_abi.so") {
				t.Errorf("it is %v, with the notes %s", process["mpi"], notes)
			}
			if !c.receives {
				return
			}
			comms := expect.Communicators(process)
			if len(comms) == 0 || comms[0]["name"] != "MPI_COMM_WORLD" {
				t.Fatalf("its communicators are %v", comms)
			}
			receives := fmt.Sprint(comms[0]["pending_receives"])
			for _, part := range []string{"desired_local_rank:0", "desired_tag:7", "desired_length:800"} {
				if !strings.Contains(receives, part) {
					t.Errorf("the receives are %s, without %s", receives, part)
				}
			}
		})
	}
}
