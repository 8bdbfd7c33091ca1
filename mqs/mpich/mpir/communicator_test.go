package mpir_test

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpichtest"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
)

// A communicator that is gone is not shown, whichever way they are found.
func TestFreedCommunicator(t *testing.T) {
	for _, name := range []string{"mpich-4.0.2-ch3/queues-rank-0", "mpich-4.0.2-ch3-debug/queues-rank-0"} {
		tg := inferiortest.Recorded(t, name)
		gone := mpichtest.Queues(t, mpichtest.Collect(t, tg), "wild").UniqueID
		at := gone + mpichtest.Offset(t, tg, "MPIR_Comm", "ref_count")
		for _, c := range mpichtest.Collect(t, inferiortest.Patch(tg).PutUint32(at, 0)).Communicators {
			if c.UniqueID == gone {
				t.Errorf("%s: %s is still shown", name, c.Label())
			}
		}
	}
}

// Communicators are listed alike each time, those too of which a network library has messages after they were
// freed.
func TestCommunicatorsTwice(t *testing.T) {
	s, err := mpichtest.Open(inferiortest.Recorded(t, "mpich-4.0.2-ch4-ucx-static/requests-rank-0"))
	if err != nil {
		t.Fatal(err)
	}
	var lists [2][]string
	for i := range lists {
		for c, err := range s.Communicators() {
			if err != nil {
				t.Fatal(err)
			}
			lists[i] = append(lists[i], c.Label())
		}
	}
	if len(lists[0]) != len(lists[1]) || lists[0][len(lists[0])-1] != "communicator 0x1b0" {
		t.Errorf("%q, and then %q", lists[0], lists[1])
	}
}

func TestContextName(t *testing.T) {
	for want, c := range map[string]mpir.Comm{
		"16":   {Context: 16, RecvContext: 16},
		"8/24": {Context: 24, RecvContext: 8, Kind: mpir.CommInter},
	} {
		if got := c.ContextName(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
