//go:build live || matrix || full

package live

import (
	"strconv"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/sample"
)

// hangs is the fraction of the real hangs that a run tries: one of so many.
const hangs = 7

// RealHangs fails the test unless the report on each real hang of the run's sample contains the words that it has to.
func (w *Workspace) RealHangs(t *testing.T) {
	t.Helper()
	for i := range expect.RealHangs {
		h := &expect.RealHangs[i]
		of := h.Of(w.MPI.Kind.MPI)
		if of.IsAbsent || !sample.Chosen(t.Name(), i, hangs) {
			continue
		}
		t.Run(h.Name, func(t *testing.T) {
			t.Parallel()
			w.Tells(t, h.Program, h.Mode, h.Ranks, of.Words)
		})
	}
}

// Tells fails the test unless the report on a mode of a program that hangs has these words.
func (w *Workspace) Tells(t *testing.T, program, mode string, ranks int, words []string) {
	t.Helper()
	if said, isTold := w.IsTold(t, program, mode, ranks, words); !isTold {
		t.Errorf("the verdict is that there is no deadlock, or the report does not have %q:\n%s", words, said)
	}
}

// IsTold reports whether the report on a mode of a program that hangs comes to have these words, and what the last one said.
func (w *Workspace) IsTold(t *testing.T, program, mode string, ranks int, words []string) (said string, isTold bool) {
	t.Helper()
	sample.LogSeed(t)
	job := w.Start(t, program, ranks, nil, mode)
	t.Cleanup(job.kill)
	// Ranks have yet to come to where they hang.
	Soon(func() bool {
		out, all, err := w.Try(t, "report", strconv.Itoa(job.launcher.Process.Pid))
		said = all
		isTold = err == nil && !strings.HasPrefix(string(out), "No deadlock") && containsAll(string(out), words)
		return isTold || job.hasEnded()
	})
	return said, isTold && !job.hasEnded()
}
