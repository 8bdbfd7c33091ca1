package simulate

import (
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// Releasable says which ranks may still get on, whatever the others call next: ranks that run can do
// anything, and so can the ranks that they release. A rank for which it is false is deadlocked in
// every schedule, whatever its program does next.
//
// A rank in a collective may get on once one of the library's messages may; or, if the standard is
// what counts, once all members may enter without which it can't leave.
//
// It is generous about messages in transit: each may match any receive that it fits, though only one
// will take it. See [State.Settle].
func (s *State) Releasable(standard bool) []bool {
	return s.releasable(standard, func(*thread) bool { return true })
}

// ReleasableByCalls is [State.Releasable] under the assumption that a thread outside MPI does nothing while another thread of its
// process is in a blocking call.
func (s *State) ReleasableByCalls(standard bool) []bool {
	return s.releasable(standard, func(t *thread) bool {
		isOutside := t.doing == computing || t.doing == ready && (t.call().Name != "MPI_Test" || len(t.outstanding) == 0)
		return !isOutside || !slices.ContainsFunc(t.proc.threads, (*thread).isInside)
	})
}

// ReleasableInside is [State.Releasable] under the assumption that a thread outside MPI does nothing.
func (s *State) ReleasableInside(standard bool) []bool {
	return s.releasable(standard, func(t *thread) bool {
		return t.doing != computing && (t.doing != ready || t.call().Name == "MPI_Test" && len(t.outstanding) > 0)
	})
}

func (s *State) releasable(standard bool, counts func(t *thread) bool) []bool {
	out := make([]bool, len(s.procs))
	for changed := true; changed; {
		changed = false
		for i, p := range s.procs {
			if !out[i] && !p.gone() && slices.ContainsFunc(p.threads, func(t *thread) bool { return counts(t) && s.mayGetOn(t, out, standard) }) {
				out[i], changed = true, true
			}
		}
	}
	return out
}

// mayGetOn says whether a thread may leave its call, given the ranks that may.
func (s *State) mayGetOn(t *thread, others []bool, standard bool) bool {
	switch t.doing {
	case over:
		return false
	case joins:
		return t.isAlone()
	case ready, entered, computing:
		return true
	}
	c := t.call()
	may := func(r *request) bool { return s.mayComplete(r, others) }
	switch {
	case s.isOver(t) && (!standard || len(t.stages) == 0): // not just a part of a collective
		return true
	case c.Name == "MPI_Finalize":
		return !slices.ContainsFunc(s.procs, func(p *proc) bool { return !p.finalizing && !others[p.rank] })
	case c.probes():
		of := t.proc.sides[c.Comm]
		return s.mayCome(&request{side: of, proc: t.proc, peer: c.From, tag: c.For}, others)
	case standard && isCollective(c.Name) && slices.ContainsFunc(t.needed(), func(rank int32) bool { return !others[rank] && !s.hasBegun(rank, t) }):
		return false
	case c.Name == "MPI_Waitany" || c.Name == "MPI_Waitsome":
		return slices.ContainsFunc(t.requests, may)
	}
	return !slices.ContainsFunc(t.requests, func(r *request) bool { return !may(r) })
}

// needed returns the ranks without which a thread can't leave its collective, by the standard.
func (t *thread) needed() []int32 {
	c, of := t.call(), t.proc.sides[t.call().Comm]
	peers := of.of.peers(of.at)
	switch {
	case of.of.Inter || slices.Contains(synchronising, c.Name):
		return peers
	case c.Name == "MPI_Scan":
		return peers[:of.local]
	case c.Name == "MPI_Bcast" || c.Name == "MPI_Scatter":
		return peers[c.Root : c.Root+1]
	case c.Root == of.local && (c.Name == "MPI_Gather" || c.Name == "MPI_Reduce"):
		return peers
	}
	return nil
}

// hasBegun says whether a rank has entered the collective in which a thread is.
func (s *State) hasBegun(rank int32, t *thread) bool {
	key := t.call().collective()
	return s.procs[rank].begun[key] >= t.proc.begun[key]
}

func (s *State) mayComplete(r *request, others []bool) bool {
	m := r.message
	switch {
	case r.status == mqs.Complete:
		return true
	case r.status == mqs.Matched:
		return !m.source.gone() || s.carries(data, m)
	case r.class == mqs.PendingReceives:
		return s.mayCome(r, others)
	case s.carries(answer, m):
		return true
	case m.target.gone():
		return false
	case s.Job.ReceiverFetches && s.carries(data, m):
		return true
	case m.state == underWay || m.state == halfWay:
		fits := func(o *request) bool {
			return o.class == mqs.PendingReceives && o.status == mqs.Pending && o.matches(m)
		}
		return others[m.target.rank] || slices.ContainsFunc(m.target.sides[m.comm].requests, fits)
	}
	return others[m.target.rank]
}

// mayCome says whether a message may come for which a receive or a probe asks.
func (s *State) mayCome(r *request, others []bool) bool {
	if slices.ContainsFunc(r.side.half, r.matches) {
		return true
	}
	for _, p := range s.net {
		if m := p.message; p.kind == envelope && m.target == r.proc && m.comm == r.side.id && r.matches(m) {
			return true
		}
	}
	peers := r.side.of.peers(r.side.at)
	if r.peer != Any {
		return others[peers[r.peer]]
	}
	return slices.ContainsFunc(peers, func(rank int32) bool { return others[rank] })
}

// carries says whether a packet of a message is in transit.
func (s *State) carries(kind packetKind, m *message) bool {
	return slices.ContainsFunc(s.net, func(p *packet) bool { return p.kind == kind && p.message == m })
}

// IsSettled says whether nothing is in transit to a process that takes what comes, or to one that is
// in MPI_Finalize and may not take it.
func (s *State) IsSettled() bool {
	for _, m := range s.moves(everybody) {
		if m.kind != steps {
			return false
		}
	}
	for _, p := range s.procs {
		if !p.gone() && slices.ContainsFunc(p.sides, func(of *side) bool { return of != nil && len(of.half) > 0 }) {
			return false
		}
	}
	return !slices.ContainsFunc(s.net, func(p *packet) bool { return !p.to().gone() && (p.to().finalizing || s.progresses(p.to())) })
}

// Settle delivers all that is in transit to the processes that take it, in a random order, and starts
// what calls have begun, while no thread leaves its call. After that, [State.Releasable] is exact.
func (s *State) Settle(pick func(n int) int) *State {
	out := s.fork()
	for {
		var m []move
		for _, move := range out.moves(everybody) {
			if move.kind != steps || out.procs[move.of].threads[move.which].doing == entered {
				m = append(m, move)
			}
		}
		if len(m) == 0 {
			return out
		}
		out.do(m[pick(len(m))])
	}
}

// Left returns the number of waiting calls that each rank has left.
func (s *State) Left() []int {
	out := make([]int, len(s.procs))
	for i, p := range s.procs {
		out[i] = p.left
	}
	return out
}

// Gone says whether a rank has left MPI.
func (s *State) Gone(rank int) bool { return s.procs[rank].gone() }

// IsPlain says whether a snapshot shows all that matters at this moment: each call that has begun has
// started what it waits for, nothing that is complete is left out, no rank is gone unseen, and all
// that collectives wait for is shown.
func (s *State) IsPlain() bool {
	for _, p := range s.procs {
		if p.phase == mqs.Exited || s.Job.IgnoresInFinalize && p.finalizing {
			return false
		}
		for _, t := range p.threads {
			switch c := t.call(); {
			case t.doing == entered, t.held != nil,
				t.doing == waits && isCollective(c.Name) && (!s.Job.ShowsInternal || s.Job.AnonymousSends),
				t.doing == waits && s.Job.DropsComplete:
				return false
			}
		}
	}
	return true
}
