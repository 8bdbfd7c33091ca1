package waitfor

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// simulated is the slow and plain reading of a job's waits: nothing but the
// definition, tried until nothing changes any more.
type simulated struct {
	*job
	released []bool
}

// hasReleased says whether a dependency of a rank has been released. A rank that waits for
// any message of a group that it is in waits for the others.
func (s *simulated) hasReleased(rank int32, g *dependency, optimistic bool) bool {
	if g.rank >= 0 {
		return s.released[g.rank]
	}
	if g.set.unknown != "" && g.set.all != optimistic {
		return optimistic
	}
	for _, r := range g.set.ranks {
		if r != rank && s.released[r] != g.set.all {
			return !g.set.all
		}
	}
	return g.set.all
}

func (s *simulated) wait(rank int32, w *wait, optimistic bool) bool {
	if w.satisfied {
		return true
	}
	if w.unknown != "" && w.all != optimistic {
		return optimistic
	}
	for i := range w.deps {
		if s.hasReleased(rank, &w.deps[i], optimistic) != w.all {
			return !w.all
		}
	}
	return w.all
}

// run releases what can be, from the ranks that are at the start.
func (s *simulated) run(optimistic bool) {
	for changed := true; changed; {
		changed = false
		for i := range s.ranks {
			r := &s.ranks[i]
			ok := r.mobility == mobile || r.mobility == uncertain && optimistic ||
				slices.ContainsFunc(r.waits, func(w wait) bool { return s.wait(int32(i), &w, optimistic) })
			if ok && !s.released[i] {
				s.released[i], changed = true, true
			}
		}
	}
}

// random makes up what a few ranks wait for.
func random(rng *rand.Rand) *job {
	n := 1 + rng.IntN(7)
	j := &job{ranks: make([]rank, n), worldKnown: true}
	some := func() []int32 {
		var out []int32
		for r := range int32(n) {
			if rng.IntN(2) == 0 {
				out = append(out, r)
			}
		}
		return out
	}
	clause := func() string {
		if rng.IntN(8) == 0 {
			return forWhomUnknown
		}
		return ""
	}
	for range rng.IntN(3) {
		j.newRankSet(rankSet{all: rng.IntN(2) == 0, ranks: some(), unknown: clause()})
	}
	thread, on := &mqs.Thread{Call: "MPI_Recv"}, &member{comm: &communicator{name: world}}
	for i := range j.ranks {
		r := &j.ranks[i]
		r.process = &mqs.Process{Phase: mqs.Active}
		switch rng.IntN(14) {
		case 0:
			r.mobility = mobile
			continue
		case 1:
			r.mobility = immobile
			r.process.Phase = mqs.Exited
			continue
		case 2:
			r.mobility = uncertain
			r.process = nil
			continue
		}
		for range 1 + rng.IntN(5)/4 {
			w := wait{thread: thread, all: rng.IntN(3) > 0, unknown: clause(), satisfied: rng.IntN(20) == 0}
			for range 1 + rng.IntN(3) {
				g := dependency{rank: int32(rng.IntN(n)), member: on}
				// Those who wait for all of a group are not in it; those who wait for any are, with others.
				if len(j.rankSets) > 0 && rng.IntN(2) == 0 {
					of := j.rankSets[rng.IntN(len(j.rankSets))]
					if in := slices.Contains(of.ranks, int32(i)); in != of.all && len(of.ranks) > 1 {
						g = dependency{rank: -1, set: of, member: on}
					}
				}
				w.deps = append(w.deps, g)
			}
			r.waits = append(r.waits, w)
		}
	}
	return j
}

// next are the ranks that a rank waits for, one by one.
func next(j *job, rank int32) []int32 {
	var out []int32
	for to := range int32(len(j.ranks)) {
		if w, _ := j.dependencyOn(rank, to); w != nil {
			out = append(out, to)
		}
	}
	return out
}

