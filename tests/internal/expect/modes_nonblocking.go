package expect

// nonBlockingModes are ranks that wait for collectives that others have not entered, and others of which none is stuck.
func nonBlockingModes() []Mode {
	return []Mode{
		{
			Program: "nonblocking", Name: "iallreduce", Ranks: 3, Verdict: Deadlock,
			Deadlocks: []Ring{{[]int{0, 2}, 2}}, Waits: map[int][]int{0: {2}, 2: {0}},
			Places: []Place{
				world("0", deadlocked, "MPI_Wait", "iallreduce"),
				world("1", stuck, "MPI_Wait", "iallreduce"),
				world("2", deadlocked, "MPI_Recv", "iallreduce-recv"),
			},
		},
		{
			Program: "nonblocking", Name: "ibcast", Ranks: 3, Verdict: Deadlock,
			Deadlocks: []Ring{{[]int{0, 2}, 2}}, Waits: map[int][]int{0: {2}, 2: {0}},
			Places: []Place{
				world("0", deadlocked, "MPI_Wait", "ibcast"),
				world("1", stuck, "MPI_Wait", "ibcast"),
				world("2", deadlocked, "MPI_Recv", "ibcast-recv"),
			},
		},
		{
			Program: "nonblocking", Name: "igather", Ranks: 3, Verdict: Deadlock,
			Deadlocks: []Ring{{[]int{0, 1}, 2}}, Waits: ring(2),
			Places: []Place{
				world("0", deadlocked, "MPI_Wait", "igather"),
				world("1", deadlocked, "MPI_Recv", "igather-recv"),
				computing("2"),
			},
		},
		{
			Program: "nonblocking", Name: "ialltoall", Ranks: 3, Verdict: Deadlock,
			Deadlocks: []Ring{{[]int{1, 2}, 2}}, Waits: map[int][]int{1: {2}, 2: {1}},
			Places: []Place{
				on("copy", "0", stuck, "MPI_Wait", "ialltoall"),
				on("copy", "1", deadlocked, "MPI_Recv", "ialltoall-recv"),
				on("copy", "2", deadlocked, "MPI_Wait", "ialltoall"),
			},
		},
		{
			Program: "nonblocking", Name: "icross", Ranks: 2, Verdict: Deadlock,
			Deadlocks: all(2, 2), Waits: ring(2),
			Places: []Place{
				world("0", deadlocked, "MPI_Recv", "cross-recv"),
				world("1", deadlocked, "MPI_Wait", "cross"),
			},
		},
		{
			Program: "nonblocking", Name: "icrossed", Ranks: 2, Verdict: Deadlock,
			Deadlocks: all(2, 2), Waits: ring(2),
			Places: []Place{
				on("first", "0", deadlocked, "MPI_Wait", "icrossed"),
				on("second", "1", deadlocked, "MPI_Wait", "icrossed"),
			},
		},
		{
			Program: "nonblocking", Name: "second", Ranks: 3, Verdict: Deadlock,
			Deadlocks: []Ring{{[]int{0, 1}, 2}}, Waits: ring(2),
			Places: []Place{
				world("0", deadlocked, "MPI_Waitall", "second"),
				world("1", deadlocked, "MPI_Recv", "second-recv"),
				world("2", stuck, "MPI_Waitall", "second"),
			},
		},
		{
			Program: "nonblocking", Name: "iwaitany", Ranks: 2, Verdict: Deadlock,
			Deadlocks: all(2, 2), Waits: ring(2),
			Places: []Place{
				world("0", deadlocked, "MPI_Waitany", "iwaitany"),
				world("1", deadlocked, "MPI_Recv", "iwaitany-recv"),
			},
		},
		{
			Program: "nonblocking", Name: "init", Ranks: 2, Verdict: Deadlock,
			Deadlocks: all(2, 2), Waits: ring(2),
			Places: []Place{
				world("0", deadlocked, "MPI_Wait", "init"),
				world("1", deadlocked, "MPI_Recv", "init-recv"),
			},
		},
		{
			// A member may wait for its messages on the communicator of its own group, where they are not looked for.
			Program: "nonblocking", Name: "iinter", Ranks: 3, Verdict: Deadlock,
			Deadlocks: []Ring{{[]int{0, 2}, 2}}, Waits: map[int][]int{0: {2}, 2: {0}},
			Places: []Place{
				on("between", "0", deadlocked, "MPI_Wait", "iinter"),
				on("between", "1", stuck, "MPI_Wait", "iinter"),
				world("2", deadlocked, "MPI_Recv", "iinter-recv"),
			},
			OrUnknown: true,
		},
		{
			// The request of the call is none of a collective, though it leads to one.
			Program: "nonblocking", Name: "idup", Ranks: 2, Verdict: Deadlock,
			Deadlocks: all(2, 2), Waits: ring(2),
			Places: []Place{
				world("0", deadlocked, "MPI_Wait", "idup"),
				world("1", deadlocked, "MPI_Recv", "idup-recv"),
			},
			OrUnknown: true,
		},
		{
			Program: "nonblocking", Name: "neighbours", Ranks: 3, Verdict: Deadlock,
			Deadlocks: []Ring{{[]int{0, 2}, 2}}, Waits: map[int][]int{0: {2}, 2: {0}},
			Places: []Place{
				on("circle", "0", deadlocked, "MPI_Wait", "neighbours"),
				on("circle", "1", stuck, "MPI_Wait", "neighbours"),
				on("circle", "2", deadlocked, "MPI_Recv", "neighbours-recv"),
			},
		},
		{
			Program: "nonblocking", Name: "neighbour", Ranks: 3, Verdict: Deadlock,
			Deadlocks: []Ring{{[]int{0, 2}, 2}}, Waits: map[int][]int{0: {2}, 2: {0}},
			Places: []Place{
				on("circle", "0", deadlocked, "MPI_Neighbor_alltoall", "neighbour"),
				on("circle", "1", stuck, "MPI_Neighbor_alltoall", "neighbour"),
				on("circle", "2", deadlocked, "MPI_Recv", "neighbour-recv"),
			},
		},
		// Nobody is stuck in these. How far a member has come with a collective is not known everywhere.
		{
			Program: "nonblocking", Name: "late", Ranks: 3, Verdict: HeldUp, OrUnknown: true,
			Places: []Place{world("0,2", waiting, "MPI_Wait", "late"), computing("1")},
		},
		{
			Program: "nonblocking", Name: "elsewhere", Ranks: 3, Verdict: HeldUp, OrUnknown: true,
			Places: []Place{
				world("0", waiting, "MPI_Wait", "elsewhere"),
				world("1", waiting, "MPI_Recv", "elsewhere-recv"),
				computing("2"),
			},
		},
		{
			Program: "nonblocking", Name: "weak", Ranks: 3, Verdict: HeldUp, OrUnknown: true,
			Places: []Place{computing("0-1"), world("2", waiting, "MPI_Wait", "weak")},
		},
		{Program: "nonblocking", Name: "many-collectives", Ranks: 3, Verdict: Moves},
		{Program: "nonblocking", Name: "barriers", Ranks: 3, Verdict: Moves},
		{Program: "nonblocking", Name: "ahead", Ranks: 3, Verdict: Moves},
	}
}
