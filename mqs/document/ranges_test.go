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
		got, err := parseRanges(text, 7)
		if rangesOf(group) != text || !slices.Equal(got, group) || err != nil {
			t.Errorf("%q: %q, %v, %v", text, rangesOf(group), got, err)
		}
	}
	for _, text := range []string{",", "1-", "-1", "3-1", "x", "0-4294967295", "0-7", "99999999999", "0 - 1", "+1", "?,?,?,?,?,?,?,?"} {
		if got, err := parseRanges(text, 7); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
	var all groups
	left := 5
	first, err1 := all.of("0-2", &left)
	second, err2 := all.of("0-2", &left)
	if err1 != nil || err2 != nil || !slices.Equal(first, someRanks(0, 1, 2)) || &first[0] != &second[0] {
		t.Error("a group is there twice")
	}
	if _, err := all.of("3-5", &left); err == nil {
		t.Error("there is no bound")
	}
	another := 3
	if _, err := all.of("3-5", &another); err != nil {
		t.Error("one document uses up what another one needs: ", err)
	}
}
