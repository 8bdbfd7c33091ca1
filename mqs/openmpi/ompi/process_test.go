package ompi

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
)

// Where it is not said whether threads may call MPI, several calls are enough, and so is that they can't be told.
func TestHasMarks(t *testing.T) {
	const flag = inferior.Addr(0x5000)
	one, two := inferiortest.Thread(1, "PMPI_Recv < main"), inferiortest.Thread(2, "PMPI_Recv < main")
	for name, c := range map[string]struct {
		flag    byte
		isSaid  bool
		threads []inferior.Thread
		want    bool
	}{
		"it is said":                      {1, true, []inferior.Thread{one}, true},
		"it is denied":                    {0, true, []inferior.Thread{one, two}, false},
		"not said, one call":              {0, false, []inferior.Thread{one}, false},
		"not said, two calls":             {0, false, []inferior.Thread{one, two}, true},
		"not said, calls are not known":   {0, false, []inferior.Thread{{Number: 1, Frames: one.Frames[:1]}}, true},
		"not said, a thread in no call":   {0, false, []inferior.Thread{one, inferiortest.Thread(2, "work: < main")}, false},
		"not said, and nobody is in one":  {0, false, nil, false},
		"it is said, and no call is made": {1, true, nil, true},
	} {
		of := inferiortest.New()
		of.Memory[flag] = []byte{c.flag}
		of.Stacks = c.threads
		p := &Process{R: inferior.NewReader(t.Context(), of), Symbols: map[string]inferior.Symbol{}}
		if c.isSaid {
			p.Symbols[SymMultiple] = inferior.Symbol{Addr: flag}
		}
		if got := p.HasMarks(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
