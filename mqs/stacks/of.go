package stacks

import (
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// Of returns the stacks that a snapshot has of processes: of each thread that is placed or not known to be in no
// call, not of those that libraries have made for themselves.
func Of(s *mqs.Snapshot) []Process {
	var out []Process
	for _, p := range s.Processes {
		rank, _ := p.Place()
		one := Process{Rank: rank, Inferior: p.Inferior}
		for _, stack := range p.Stacks {
			if slices.ContainsFunc(p.Threads, func(t mqs.Thread) bool { return t.Number == stack.Thread }) {
				one.Stacks = append(one.Stacks, stack)
			}
		}
		switch {
		case len(one.Stacks) > 0:
		case p.Unavailable != "":
			one.Why = p.Unavailable
		case p.Stacks == nil:
			one.Why = "what was read of it has no stacks"
		default:
			one.Why = "it has no threads"
		}
		out = append(out, one)
	}
	return out
}
