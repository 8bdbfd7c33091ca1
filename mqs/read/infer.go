package read

import (
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// arrival is an unexpected message, and who it has come to.
type arrival struct {
	process *mqs.Process
	comm    *mqs.Queues
	message *mqs.PendingOperation
}

// infer completes what a process can't know by itself by what another says: who a send goes
// to, by the unexpected message that names it. Each says so in a line of its extra text. What
// fits several messages stays unknown.
func infer(s *mqs.Snapshot) {
	arrivals := map[uint64][]arrival{}
	for _, p := range s.Processes {
		for _, c := range p.Communicators {
			if q := c.Queue[mqs.UnexpectedMessages]; q != nil {
				for i := range q.Operations {
					if m := &q.Operations[i]; m.MessageID.Known {
						arrivals[m.MessageID.Value] = append(arrivals[m.MessageID.Value], arrival{p, c, m})
					}
				}
			}
		}
	}
	if len(arrivals) == 0 {
		return
	}
	ranks := map[int32]int{}
	for _, p := range s.Processes {
		if p.GlobalRank.Known {
			ranks[p.GlobalRank.Value]++
		}
	}
	for _, p := range s.Processes {
		for _, c := range p.Communicators {
			q := c.Queue[mqs.PendingSends]
			if q == nil {
				continue
			}
			for i := range q.Operations {
				op := &q.Operations[i]
				if op.DesiredLocalRank.Known || op.DesiredGlobalRank.Known || !op.MessageID.Known {
					continue
				}
				a, ok := onlyArrival(arrivals[op.MessageID.Value], p, c, op)
				if !ok {
					continue
				}
				op.DesiredLocalRank = a.comm.LocalRank
				if ranks[a.process.GlobalRank.Value] == 1 { // else there are two jobs, each with ranks of its own
					op.DesiredGlobalRank = a.process.GlobalRank
				}
				op.ActualLocalRank, op.ActualGlobalRank = op.DesiredLocalRank, op.DesiredGlobalRank
				if line := "inferred: " + processWords(a.process) + " has it as an unexpected message"; !slices.Contains(op.ExtraText, line) {
					op.ExtraText = append(op.ExtraText, line)
				}
			}
		}
	}
}

// onlyArrival is the one message among those of one id that a send of p on c can be: ids are
// addresses in the sender, which another process may have too.
func onlyArrival(of []arrival, p *mqs.Process, c *mqs.Queues, op *mqs.PendingOperation) (arrival, bool) {
	var found arrival
	n := 0
	for _, a := range of {
		m := a.message
		if differ(m.ActualTag, op.DesiredTag) || differ(m.ActualLength, op.DesiredLength) || differ(m.ActualLocalRank, c.LocalRank) ||
			!c.LocalRank.Known && differ(m.ActualGlobalRank, p.GlobalRank) || c.Context != a.comm.Context {
			continue
		}
		found, n = a, n+1
	}
	return found, n == 1
}

// differ says whether two values are known and not the same.
func differ[T comparable](a, b mqs.Maybe[T]) bool { return a.Known && b.Known && a.Value != b.Value }
