package openmpi

import (
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
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

// A program has queues between MPI_Init and the end of MPI_Finalize, and as long as it has sessions.
func TestState(t *testing.T) {
	const state, instances = 0x1000, 0x2000
	const started, starting, finished = "has not called MPI_Init", "is inside MPI_Init", "has called MPI_Finalize"
	for name, c := range map[string]struct {
		state, instances int32 // instances below 0 where there is no such symbol, -2 where it can't be read
		want             string
		isFinalizing     bool
	}{
		"before MPI_Init":                       {0, -1, started, false},
		"in MPI_Init":                           {1, -1, starting, false},
		"after it":                              {2, -1, "", false},
		"in MPI_Finalize":                       {3, -1, "", true},
		"at its end":                            {4, -1, "", true},
		"after MPI_Finalize":                    {5, -1, finished, false},
		"longer after it":                       {6, -1, finished, false},
		"with a session, before MPI_Init":       {0, 1, "", false},
		"with a session, in MPI_Init":           {1, 1, starting, false},
		"with a session, after MPI_Finalize":    {5, 1, "", false},
		"with no session, before MPI_Init":      {0, 0, started, false},
		"with sessions that can't be read":      {0, -2, started, false},
		"with no session, after MPI_Finalize":   {5, 0, finished, false},
		"with two sessions, after MPI_Finalize": {5, 2, "", false},
	} {
		p := inferiortest.New()
		p.PutUint32(state, uint32(c.state))
		p.Symbols[symState] = &inferior.Symbol{Addr: state}
		switch {
		case c.instances >= 0:
			p.PutUint32(instances, uint32(c.instances))
			p.Symbols[symInstances] = &inferior.Symbol{Addr: instances}
		case c.instances == -2:
			p.Symbols[symInstances] = &inferior.Symbol{Addr: 0x9000}
		}
		r := inferior.NewReader(t.Context(), p)
		err := checkState(r, p.Found())
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if got := isFinalizing(r, p.Found()); got != c.isFinalizing {
			t.Errorf("%s: it is in MPI_Finalize: %t", name, got)
		}
	}
	unreadable := map[string]inferior.Symbol{symState: {Addr: 0x9000}}
	r := inferior.NewReader(t.Context(), inferiortest.New())
	if err := checkState(r, unreadable); err == nil || !strings.Contains(err.Error(), symState) || isFinalizing(r, unreadable) {
		t.Errorf("of a state that can't be read: %v", err)
	}
	if err := checkState(r, nil); err != nil || isFinalizing(r, nil) {
		t.Errorf("without the symbol: %v", err)
	}
}
