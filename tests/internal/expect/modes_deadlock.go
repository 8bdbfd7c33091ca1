package expect

// A send that is part of a circle is received by nobody, which the circle says;
// to say it once more is allowed.
var neverToo = []string{"never received"}

func deadlockModes() []Mode {
	return []Mode{
		{
			Program: "deadlock", Name: "send-ring", Ranks: 3, Verdict: Deadlock,
			Deadlocks: all(3, 3), Waits: ring(3),
			Places: []Place{world("0-2", deadlocked, "MPI_Send", "send-ring")},
			Maybe:  neverToo,
		},
		{
			Program: "deadlock", Name: "recv-ring", Ranks: 3, Verdict: Deadlock,
			Deadlocks: all(3, 3), Waits: ring(3),
			Places: []Place{world("0-2", deadlocked, "MPI_Recv", "recv-ring")},
		},
		{
			Program: "deadlock", Name: "head-to-head", Ranks: 2, Verdict: Deadlock,
			Deadlocks: all(2, 2), Waits: ring(2),
			Places: []Place{world("0-1", deadlocked, "MPI_Send", "head-to-head")},
			Maybe:  neverToo,
		},
		{
			Program: "deadlock", Name: "ssend-self", Ranks: 2, Verdict: Deadlock,
			Deadlocks: []Ring{{[]int{0}, 1}}, Waits: map[int][]int{0: {0}},
			Places: []Place{
				world("0", deadlocked, "MPI_Ssend", "ssend-self"),
				world("1", stuck, "MPI_Recv", "ssend-self-recv"),
			},
			Maybe: neverToo,
		},
		{
			Program: "deadlock", Name: "two", Ranks: 6, Verdict: Deadlock,
			Deadlocks: []Ring{{[]int{0, 1}, 2}, {[]int{2, 3}, 2}},
			Waits:     map[int][]int{0: {1}, 1: {0}, 2: {3}, 3: {2}},
			Places: []Place{
				world("0-1", deadlocked, "MPI_Send", "two-send"),
				world("2-3", deadlocked, "MPI_Recv", "two-recv"),
				world("4-5", stuck, "MPI_Recv", "two-stuck"),
			},
			Maybe: neverToo,
		},
		{
			Program: "deadlock", Name: "probe-ring", Ranks: 3, Verdict: Deadlock,
			Deadlocks: all(3, 3), Waits: ring(3),
			Places: []Place{
				world("0", deadlocked, "MPI_Probe", "probe-ring-probe"),
				world("1", deadlocked, "MPI_Mprobe", "probe-ring-mprobe"),
				world("2", deadlocked, "MPI_Recv", "probe-ring-recv"),
			},
		},
		{
			Program: "deadlock", Name: "sendrecv", Ranks: 3, Verdict: Deadlock,
			Deadlocks: all(3, 3), Waits: ring(3),
			Places: []Place{world("0-2", deadlocked, "MPI_Sendrecv", "sendrecv")},
			// The receive of 1 and the message of 0, and so on.
			Misses: []Miss{{"source", []int{0, 1}}, {"source", []int{1, 2}}, {"source", []int{0, 2}}},
			Maybe:  neverToo,
		},
		{
			Program: "deadlock", Name: "persistent", Ranks: 2, Verdict: Deadlock,
			Deadlocks: all(2, 2), Waits: ring(2),
			Places: []Place{on("", "0-1", deadlocked, "MPI_Wait", "persistent")},
		},
		{
			Program: "deadlock", Name: "waitall-ring", Ranks: 3, Verdict: Deadlock,
			Deadlocks: all(3, 2), Waits: each(3),
			Places: []Place{on("", "0-2", deadlocked, "MPI_Waitall", "waitall-ring")},
			Misses: []Miss{{"tag", []int{0, 1}}, {"tag", []int{1, 2}}, {"tag", []int{0, 2}}},
			Maybe:  neverToo,
		},
		{
			Program: "deadlock", Name: "waitall-one", Ranks: 3, Verdict: Deadlock,
			Deadlocks: []Ring{{[]int{0, 1}, 2}}, Waits: ring(2),
			Places: []Place{
				on("", "0", deadlocked, "MPI_Waitall", "waitall-one"),
				world("1", deadlocked, "MPI_Recv", "waitall-one-recv"),
				computing("2"),
			},
		},
		anyOrSome("waitany", "MPI_Waitany"),
		anyOrSome("waitsome", "MPI_Waitsome"),
		{
			Program: "deadlock", Name: "wildcard", Ranks: 3, Verdict: Deadlock,
			Deadlocks: all(3, 2), Waits: map[int][]int{0: {1, 2}, 1: {0}, 2: {0}},
			Places: []Place{world("0-2", deadlocked, "MPI_Recv", "wildcard")},
		},
		{
			Program: "deadlock", Name: "split", Ranks: 5, Verdict: Deadlock,
			Deadlocks: []Ring{{[]int{0, 2, 4}, 3}}, Waits: map[int][]int{0: {4}, 4: {2}, 2: {0}},
			Places: []Place{
				on("half", "0,2,4", deadlocked, "MPI_Recv", "split"),
				computing("1,3"),
			},
		},
		{
			Program: "deadlock", Name: "inter", Ranks: 4, Verdict: Deadlock,
			Deadlocks: all(4, 4), Waits: map[int][]int{0: {3}, 3: {1}, 1: {2}, 2: {0}},
			Places: []Place{on("between", "0-3", deadlocked, "MPI_Recv", "inter")},
		},
		{
			// Which of rank 0's two calls is the one to show is not certain.
			Program: "deadlock", Name: "threads", Ranks: 2, Verdict: Deadlock,
			Deadlocks: all(2, 2), Waits: ring(2),
			Places: []Place{world("0-1", deadlocked, "MPI_Recv", "threads")},
		},
	}
}

