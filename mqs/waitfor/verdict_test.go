package waitfor

import (
	"fmt"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// Of many reasons some are told, and how many more there are.
func TestManyReasons(t *testing.T) {
	for name, change := range map[string]func(r *madeRank){
		"waits of which too little is known": func(r *madeRank) { r.thread("MPI_Win_wait", 10+int(r.me)) },
		"ranks that compute":                 func(r *madeRank) { r.computes(); r.Threads[0].Line = 10 + int(r.me) },
		"ranks that can't be read": func(r *madeRank) {
			r.Threads, r.Communicators, r.Unavailable = nil, nil, fmt.Sprintf("reason %d.", r.me)
		},
		"queues that can't be read": func(r *madeRank) {
			r.thread("MPI_Recv", 10)
			r.Communicators, r.Unavailable = nil, fmt.Sprintf("reason %d.", r.me)
		},
		"ranks in functions and files": func(r *madeRank) {
			r.computes()
			r.Threads[0] = []mqs.Thread{{}, {Function: "f"}, {File: "/src/f.c", Line: 3}, {File: "/src/g.c"}, {Function: "g", File: "/src/g.c"}, {Call: "MPI_Test"},
				{Call: "MPI_Test", Function: "f"}, {Call: "MPI_Test", File: "/src/f.c", Line: 3}}[r.me]
			r.Threads[0].Placed = true
		},
	} {
		m := newMade(8)
		m.each(change, 0, 1, 2, 3, 4, 5, 6, 7)
		approve(t, name, Analyse(m.Snapshot))
	}
}
