package oracle

import (
	"math/rand/v2"
	"testing"
)

// No pairing costs less.
func TestAssign(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 0))
	for range 2000 {
		rows, columns := random.IntN(5), random.IntN(5)
		costs, alone := make([][]int, rows), random.IntN(10)
		for i := range costs {
			for range columns {
				costs[i] = append(costs[i], random.IntN(20))
			}
		}
		got, used := 0, map[int]bool{}
		for i, k := range assign(rows, columns, func(i, k int) int { return costs[i][k] }, func(int) int { return alone }, func(int) int { return alone }) {
			if k < 0 {
				got += alone
				continue
			}
			if used[k] {
				t.Fatalf("%v: a column has two rows", costs)
			}
			used[k] = true
			got += costs[i][k]
		}
		if got += alone * (columns - len(used)); got != least(costs, columns, alone, 0) {
			t.Fatalf("%v, alone %d: it costs %d, and could %d", costs, alone, got, least(costs, columns, alone, 0))
		}
	}
}

// least tries all pairings of the rows that are left with the columns that are not in a set.
func least(costs [][]int, columns, alone, taken int) int {
	if len(costs) == 0 {
		sum := 0
		for k := range columns {
			if taken&(1<<k) == 0 {
				sum += alone
			}
		}
		return sum
	}
	best := alone + least(costs[1:], columns, alone, taken)
	for k := range columns {
		if taken&(1<<k) == 0 {
			best = min(best, costs[0][k]+least(costs[1:], columns, alone, taken|1<<k))
		}
	}
	return best
}
