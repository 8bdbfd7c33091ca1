package pyframes

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
)

// A process without a CPython has no threads of one.
func TestThreadsOfNone(t *testing.T) {
	found, err := Threads(inferior.NewReader(t.Context(), inferiortest.New()))
	if found != nil || err != nil {
		t.Errorf("%v, %v", found, err)
	}
}
