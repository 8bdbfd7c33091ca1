package oracle

import (
	"fmt"
	"slices"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
)

// Verdict compares a report after one look with the accounts of the job's processes. The report must not
// call a job deadlocked that ends. It must call one deadlocked that does not end, and name its ranks; if it
// names some of them, the others count as unknown.
func Verdict(accounts []*expect.Account, r *expect.Report) Event {
	var hang, said []int
	for _, a := range accounts {
		if a.Hangs {
			hang = append(hang, rankOf(a))
		}
	}
	for _, g := range r.Groups {
		if g.State == "deadlocked" || g.State == "stuck" {
			said = append(said, expect.Ranks(g.Ranks)...)
		}
	}
	slices.Sort(hang)
	slices.Sort(said)
	e := Event{Kind: Wrong, Field: "verdict",
		Want: expect.Object{"verdict": fmt.Sprintf("one in which ranks %v hang", hang), "endless": len(hang) > 0},
		Got:  expect.Object{"verdict": fmt.Sprintf("%s, in which ranks %v hang: %s", r.Verdict, said, r.Why)}}
	switch r.Verdict {
	case expect.Unknown:
		if len(said) == 0 {
			e.Kind = Unknown
		}
	case expect.Undecided, expect.HeldUp:
		if len(hang) == 0 && len(said) == 0 {
			e.Kind = Right
		}
	case expect.Deadlock, expect.InTransit: // the other is all that one look proves where messages are not counted
		isPart := len(said) > 0 && !slices.ContainsFunc(said, func(rank int) bool { return !slices.Contains(hang, rank) })
		switch {
		case isPart && len(said) == len(hang):
			e.Kind = Right
		case isPart: // of the others it is not known
			e.Kind = Unknown
		}
	}
	return e
}

func rankOf(a *expect.Account) int {
	var rank int
	_, _ = fmt.Sscan(fmt.Sprint(a.GlobalRank), &rank)
	return rank
}
