package waitfor

import "github.com/mpi-queues/mpi-queues/mqs"

// waitForFlags returns the wait of a collective call until all of its flags in shared memory are raised. Flags are read from memory that
// all ranks share, so none is in transit. If the owner raised a flag after this rank's memory was read, the owner's own count shows it.
func (j *job) waitForFlags(r *rank, t *mqs.Thread, c *collectives) wait {
	w := wait{thread: t, all: true}
	w.deps, w.unknown = j.awaitedFlags(r, t)
	w.satisfied = len(w.deps) == 0 && w.unknown == ""
	if m := r.member(t.Comm); m != nil && m.comm.known && !m.comm.inter && behaviours[t.Call] == synchronises {
		w.standardMeaning = c.rankSet(callKey{m.comm, t.Call}, true)
	}
	return w
}

// awaitedFlags returns the dependencies on the ranks that have not raised the flags that a call waits for, and what is unknown of them.
func (j *job) awaitedFlags(r *rank, t *mqs.Thread) (deps []dependency, unknown string) {
	given := r.member(t.Comm)
	for i := range t.Flags {
		f := &t.Flags[i]
		m := r.member(mqs.Known(f.Comm))
		if m == nil || !m.comm.known || m.globalOf(f.LocalRank) < 0 {
			unknown = membersUnknown
			continue
		}
		raised := m.peers().raised(f)
		if raised.Known && raised.Value >= f.Count {
			continue
		}
		named := m // of the call's communicator the flags may be on a part
		if given != nil && given.comm.known {
			named = given
		}
		deps = append(deps, dependency{rank: m.globalOf(f.LocalRank), words: t.Call + " on " + named.comm.label(), transit: !raised.Known && !r.confirmed})
	}
	return deps, unknown
}

// mayPassFlags says whether the flags that a call waited for are all raised by now.
func (j *job) mayPassFlags(r *rank, t *mqs.Thread) bool {
	deps, unknown := j.awaitedFlags(r, t)
	return len(t.Flags) > 0 && len(deps) == 0 && unknown == ""
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