func anyOrSome(name, call string) Mode {
	return Mode{
		Program: "deadlock", Name: name, Ranks: 3, Verdict: Deadlock,
		Deadlocks: all(3, 2), Waits: map[int][]int{0: {1, 2}, 1: {0}, 2: {0}},
		Places: []Place{
			on("", "0", deadlocked, call, name),
			world("1-2", deadlocked, "MPI_Recv", "waitany-recv"),
		},
	}
}

func collectiveModes() []Mode {
	return []Mode{
		{
			Program: "collective", Name: "barrier-allreduce", Ranks: 4, Verdict: Deadlock,
			Deadlocks: all(4, 2), Waits: map[int][]int{0: {2, 3}, 1: {2, 3}, 2: {0, 1}, 3: {0, 1}},
			Places: []Place{
				world("0-1", deadlocked, "MPI_Barrier", "barrier-allreduce-barrier"),
				world("2-3", deadlocked, "MPI_Allreduce", "barrier-allreduce"),
			},
			Misses:     []Miss{{"collective", []int{0, 1, 2, 3}}},
			Mismatches: []Mismatch{{Name: "different-call"}},
		},
		{
			Program: "collective", Name: "barrier-bcast", Ranks: 3, Verdict: Deadlock,
			Deadlocks: all(3, 2), Waits: map[int][]int{0: {1, 2}, 1: {0}, 2: {0}},
			Places: []Place{
				world("0", deadlocked, "MPI_Barrier", "barrier-bcast-barrier"),
				world("1-2", deadlocked, "MPI_Bcast", "barrier-bcast"),
			},
			Misses:     []Miss{{"collective", []int{0, 1, 2}}},
			Mismatches: []Mismatch{{Name: "different-call", Culprits: []int{0}}},
		},
		{
			Program: "collective", Name: "barrier-recv", Ranks: 3, Verdict: Deadlock,
			Deadlocks: []Ring{{[]int{0, 1}, 2}}, Waits: ring(2),
			Places: []Place{
				world("0", deadlocked, "MPI_Recv", "barrier-recv-recv"),
				world("1", deadlocked, "MPI_Barrier", "barrier-recv"),
				world("2", stuck, "MPI_Barrier", "barrier-recv"),
			},
			Misses:     []Miss{{"collective", []int{0, 1, 2}}},
			Mismatches: []Mismatch{{Name: "not-entered", Culprits: []int{0}}},
		},
		{
			Program: "collective", Name: "often", Ranks: 3, Verdict: Deadlock,
			Deadlocks: []Ring{{[]int{0, 1}, 2}}, Waits: ring(2),
			Places: []Place{
				world("0", deadlocked, "MPI_Recv", "often-recv"),
				world("1", deadlocked, "MPI_Barrier", "often"),
				world("2", stuck, "MPI_Barrier", "often"),
			},
			Misses:     []Miss{{"collective", []int{0, 1, 2}}},
			Mismatches: []Mismatch{{Name: "not-entered", Culprits: []int{0}}},
		},
		{
			Program: "collective", Name: "roots", Ranks: 3, Verdict: Deadlock,
			Deadlocks: []Ring{{[]int{0, 1}, 2}}, Waits: ring(2),
			Places: []Place{
				world("0-1", deadlocked, "MPI_Bcast", "roots"),
				world("2", stuck, "MPI_Bcast", "roots"),
			},
			// That the roots differ would be good to say, and needs not be.
			Maybe:      []string{"collective"},
			Mismatches: []Mismatch{{Name: "different-root", Culprits: []int{0}, Maybe: true}},
		},
		{
			Program: "collective", Name: "gather", Ranks: 3, Verdict: Deadlock,
			Deadlocks: []Ring{{[]int{0, 1}, 2}}, Waits: ring(2),
			Places: []Place{
				world("0", deadlocked, "MPI_Gather", "gather"),
				world("1", deadlocked, "MPI_Recv", "gather-recv"),
				computing("2"),
			},
		},
		{
			Program: "collective", Name: "crossed", Ranks: 2, Verdict: Deadlock,
			Deadlocks: all(2, 2), Waits: ring(2),
			Places: []Place{
				on("first", "0", deadlocked, "MPI_Barrier", "crossed"),
				on("second", "1", deadlocked, "MPI_Barrier", "crossed"),
			},
			Misses:     []Miss{{"collective", []int{0, 1}}},
			Mismatches: []Mismatch{{Name: "different-order"}},
		},
		{
			Program: "collective", Name: "copy", Ranks: 2, Verdict: Deadlock,
			Deadlocks: all(2, 2), Waits: ring(2),
			Places: []Place{
				world("0", deadlocked, "MPI_Comm_dup", "copy"),
				world("1", deadlocked, "MPI_Barrier", "copy-barrier"),
			},
			Misses:     []Miss{{"collective", []int{0, 1}}},
			Mismatches: []Mismatch{{Name: "different-call"}},
		},
		{
			Program: "collective", Name: "ibarrier", Ranks: 2, Verdict: Deadlock,
			Deadlocks: all(2, 2), Waits: ring(2),
			Places: []Place{
				world("0", deadlocked, "MPI_Wait", "ibarrier"),
				world("1", deadlocked, "MPI_Recv", "ibarrier-recv"),
			},
		},
		{
			Program: "collective", Name: "part", Ranks: 5, Verdict: Deadlock,
			Deadlocks: []Ring{{[]int{1, 4}, 2}}, Waits: map[int][]int{1: {4}, 4: {1}},
			Places: []Place{
				on("part", "1", deadlocked, "MPI_Barrier", "part"),
				on("part", "4", deadlocked, "MPI_Recv", "part-recv"),
				on("part", "3", stuck, "MPI_Barrier", "part"),
				computing("0,2"),
			},
			Misses:     []Miss{{"collective", []int{1, 3, 4}}},
			Mismatches: []Mismatch{{Name: "not-entered", Culprits: []int{4}}},
		},
	}
}
