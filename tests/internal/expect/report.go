package expect

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Report is what `mpi-queues report --json` and `mpi-deadlock -json` write.
type Report struct {
	Schema       any            `json:"schema"`
	Verdict      string         `json:"verdict"`
	Why          string         `json:"why"`
	Deadlocks    []ReportedRing `json:"deadlocks"`
	Groups       []Group        `json:"groups"`
	NearMisses   []NearMiss     `json:"near_misses"`
	MissingRanks []any          `json:"missing_ranks"`
}

// ReportedRing is a deadlock of a report.
type ReportedRing struct {
	Ranks []int  `json:"ranks"`
	Cycle []Wait `json:"cycle"`
}

// Wait is one step of a circle.
type Wait struct {
	Rank      int    `json:"rank"`
	WaitsFor  int    `json:"waits_for"`
	Operation string `json:"operation"`
	Call      string `json:"call"`
	File      string `json:"file"`
	Line      int    `json:"line"`
}

// Group is ranks in the same state at the same place.
type Group struct {
	Ranks        string `json:"ranks"`
	State        string `json:"state"`
	Call         string `json:"call"`
	Communicator string `json:"communicator"`
	File         string `json:"file"`
	Line         int    `json:"line"`
	Text         string `json:"text"`
}

// NearMiss is a message that misses its receive, or the like.
type NearMiss struct {
	Kind  string `json:"kind"`
	Text  string `json:"text"`
	Ranks []int  `json:"ranks"`

	Mismatch string `json:"mismatch"`
	Culprits []int  `json:"culprits"`
}

// ParseReport reads a report.
func ParseReport(text []byte) (*Report, error) {
	r := new(Report)
	if err := decode(text, r); err != nil {
		return nil, fmt.Errorf("not a report of mpi-queues: %w\n%.400s", err, text)
	}
	return r, nil
}

// Compare returns in which points a report is not what a mode's must be.
// lines are those of the marks in the mode's program, from [Marks].
func (m *Mode) Compare(r *Report, lines map[string]int) []string {
	if m.OrUnknown && r.Verdict == Unknown {
		m = m.Unknowable()
	}
	if m.OrUnproved && (r.Verdict == NoProgress || r.Verdict == Unknown || r.Verdict == Undecided) {
		m = m.Unproved()
		m.Verdict = r.Verdict
	}
	if m.Verdict == HeldUp && m.OrNotHeldUp && (r.Verdict == NoProgress || r.Verdict == Unknown || r.Verdict == Undecided) {
		other := *m
		other.Verdict = r.Verdict
		m = &other
	}
	c := reportComparison{mode: m, report: r, lines: lines}
	if fmt.Sprint(r.Schema) != "1" {
		c.failf("schema is %v, want 1", r.Schema)
	}
	switch {
	case m.OrInTransit && m.Verdict == Deadlock && r.Verdict == InTransit:
	case m.Verdict != Moves && r.Verdict != m.Verdict:
		c.failf("the verdict is %q, want %q: %s", r.Verdict, m.Verdict, r.Why)
	case m.Verdict == Moves && r.Verdict == Deadlock:
		c.failf("a job that runs is called deadlocked: %s", r.Why)
	}
	if r.Why == "" {
		c.failf("it does not say why")
	}
	if m.Verdict != Moves {
		c.groups()
		c.deadlocks()
	}
	if m.Verdict != Moves && m.Verdict != Unknown {
		if len(r.MissingRanks) > 0 {
			c.failf("ranks %v are missing", r.MissingRanks)
		}
		c.misses()
		c.mismatches()
	}
	return c.differences
}

type reportComparison struct {
	mode        *Mode
	report      *Report
	lines       map[string]int
	differences []string
}

func (c *reportComparison) failf(format string, args ...any) {
	c.differences = append(c.differences, fmt.Sprintf(format, args...))
}

// groups holds the states of all ranks against the mode's. Of ranks that are
// somewhere on their way nobody knows where, nor whether they are in one group.
func (c *reportComparison) groups() {
	at := map[int]Group{}
	places := map[Group]string{}
	for _, g := range c.report.Groups {
		for _, rank := range Ranks(g.Ranks) {
			if _, twice := at[rank]; twice {
				c.failf("rank %d is in two groups", rank)
			}
			at[rank] = g
		}
		if g.Text == "" {
			c.failf("ranks %s: there is no text", g.Ranks)
		}
		place := g
		place.Ranks, place.Text = "", ""
		if other := places[place]; other != "" && g.Line > 0 {
			c.failf("the groups %s and %s are one: %+v", other, g.Ranks, place)
		}
		places[place] = g.Ranks
	}
	if len(at) != c.mode.Ranks {
		c.failf("the groups hold %d ranks, want %d", len(at), c.mode.Ranks)
	}
	for _, p := range c.mode.Places {
		for _, rank := range Ranks(p.Ranks) {
			g, ok := at[rank]
			if !ok {
				c.failf("rank %d is in no group", rank)
				continue
			}
			c.place(rank, p, g)
			if p.Call != "" && p.State != "" && g.Ranks != p.Ranks {
				c.failf("rank %d is in the group %s, want %s", rank, g.Ranks, p.Ranks)
			}
		}
	}
}

