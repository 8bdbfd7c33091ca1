package live

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
)

// TestStandstill checks that five equal reports on ranks that had their chance to move end a wait, whatever their words, and
// that nothing else does.
func TestStandstill(t *testing.T) {
	unknown := func(why, ranks string) *expect.Report {
		return &expect.Report{Verdict: expect.Unknown, Why: why, Groups: []expect.Group{{Ranks: ranks, State: "waiting", Text: why}}}
	}
	var s standstill
	for i := range enoughEqual {
		if got := s.add(unknown(string(rune('a'+i)), "0-1"), true); got != i+1 {
			t.Errorf("report %d makes %d", i, got)
		}
	}
	for _, c := range []struct {
		name   string
		report *expect.Report
		counts bool
		want   int
	}{
		{"another", unknown("", "0"), true, 1},
		{"the same", unknown("", "0"), true, 2},
		{"one during which a rank had no processor", unknown("", "0"), false, 0},
		{"the next", unknown("", "0"), true, 1},
		{"one of a moment", &expect.Report{Verdict: expect.InTransit}, true, 0},
		{"the same of a moment", &expect.Report{Verdict: expect.InTransit}, true, 0},
	} {
		if got := s.add(c.report, c.counts); got != c.want {
			t.Errorf("%s makes %d, want %d", c.name, got, c.want)
		}
	}
}

// TestHaveRun checks when a rank has had its chance to move: on a loaded machine one may neither run nor sleep for long.
func TestHaveRun(t *testing.T) {
	for _, c := range []struct {
		name          string
		before, after clock
		want          bool
	}{
		{"it sleeps", clock{7, true}, clock{7, true}, true},
		{"it slept, and has run since", clock{7, true}, clock{8, true}, false},
		{"it has run for long", clock{7, false}, clock{7 + inCall, false}, true},
		{"it waits for a processor", clock{7, false}, clock{7, false}, false},
		{"it waits for a processor behind its sleep", clock{7, true}, clock{7, false}, false},
		{"it is gone", clock{7, false}, clock{-1, false}, true},
	} {
		if got := haveRun([]clock{{0, true}, c.before}, []clock{{0, true}, c.after}); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
