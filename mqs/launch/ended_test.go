package launch

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestEndedRanks checks that a rank of Hydra's has exited if its daemon has started all ranks of the job here and all others are
// there; if anything else may have become of the rank, it is left out.
func TestEndedRanks(t *testing.T) {
	env := func(local, ranks, size int) string {
		return fmt.Sprintf("HYDI_CONTROL_FD=7 PMI_RANK=%d PMI_FD=6 PMI_SIZE=%d MPI_LOCALNRANKS=%d MPI_LOCALRANKID=%[1]d", local, size, ranks)
	}
	const polls = "poll_schedule_timeout.constprop.0"
	of := func(channel string, ranks ...madeUp) []madeUp {
		return append([]madeUp{{pid: 20, parent: 1, name: "mpiexec"}, {pid: 21, parent: 20, name: "proxy", env: "HYDI_CONTROL_FD=7", channel: channel}}, ranks...)
	}
	rank := func(pid, local int) madeUp { return madeUp{pid: pid, parent: 21, name: "prog", env: env(local, 4, 4)} }
	child := madeUp{pid: 40, parent: 21, name: "prog"}
	unlisted, zombie, spawned := child, child, rank(31, 0)
	unlisted.unlisted, zombie.state = true, "Z"
	spawned.env += " PMI_SPAWNED=1"
	other := madeUp{pid: 31, parent: 21, name: "prog", env: env(0, 4, 8)}
	for name, c := range map[string]struct {
		processes []madeUp
		want      string
	}{
		"none":                                 {of(polls, rank(31, 0), rank(32, 1), rank(33, 2), rank(34, 3)), ""},
		"the last two":                         {of(polls, rank(31, 0), rank(32, 1)), "2 3"},
		"an earlier one":                       {of("0", rank(31, 0), rank(32, 1), rank(34, 3)), "2"},
		"one that its daemon has yet to reap":  {of(polls, rank(31, 0), rank(32, 1), zombie, rank(34, 3)), "2"},
		"ranks may be about to be started":     {of("0", rank(31, 0), rank(32, 1)), ""},
		"one was started in the meantime":      {of(polls, rank(31, 0), rank(32, 1), rank(34, 3), unlisted), ""},
		"one has another environment":          {of(polls, rank(31, 0), rank(32, 1), rank(34, 3), child), ""},
		"others are to be on other machines":   {of(polls, other), ""},
		"ranks that were spawned are like all": {of(polls, spawned), ""},
	} {
		job, err := machine(t, c.processes...).find(31)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, r := range job.Ranks {
			if r.Exited && r.PID == 0 {
				got = append(got, fmt.Sprint(r.Number.Value))
			}
		}
		if strings.Join(got, " ") != c.want || !slices.IsSortedFunc(job.Ranks, func(a, b Rank) int { return int(a.Number.Value - b.Number.Value) }) {
			t.Errorf("%s: %v have exited, not %s; the ranks are %+v", name, got, c.want, job.Ranks)
		}
	}
}
