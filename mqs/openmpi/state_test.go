package openmpi

import (
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
)

func TestStates(t *testing.T) {
	tg := inferiortest.Recorded(t, "openmpi-5.0.7/queues-rank-0")
	s, err := start(t, tg)
	if err != nil {
		t.Fatal(err)
	}
	state, sessions := s.process.Symbols[symState].Addr, s.process.Symbols[symInstances].Addr
	for _, c := range []struct {
		state, sessions uint64
		want            string
	}{
		{0, 0, "has not called MPI_Init"},
		{1, 0, "is inside MPI_Init"},
		{2, 0, ""},
		{3, 0, ""},
		{5, 0, "has called MPI_Finalize"},
		{0, 1, ""},
		{5, 1, ""},
	} {
		_, err := start(t, inferiortest.Patch(tg).PutUint64(state, c.state).PutUint64(sessions, c.sessions))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("state %d, %d sessions: %v", c.state, c.sessions, err)
		}
	}
}
