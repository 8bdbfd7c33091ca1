package simulate

import (
	"math/rand/v2"
	"slices"
)

// moveKind is a kind of step of the simulation.
type moveKind int

const (
	steps   moveKind = iota // a thread does something
	takes                   // a process takes what has come
	matches                 // a process matches what it has counted
	looks                   // somebody looks at the job
)

// move is one step that can happen.
type move struct {
	kind moveKind
	// of is the process, or the index of a packet; which is the thread, or the communicator.
	of, which int
}

// progresses says whether a process's library may run.
func (s *State) progresses(p *proc) bool {
	if p.gone() || s.Job.IgnoresInFinalize && p.finalizing {
		return false
	}
	return slices.ContainsFunc(p.threads, func(t *thread) bool { return t.isInside() || t.doing == ready })
}

// moves returns what can happen in some processes.
func (s *State) moves(runs func(p *proc) bool) []move {
	var out []move
	for i, p := range s.procs {
		if !runs(p) {
			continue
		}
		for k, t := range p.threads {
			if s.canStep(t) {
				out = append(out, move{steps, i, k})
			}
		}
		if s.progresses(p) {
			for k, of := range p.sides {
				if of != nil && len(of.half) > 0 {
					out = append(out, move{matches, i, k})
				}
			}
		}
	}
	for i, p := range s.net {
		if runs(p.to()) && s.progresses(p.to()) && s.isFirst(i) {
			out = append(out, move{takes, i, 0})
		}
	}
	return out
}

// isFirst says whether no packet has to be taken before this one: messages between two processes on
// a communicator do not overtake each other.
func (s *State) isFirst(at int) bool {
	p := s.net[at]
	if p.kind != envelope {
		return true
	}
	return !slices.ContainsFunc(s.net[:at], func(o *packet) bool {
		return o.kind == envelope && o.message.comm == p.message.comm && o.message.source == p.message.source && o.message.target == p.message.target
	})
}

// do makes a move.
func (s *State) do(m move) {
	s.log = append(s.log, m)
	switch m.kind {
	case steps:
		s.step(s.procs[m.of].threads[m.which])
	case takes:
		p := s.net[m.of]
		s.net = slices.Delete(s.net, m.of, m.of+1)
		s.take(p)
	case matches:
		of := s.procs[m.of].sides[m.which]
		first := of.half[0]
		of.half = of.half[1:]
		s.arrive(first, of)
	}
}

func everybody(*proc) bool { return true }

// Run makes at most n random moves. It returns false if none is left.
func (s *State) Run(rng *rand.Rand, n int) bool { return s.run(rng, n, everybody) }

func (s *State) run(rng *rand.Rand, n int, runs func(p *proc) bool) bool {
	for range n {
		m := s.moves(runs)
		if len(m) == 0 {
			return false
		}
		s.do(m[rng.IntN(len(m))])
	}
	return true
}

// Between lets some processes run after a look, for long enough that they take what had been sent to
// them before by senders that have run too or are gone, and then makes some more moves.
func (s *State) Between(rng *rand.Rand, ran func(rank int32) bool, more int) {
	s.log = append(s.log, move{kind: looks})
	s.looks++
	runs := func(p *proc) bool { return ran(p.rank) }
	s.run(rng, rng.IntN(more+1), runs)
	for {
		var old []move
		for _, m := range s.moves(runs) {
			switch m.kind {
			case takes:
				p := s.net[m.of]
				if p.kind == data && s.Job.ReceiverFetches {
					continue // that takes as long as it takes
				}
				if from := p.from(); p.sent < s.looks && (runs(from) || from.gone()) {
					old = append(old, m)
				}
			case matches:
				if s.procs[m.of].sides[m.which].half[0].sinceLooks < s.looks {
					old = append(old, m)
				}
			}
		}
		if len(old) == 0 {
			break
		}
		s.do(old[rng.IntN(len(old))])
	}
	s.run(rng, rng.IntN(more+1), runs)
}