func (c *reportComparison) place(rank int, p Place, g Group) {
	if g.State != p.State && p.State != "" {
		c.failf("rank %d is %q, want %q", rank, g.State, p.State)
	}
	if p.Call == "" {
		return
	}
	if g.Call != p.Call {
		c.failf("rank %d is in %q, want %s", rank, g.Call, p.Call)
	}
	if g.Communicator != p.Comm && p.Comm != "" {
		c.failf("rank %d: the communicator is %q, want %q", rank, g.Communicator, p.Comm)
	}
	c.line(rank, p, g.File, g.Line)
}

// line compares a line of source.
func (c *reportComparison) line(rank int, p Place, file string, line int) {
	want, ok := c.lines[p.Mark]
	if !ok {
		c.failf("%s.c has no mark @%s", c.mode.Program, p.Mark)
		return
	}
	if base := filepath.Base(file); base != c.mode.Program+".c" || line != want {
		c.failf("rank %d is at %s:%d, want %s.c:%d", rank, base, line, c.mode.Program, want)
	}
}

// deadlocks compares the sets of ranks, and holds each circle against who waits for whom.
func (c *reportComparison) deadlocks() {
	got, want := c.report.Deadlocks, c.mode.Deadlocks
	if len(got) != len(want) {
		c.failf("there are %d deadlocks, want %d: %v", len(got), len(want), got)
		return
	}
	for i, d := range want {
		if !slices.Equal(got[i].Ranks, d.Ranks) {
			c.failf("the ranks %v are deadlocked, want %v", got[i].Ranks, d.Ranks)
			continue
		}
		c.circle(got[i].Cycle, d)
	}
}

func (c *reportComparison) circle(cycle []Wait, want Ring) {
	if len(cycle) != max(want.Length, 1) {
		c.failf("the circle has %d ranks, want %d: %v", len(cycle), want.Length, cycle)
		return
	}
	for i, w := range cycle {
		if w.Rank < cycle[0].Rank || want.Length > 0 && w.WaitsFor != cycle[(i+1)%len(cycle)].Rank {
			c.failf("it is no circle from the lowest rank on: %v", cycle)
		}
		if !slices.Contains(c.mode.Waits[w.Rank], w.WaitsFor) {
			c.failf("rank %d does not wait for rank %d", w.Rank, w.WaitsFor)
		}
		if w.Operation == "" {
			c.failf("rank %d waits for rank %d, but with what?", w.Rank, w.WaitsFor)
		}
		for _, p := range c.mode.Places {
			if !slices.Contains(Ranks(p.Ranks), w.Rank) {
				continue
			}
			if w.Call != p.Call {
				c.failf("in the circle rank %d is in %q, want %s", w.Rank, w.Call, p.Call)
			}
			c.line(w.Rank, p, w.File, w.Line)
		}
	}
}

// misses compares the near misses, in any order.
func (c *reportComparison) misses() {
	left := slices.Clone(c.mode.Misses)
	for _, got := range c.report.NearMisses {
		i := slices.IndexFunc(left, func(want Miss) bool {
			return got.Kind == want.Kind && slices.Equal(got.Ranks, want.Ranks)
		})
		switch {
		case i >= 0:
			left = slices.Delete(left, i, i+1)
		case !slices.Contains(c.mode.Maybe, got.Kind):
			c.failf("a near miss that is none (%s, ranks %v): %s", got.Kind, got.Ranks, got.Text)
		}
		for _, rank := range got.Ranks {
			if !strings.Contains(got.Text, strconv.Itoa(rank)) {
				c.failf("the text does not name rank %d: %s", rank, got.Text)
			}
		}
	}
	for _, want := range left {
		c.failf("the near miss (%s, ranks %v) is not there", want.Kind, want.Ranks)
	}
}

// mismatches compares the mismatches that near misses name.
func (c *reportComparison) mismatches() {
	left := slices.Clone(c.mode.Mismatches)
	for _, got := range c.report.NearMisses {
		if got.Mismatch == "" {
			continue
		}
		i := slices.IndexFunc(left, func(want Mismatch) bool {
			return got.Mismatch == want.Name && slices.Equal(got.Culprits, want.Culprits)
		})
		if i < 0 {
			c.failf("a mismatch that is none (%s, culprits %v): %s", got.Mismatch, got.Culprits, got.Text)
			continue
		}
		left = slices.Delete(left, i, i+1)
	}
	for _, want := range left {
		if !want.Maybe {
			c.failf("the mismatch (%s, culprits %v) is not there", want.Name, want.Culprits)
		}
	}
}

// Ranks reads a list of ranks like "0-3,6".
func Ranks(list string) []int {
	var out []int
	for part := range strings.SplitSeq(list, ",") {
		first, last, isRange := strings.Cut(strings.TrimSpace(part), "-")
		from, err := strconv.Atoi(first)
		if err != nil {
			return nil
		}
		to := from
		if isRange {
			if to, err = strconv.Atoi(last); err != nil {
				return nil
			}
		}
		for ; from <= to; from++ {
			out = append(out, from)
		}
	}
	return out
}
