package layout

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Nearest returns the tables in the order in which they are tried on a library of a release: those of its own series before
// the others. Of each, its own release and earlier ones come first, the latest first, then later ones, the earliest first.
func Nearest(tables []*Table, version string) []*Table {
	of := release(version)
	// Lower ranks are tried first: 1 for another series, 1 for a later release, and the release's numbers, which are negative
	// up to the library's own.
	rank := func(t *Table) []int {
		r := release(t.Release)
		isOther := 0
		if !slices.Equal(r[:2], of[:2]) {
			isOther = 1
		}
		if slices.Compare(r, of) <= 0 {
			return []int{isOther, 0, -r[0], -r[1], -r[2]}
		}
		return []int{isOther, 1, r[0], r[1], r[2]}
	}
	out := slices.Clone(tables)
	slices.SortStableFunc(out, func(a, b *Table) int { return slices.Compare(rank(a), rank(b)) })
	return out
}

// release returns the numbers of a release's name, such as "4.1.4" or "Open MPI 6.0.0rc2". A name without numbers is
// later than all.
func release(name string) []int {
	out := make([]int, 3)
	if n, _ := fmt.Sscanf(name[max(0, strings.IndexAny(name, "0123456789")):], "%d.%d.%d", &out[0], &out[1], &out[2]); n == 0 {
		return []int{math.MaxInt, 0, 0}
	}
	return out
}