// shortestAmong returns the length of the shortest cycle among ranks, by trying all paths.
func shortestAmong(j *job, ranks []int32) int {
	best := len(ranks) + 1
	var walk func(start, at int32, length int, seen map[int32]bool)
	walk = func(start, at int32, length int, seen map[int32]bool) {
		for _, to := range next(j, at) {
			if to == start {
				best = min(best, length)
			} else if slices.Contains(ranks, to) && !seen[to] && length+1 < best {
				seen[to] = true
				walk(start, to, length+1, seen)
				delete(seen, to)
			}
		}
	}
	for _, r := range ranks {
		walk(r, r, 1, map[int32]bool{r: true})
	}
	return best
}

func TestAgainstSimulation(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	hung, single, gone := 0, 0, 0
	for round := range 20_000 {
		j := random(rng)
		a := &analysis{job: j, graph: newAndOr(j.nodes(false))}
		a.releasable, a.surelyReleasable = a.graph.releases(true), a.graph.releases(false)
		a.findCauses()
		fail := func(format string, args ...any) {
			t.Helper()
			var text strings.Builder
			for i, r := range j.ranks {
				fmt.Fprintf(&text, "%d: mobility %d", i, r.mobility)
				for _, w := range r.waits {
					fmt.Fprintf(&text, " {all %v free %v unknown %q:", w.all, w.satisfied, w.unknown)
					for _, g := range w.deps {
						if g.rank < 0 {
							fmt.Fprintf(&text, " %+v", *g.set)
						} else {
							fmt.Fprintf(&text, " %d", g.rank)
						}
					}
					text.WriteString("}")
				}
				text.WriteString("\n")
			}
			t.Fatalf("round %d: %s\n%s%+v", round, fmt.Sprintf(format, args...), text.String(), a.deadlocks)
		}
		for optimistic, got := range map[bool][]bool{true: a.releasable, false: a.surelyReleasable} {
			s := simulated{j, make([]bool, len(j.ranks))}
			s.run(optimistic)
			if !slices.Equal(s.released, got[:len(j.ranks)]) {
				fail("released %v, not %v", got[:len(j.ranks)], s.released)
			}
		}
		seen := map[int32]bool{}
		resolved := simulated{j, make([]bool, len(j.ranks))} // all causes are out of the way
		for _, d := range a.deadlocks {
			hung++
			first := d.Cycle[0]
			if first.Rank != d.Ranks[0] && !slices.Contains(d.Ranks, first.Rank) {
				fail("the cycle starts outside")
			}
			others := simulated{j, make([]bool, len(j.ranks))} // all else is
			for i := range j.ranks {
				others.released[i] = !slices.Contains(d.Ranks, int32(i)) && !j.ranks[i].gone()
			}
			others.run(true)
			for _, r := range d.Ranks {
				if seen[r] || !a.hangs(r) || others.released[r] {
					fail("rank %d is not in a deadlock of its own", r)
				}
				seen[r], resolved.released[r] = true, true
			}
			for i, w := range d.Cycle {
				if !slices.Contains(next(j, w.Rank), w.For) || i+1 < len(d.Cycle) && d.Cycle[i+1].Rank != w.For || w.Rank < first.Rank {
					fail("the cycle is none")
				}
			}
			switch last := d.Cycle[len(d.Cycle)-1]; {
			case j.ranks[last.For].gone():
				gone++
			case last.For != first.Rank:
				fail("the cycle is not closed")
			default:
				if shortest := shortestAmong(j, d.Ranks); len(d.Cycle) != shortest {
					fail("the cycle is not of %d", shortest)
				}
				if len(d.Ranks) == 1 {
					single++
				}
			}
		}
		resolved.run(true)
		for i := range j.ranks {
			if a.hangs(int32(i)) && !resolved.released[i] {
				fail("rank %d hangs for no cause that is listed", i)
			}
		}
	}
	if hung < 1000 || single < 100 || gone < 100 {
		t.Errorf("only %d deadlocks were tried, %d of one rank and %d with one that is gone", hung, single, gone)
	}
}
