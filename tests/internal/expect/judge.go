package expect

import (
	"errors"
	"slices"
	"strings"
)

// Judgement is what a report on a mode's job amounts to while its ranks may still be on their way to where they hang.
type Judgement int

// The judgements.
const (
	// Right is a report that is all that the mode's must be.
	Right Judgement = iota
	// NotYet is a report that claims nothing false, but is not the mode's: the next one may be.
	NotYet
	// Wrong is a report with a claim that the mode does not allow. No later report makes up for it.
	Wrong
)

// Judge judges a report. arrived says that an earlier report has shown all ranks where the mode has them, so that none of
// them can have moved since. err says what differs from the mode's report.
//
// "deadlock" must never be said of ranks that do not wait for each other in the mode. The other claims hold for the moment at
// which the job was sampled: while ranks are on their way, "no deadlock" may be true, and so may a circle that a message in
// transit breaks, or a rank that stops polling.
func (m *Mode) Judge(r *Report, lines map[string]int, arrived bool) (j Judgement, err error) {
	differences := m.Compare(r, lines)
	if len(differences) == 0 {
		return Right, nil
	}
	err = errors.New(strings.Join(differences, "\n"))
	isOfMoment := r.Verdict == NoDeadlock
	switch {
	case r.Verdict == Deadlock && (m.Verdict != Deadlock || !m.allowsDeadlocks(r)):
		return Wrong, err
	case r.Verdict == InTransit || r.Verdict == UnlessPollingEnds || r.Verdict == UnlessThreadActs:
		isOfMoment = !m.allowsDeadlocks(r)
	}
	if isOfMoment && arrived {
		return Wrong, err
	}
	return NotYet, err
}

// allowsDeadlocks reports whether the ranks of each deadlock of a report hang together in the mode, and wait for each other as
// they do there. Other ranks of it may not have come to where they hang.
func (m *Mode) allowsDeadlocks(r *Report) bool {
	for _, d := range r.Deadlocks {
		isPart := func(ring Ring) bool {
			return !slices.ContainsFunc(d.Ranks, func(rank int) bool { return !slices.Contains(ring.Ranks, rank) })
		}
		if !slices.ContainsFunc(m.Deadlocks, isPart) {
			return false
		}
		for _, w := range d.Cycle {
			if !slices.Contains(m.Waits[w.Rank], w.WaitsFor) {
				return false
			}
		}
	}
	return true
}

// HasArrived reports whether a report shows each rank where the mode has it.
func (m *Mode) HasArrived(r *Report, lines map[string]int) bool {
	found := 0
	for _, g := range r.Groups {
		for _, rank := range Ranks(g.Ranks) {
			for _, p := range m.Places {
				isIts := slices.Contains(Ranks(p.Ranks), rank)
				isThere := g.Call == p.Call && g.Line == lines[p.Mark]
				if p.Call == "" {
					isThere = g.State == p.State
				}
				if isIts && isThere {
					found++
					break
				}
			}
		}
	}
	return found == m.Ranks
}

// Essence returns what two reports on the same state of a job have in common: neither the time for which it was watched, nor
// sentences.
func (r *Report) Essence() Report {
	out := *r
	out.Why, out.Groups, out.NearMisses = "", slices.Clone(r.Groups), slices.Clone(r.NearMisses)
	for i := range out.Groups {
		out.Groups[i].Text = ""
	}
	for i := range out.NearMisses {
		out.NearMisses[i].Text = ""
	}
	return out
}
