//go:build matrix

package matrix

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
	"github.com/mpi-queues/mpi-queues/tests/internal/sample"
)

// With the distribution's MPICH, no job that ends by itself is called deadlocked either, and
// no job that stands still is said not to be.
func TestStockMPICHClaims(t *testing.T) {
	t.Parallel()
	w, err := work.With("claims", live.StockMPICH)
	if err != nil {
		t.Fatal(err)
	}
	for i := range expect.Claims {
		c := &expect.Claims[i]
		if !sample.ChosenIfShort(w.MPI.Release(t), i, 4) {
			continue
		}
		t.Run(c.Program+" "+c.Name, func(t *testing.T) {
			t.Parallel()
			w.Judge(t, c, live.Stops{Times: 4, Seed: 4, Cores: true})
		})
	}
	for _, way := range []string{"removed", "rebuilt"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			w.JudgeWithout(t, way == "rebuilt")
		})
	}
}
