package document

import (
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
)

func someRanks(numbers ...int32) []mqs.Maybe[int32] {
	out := []mqs.Maybe[int32]{}
	for _, n := range numbers {
		m := mqs.Maybe[int32]{}
		if n >= 0 {
			m = mqs.Known(n)
		}
		out = append(out, m)
	}
	return out
}

// A group is read back as it was, and is kept once.
func TestGroups(t *testing.T) {
	for text, group := range map[string][]mqs.Maybe[int32]{
		"": someRanks(), "0-3": someRanks(0, 1, 2, 3), "3,2,1,0": someRanks(3, 2, 1, 0), "7": someRanks(7), "0-1,?,?,5,9-10": someRanks(0, 1, -1, -1, 5, 9, 10),
	} {
		got, err := parseRanges(text, account(t, 7*memberSize))
		if rangesOf(group) != text || !slices.Equal(got, group) || err != nil {
			t.Errorf("%q: %q, %v, %v", text, rangesOf(group), got, err)
		}
	}
	for _, text := range []string{",", "1-", "-1", "3-1", "x", "0-4294967295", "0-7", "99999999999", "0 - 1", "+1", "?,?,?,?,?,?,?,?"} {
		if got, err := parseRanges(text, account(t, 7*memberSize)); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
	var all common
	first, err1 := all.group("0-2", account(t, 1000))
	second, err2 := all.group("0-2", account(t, 0))
	if err1 != nil || err2 != nil || !slices.Equal(first, someRanks(0, 1, 2)) || &first[0] != &second[0] {
		t.Error("a group is there twice")
	}
}

// TestForget checks that texts and groups are kept as long as each look has them, and at the expense of that look: otherwise a
// node that sends other ones in each look would use up the memory of a watch.
func TestForget(t *testing.T) {
	var p Parser
	of := func(text string) (group []mqs.Maybe[int32], spent int64) {
		a := account(t, 1000)
		group, err := p.common.group(text, a)
		if err != nil {
			t.Fatal(err)
		}
		return group, a.spent
	}
	first, spent := of("0-2")
	for range 3 {
		p.Forget()
		if again, spentAgain := of("0-2"); &again[0] != &first[0] || spentAgain != spent {
			t.Errorf("the group is made anew, or takes %d bytes, not %d", spentAgain, spent)
		}
	}
	p.Forget()
	p.Forget()
	if anew, _ := of("0-2"); &anew[0] == &first[0] || len(p.common.before) > 0 {
		t.Error("it is kept")
	}
}

// account is one with so many bytes left.
func account(t testing.TB, left int64) *Account {
	a := new(Budget).Account(t.Context())
	a.left = left
	return a
}
