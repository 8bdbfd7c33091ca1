package waitfor

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// A receive lies beside its message if it is the program's, has not matched, and says of which tags it is.
func TestLiesMatched(t *testing.T) {
	m := newMade(2)
	m.rank(0).recv(worldID, 1, 7)
	m.rank(1).message(worldID, 0, 7)
	j := known(m)
	ops, _ := j.ranks[0].operations(m.rank(0).Threads[0].Requests)
	if len(ops) != 1 {
		t.Fatal(ops)
	}
	for name, c := range map[string]struct {
		change func(g *dependency)
		want   bool
	}{
		"as it is":            {func(*dependency) {}, true},
		"a send":              {func(g *dependency) { g.class = mqs.PendingSends }, false},
		"the library's own":   {func(g *dependency) { g.op.Internal = true }, false},
		"matched":             {func(g *dependency) { g.op.Status = mqs.Matched }, false},
		"complete":            {func(g *dependency) { g.op.Status = mqs.Complete }, false},
		"of another tag":      {func(g *dependency) { g.op.DesiredTag = mqs.Known[int32](8) }, false},
		"of no tag":           {func(g *dependency) { g.op.DesiredTag = mqs.Maybe[int32]{} }, false},
		"of any tag":          {func(g *dependency) { g.op.DesiredTag, g.op.TagWild = mqs.Maybe[int32]{}, mqs.Known(true) }, true},
		"from another rank":   {func(g *dependency) { g.op.DesiredLocalRank = mqs.Known[int32](0) }, false},
		"from any":            {func(g *dependency) { g.op.DesiredLocalRank = mqs.Known[int32](wild) }, true},
		"from nobody known":   {func(g *dependency) { g.op.DesiredLocalRank = mqs.Maybe[int32]{} }, false},
		"of a rank not known": {func(g *dependency) { g.member.local = -1 }, false},
	} {
		op, member := *ops[0].op, *ops[0].member
		g := dependency{op: &op, member: &member, class: ops[0].class}
		if c.change(&g); j.liesMatched(&g) != c.want {
			t.Errorf("%s: %t", name, !c.want)
		}
	}
}
