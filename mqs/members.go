package mqs

import "slices"

// Members are processes of a job: by their ranks or, where those are not known, by the debugger's numbers.
type Members struct {
	// Ranks are the global ranks, in order. A document has them as ranges: "0-3,6".
	Ranks []int32 `json:"ranks" document:"ranges"`
	// Inferiors are the debugger's numbers for the processes whose ranks are not known, in order.
	Inferiors []int32 `json:"inferiors" document:"min=0"`
}

// Add adds a process, once.
func (m *Members) Add(rank Maybe[int32], inferior int) {
	if rank.Known {
		m.Ranks = inserted(m.Ranks, rank.Value)
	} else {
		m.Inferiors = inserted(m.Inferiors, int32(inferior))
	}
}

// Len is the number of processes.
func (m *Members) Len() int { return len(m.Ranks) + len(m.Inferiors) }

// Compare orders members by the lowest rank of each. Those of which no rank is known come last.
func (m *Members) Compare(other *Members) int {
	if (len(m.Ranks) > 0) != (len(other.Ranks) > 0) {
		if len(m.Ranks) > 0 {
			return -1
		}
		return 1
	}
	if c := slices.Compare(m.Ranks, other.Ranks); c != 0 {
		return c
	}
	return slices.Compare(m.Inferiors, other.Inferiors)
}

// inserted puts a number into a list of numbers that are in order, unless it is there. The number is the
// largest as a rule.
func inserted(list []int32, n int32) []int32 {
	if len(list) == 0 || list[len(list)-1] < n {
		return append(list, n)
	}
	if i, found := slices.BinarySearch(list, n); !found {
		return slices.Insert(list, i, n)
	}
	return list
}
