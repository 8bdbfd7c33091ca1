package expect

// Mismatch is one of a collective that a near miss names, with the ranks that do otherwise than most.
type Mismatch struct {
	Name     string
	Culprits []int
	// Maybe is true if it is what calls were given, which not every library tells.
	Maybe bool
}

func mismatchModes() []Mode {
	return []Mode{
		{
			Program: "mismatch", Name: "culprit", Ranks: 4, Verdict: Deadlock,
			Deadlocks: all(4, 2), Waits: map[int][]int{0: {1}, 1: {0, 2, 3}, 2: {1}, 3: {1}},
			Places: []Place{
				world("1", deadlocked, "MPI_Barrier", "culprit-barrier"),
				world("0,2-3", deadlocked, "MPI_Allreduce", "culprit"),
			},
			Misses:     []Miss{{"collective", []int{0, 1, 2, 3}}},
			Mismatches: []Mismatch{{Name: "different-call", Culprits: []int{1}}},
		},
		reduceMode("operation"),
		reduceMode("datatype"),
		reduceMode("length"),
		{
			Program: "mismatch", Name: "missing", Ranks: 4, Verdict: Deadlock,
			Deadlocks: []Ring{{[]int{0, 2}, 2}}, Waits: map[int][]int{0: {2}, 2: {0}},
			Places: []Place{
				world("2", deadlocked, "MPI_Recv", "missing-recv"),
				world("0", deadlocked, "MPI_Barrier", "missing"),
				world("1,3", stuck, "MPI_Barrier", "missing"),
			},
			Misses:     []Miss{{"collective", []int{0, 1, 2, 3}}},
			Mismatches: []Mismatch{{Name: "not-entered", Culprits: []int{2}}},
		},
	}
}

// reduceMode is that both ranks are in MPI_Reduce, each as its root, and give something else differently.
func reduceMode(name string) Mode {
	mismatch := map[string]string{"operation": "different-operation", "datatype": "different-datatype", "length": "different-size"}[name]
	return Mode{
		Program: "mismatch", Name: name, Ranks: 2, Verdict: Deadlock,
		Deadlocks:  all(2, 2),
		Waits:      ring(2),
		Places:     []Place{world("0-1", deadlocked, "MPI_Reduce", "reduce")},
		Maybe:      []string{"collective"},
		Mismatches: []Mismatch{{Name: "different-root", Maybe: true}, {Name: mismatch, Maybe: true}},
	}
}
