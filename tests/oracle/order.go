package oracle

import (
	"slices"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
)

// misplaced returns the fewest operations without which the others are in order. MPI has no order between
// sends to different destinations, between messages from different sources, or between the starts of
// partitioned operations, which match when they are made.
func misplaced(queue string, want []expect.Object, to map[int]int) []int {
	lines := map[string][]int{}
	for i := range want {
		if _, ok := to[i]; ok && !isPartitioned(want[i]) {
			peer := ""
			if queue != "pending_receives" {
				peer = show(want[i]["desired_local_rank"])
			}
			lines[peer] = append(lines[peer], i)
		}
	}
	var out []int
	for _, line := range lines {
		out = append(out, outOfOrder(want, line, to)...)
	}
	slices.Sort(out)
	return out
}

// outOfOrder returns the operations outside of the rising sequence with the most pending operations; of
// several such sequences, the longest one counts. Not all libraries keep the place of an operation that
// has matched.
func outOfOrder(want []expect.Object, line []int, to map[int]int) []int {
	weight, before := make([]int, len(line)), make([]int, len(line))
	best := -1
	for i, n := range line {
		before[i] = -1
		for k := range i {
			if to[line[k]] < to[n] && weight[k] > weight[i] {
				weight[i], before[i] = weight[k], k
			}
		}
		weight[i]++
		if want[n]["status"] == "pending" {
			weight[i] += len(line)
		}
		if best < 0 || weight[i] > weight[best] {
			best = i
		}
	}
	in := map[int]bool{}
	for i := best; i >= 0; i = before[i] {
		in[i] = true
	}
	var out []int
	for i, n := range line {
		if !in[i] {
			out = append(out, n)
		}
	}
	return out
}
