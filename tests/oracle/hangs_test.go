//go:build live || matrix || full

package oracle

import (
	"sync"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
)

// TestHangs counts how many of the real hangs the reports explain on the install being measured.
func TestHangs(t *testing.T) {
	if *install == "" {
		t.Skip("no install is measured")
	}
	b := builds(t)[0]
	b.mpi.Launcher = append(b.mpi.Launcher, b.flags...)
	w, err := work.With("hangs", b.mpi)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	score := Score{}
	count := func(kind Kind) {
		mu.Lock()
		defer mu.Unlock()
		score[kind]++
	}
	t.Run("all", func(t *testing.T) {
		for i := range expect.RealHangs {
			h := &expect.RealHangs[i]
			of := h.Of(b.mpi.Kind.MPI)
			switch {
			case of.IsAbsent:
				continue
			case !of.IsTold():
				count(Unknown)
				continue
			}
			t.Run(h.Name, func(t *testing.T) {
				t.Parallel()
				if said, isTold := w.IsTold(t, h.Program, h.Mode, h.Ranks, of.Words); isTold {
					count(Right)
				} else {
					count(Unknown)
					t.Logf("not told: %q is not in\n%s", of.Words, said)
				}
			})
		}
	})
	t.Logf("%s, hangs: %d told, %d not told", b.name, score[Right], score[Unknown])
	b.write(t, Result{Reader: "native", Way: "hangs", Seeds: score[Right] + score[Unknown], Score: score})
}
