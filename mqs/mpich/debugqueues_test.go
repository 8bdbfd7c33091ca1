package mpich

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/target"
)

// The debugger's note of a send that is over says nothing of the one that has its place.
func TestForeignNote(t *testing.T) {
	for _, name := range []string{"mpich-4.0.2-ch3-debug/queues-rank-0", "mpich-4.0.2-ch4-debug/queues-rank-0"} {
		tg := recorded(t, name)
		s := mustStart(t, tg)
		noted := func(s *source) (at []target.Addr) {
			for _, r := range s.allRequests().sends {
				if r.noted != nil {
					at = append(at, r.at)
				}
			}
			return at
		}
		all := noted(s)
		if len(all) < 2 {
			t.Fatalf("%s: %d sends are noted", name, len(all))
		}
		note := all[0] + offset(t, s, "MPIR_Request", "u.send.dbg_next")
		again := noted(mustStart(t, &patched{Target: tg, words: map[target.Addr]uint32{note: 0, note + 4: 0}}))
		if len(again) != len(all)-1 || again[0] == all[0] {
			t.Errorf("%s: noted are %v, want all of %v but the first", name, again, all)
		}
	}
}
