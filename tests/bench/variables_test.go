//go:build bench

package bench

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// How long `info locals' may take with printers, in a frame with some sixty handles of every kind.
const variablesTarget = 100 // ms

// TestVariables measures what the pretty-printers add to `info locals' at each stop.
func TestVariables(t *testing.T) {
	k := prepare(t)
	program := filepath.Join(k.dir, "handles")
	build(t, filepath.Join(k.root, "tests", "programs"), "mpicc.openmpi", "-O0", "-g", "-w", "-o", program,
		"handles.c", "handles_account.c", "expect.c", "expect_json.c")
	_, pids := job(t, program, 4, 0)
	s := newSession(t, k.helper)
	s.do(fmt.Sprintf("attach %d", pids[0]))
	s.do("source " + filepath.Join(k.root, "gdbinit"))
	s.do("frame function main")
	s.do(textCommand) // the helper runs
	locals := func(printers string) time.Duration {
		s.do("set mpi-queues pretty-printers " + printers)
		s.do("python import mpi_queues.handle_texts; mpi_queues.handle_texts.TEXTS.forget()") // as the next stop does
		out, took := s.do("info locals")
		if shown := strings.Contains(out, `halo = MPI_COMM "halo exchange" (rank 0 of 4)`); shown != (printers == "on") {
			t.Fatalf("with printers %s, `info locals' shows\n%s\n%s", printers, tail([]byte(out)), s.stderr())
		}
		return took
	}
	var with, without []time.Duration
	for range rounds * repeats {
		with, without = append(with, locals("on")), append(without, locals("off"))
	}
	fmt.Printf("| `info locals` with sixty handles | %.3f s |\n| the same without printers | %.3f s |\n",
		median(with).Seconds(), median(without).Seconds())
	target("ms for `info locals` with sixty handles", milliseconds(with), atMost(variablesTarget, " ms"), "round trips between two processes")
}
