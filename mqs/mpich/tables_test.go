package mpich

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
)

// Every embedded table of a whole library has every member that the decoder needs.
func TestTablesAreWhole(t *testing.T) {
	if len(tables()) < 1 {
		t.Fatal("no tables")
	}
	for _, table := range tables() {
		library, _, err := bind(inferior.NewReader(t.Context(), inferiortest.New()), map[string]inferior.Symbol{"MPIDI_global": {}, "BsendBuffer": {}}, table.Layouts(inferior.Queries(types()...)))
		if err != nil {
			t.Errorf("%s: %v", table.Release, err)
		} else if !library.HasGroups() && !library.TellsBuffered(&mpir.Communicator{}) {
			t.Errorf("%s lacks types", table.Release)
		}
	}
}
