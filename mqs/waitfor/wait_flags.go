package waitfor

import "github.com/mpi-queues/mpi-queues/mqs"

// waitForFlags is the wait of a collective call for flags in shared memory, all of which have to be raised.
// Each flag was read in the memory that all share, so that none is in transit. What a rank has raised since then, before it was
// stopped itself, its own count tells.
func (j *job) waitForFlags(r *rank, t *mqs.Thread, c *collectives) wait {
	w := wait{thread: t, all: true}
	given := r.member(t.Comm)
	for i := range t.Flags {
		f := &t.Flags[i]
		m := r.member(mqs.Known(f.Comm))
		if m == nil || !m.comm.known || m.globalOf(f.LocalRank) < 0 {
			w.unknown = membersUnknown
			continue
		}
		named := m // of the call's communicator the flags may be on a part
		if given != nil && given.comm.known {
			named = given
		}
		g := dependency{rank: m.globalOf(f.LocalRank), words: t.Call + " on " + named.comm.label()}
		raised := m.peers().raised(f)
		if raised.Known && raised.Value >= f.Count {
			continue
		}
		g.transit = !raised.Known && !r.confirmed
		w.deps = append(w.deps, g)
	}
	w.satisfied = len(w.deps) == 0 && w.unknown == ""
	if given != nil && given.comm.known && !given.comm.inter && behaviours[t.Call] == synchronises {
		w.standardMeaning = c.rankSet(callKey{given.comm, t.Call}, true)
	}
	return w
}

// raised is how far the rank that raises a flag has raised it, as its own process says.
func (s *side) raised(f *mqs.Flag) mqs.Maybe[int64] {
	if m := s.member(f.LocalRank); m != nil {
		for _, own := range m.Flags {
			if own.Kind == f.Kind {
				return mqs.Known(own.Count)
			}
		}
	}
	return mqs.Maybe[int64]{}
}
