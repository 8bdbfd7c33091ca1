package mqs

import (
	"fmt"
	"math/bits"
	"slices"
	"sync/atomic"
)

// maxSeats bounds the size of a job that is believed of a launcher.
const maxSeats = 1 << 22

// Seat gives a process what only its launcher knows: its rank and the size of its job.
// Where MPI_COMM_WORLD was known by nothing but its name, all of it follows.
func (p *Process) Seat(rank, size Maybe[int32]) {
	if !p.GlobalRank.Known {
		p.GlobalRank = rank
	}
	if !p.WorldSize.Known && size.Value > 0 && size.Value <= maxSeats {
		p.WorldSize = size
	}
	for _, c := range p.Communicators {
		if c.Name != Known("MPI_COMM_WORLD") || c.Group != nil || c.Size.Known || !p.WorldSize.Known {
			continue
		}
		c.LocalRank, c.Size, c.Group = p.GlobalRank, p.WorldSize, WholeGroup(p.WorldSize.Value)
	}
}

// whole is the largest group that [WholeGroup] has made.
var whole atomic.Pointer[[]Maybe[int32]]

// WholeGroup is the group of the first n ranks in their order, which is MPI_COMM_WORLD's if
// it has n; n must not be negative. All that ask share the largest one and must not change
// it: its size may be nothing but a number that somebody claims.
func WholeGroup(n int32) []Maybe[int32] {
	kept := whole.Load()
	if kept == nil || len(*kept) < int(n) {
		group := make([]Maybe[int32], 1<<bits.Len32(uint32(n))) // seldom made anew
		for i := range group {
			group[i] = Known(int32(i))
		}
		kept = &group
		whole.Store(kept)
	}
	return (*kept)[:n:n]
}

// arrival is an unexpected message, and who it has come to.
type arrival struct {
	process *Process
	comm    *Queues
	message *PendingOperation
}

// Infer completes what a process can't know by itself by what another says: who a send goes
// to, by the unexpected message that names it. Each says so in a line of its extra text. What
// fits several messages stays unknown.
func (s *Snapshot) Infer() {
	arrivals := map[uint64][]arrival{}
	ranks := map[int32]int{}
	for _, p := range s.Processes {
		if p.GlobalRank.Known {
			ranks[p.GlobalRank.Value]++
		}
		for _, c := range p.Communicators {
			if q := c.Queue[UnexpectedMessages]; q != nil {
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
	for _, p := range s.Processes {
		for _, c := range p.Communicators {
			q := c.Queue[PendingSends]
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
				if line := "inferred: " + a.who() + " has it as an unexpected message"; !slices.Contains(op.ExtraText, line) {
					op.ExtraText = append(op.ExtraText, line)
				}
			}
		}
	}
}

// who names the receiver.
func (a arrival) who() string {
	if a.process.GlobalRank.Known {
		return fmt.Sprintf("rank %d", a.process.GlobalRank.Value)
	}
	return fmt.Sprintf("process %d", a.process.PID)
}

// onlyArrival is the one message among those of one id that a send of p on c can be: ids are
// addresses in the sender, which another process may have too.
func onlyArrival(of []arrival, p *Process, c *Queues, op *PendingOperation) (arrival, bool) {
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
func differ[T comparable](a, b Maybe[T]) bool { return a.Known && b.Known && a.Value != b.Value }
