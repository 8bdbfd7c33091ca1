package expect

func mistakeModes() []Mode {
	return []Mode{
		{
			Program: "mistake", Name: "tag", Ranks: 2, Verdict: Deadlock,
			Deadlocks: all(2, 2), Waits: ring(2),
			Places: []Place{
				world("0", deadlocked, "MPI_Recv", "tag-recv"),
				world("1", deadlocked, "MPI_Ssend", "tag"),
			},
			Misses: []Miss{{"tag", []int{0, 1}}},
			Maybe:  neverToo,
		},
		{
			Program: "mistake", Name: "communicator", Ranks: 2, Verdict: Deadlock,
			Deadlocks: all(2, 2), Waits: ring(2),
			Places: []Place{
				on("left", "0", deadlocked, "MPI_Recv", "communicator-recv"),
				on("right", "1", deadlocked, "MPI_Ssend", "communicator"),
			},
			Misses: []Miss{{"communicator", []int{0, 1}}},
			Maybe:  neverToo,
		},
		{
			Program: "mistake", Name: "source", Ranks: 3, Verdict: Deadlock,
			Deadlocks: []Ring{{[]int{0, 1}, 2}}, Waits: ring(2),
			Places: []Place{
				world("0", deadlocked, "MPI_Recv", "source-recv"),
				world("1", deadlocked, "MPI_Recv", "source-other"),
				world("2", stuck, "MPI_Ssend", "source"),
			},
			Misses: []Miss{{"source", []int{0, 2}}},
			Maybe:  neverToo,
		},
		{
			Program: "mistake", Name: "never", Ranks: 3, Verdict: Deadlock,
			Deadlocks: []Ring{{[]int{0, 1}, 2}}, Waits: ring(2),
			Places: []Place{
				world("0-1", deadlocked, "MPI_Recv", "never-recv"),
				world("2", stuck, "MPI_Ssend", "never"),
			},
			Misses: []Miss{{"never received", []int{0, 2}}},
		},
		{
			Program: "mistake", Name: "never-small", Ranks: 3, Verdict: Deadlock,
			Deadlocks: []Ring{{[]int{0, 1}, 2}}, Waits: ring(2),
			Places: []Place{
				world("0-1", deadlocked, "MPI_Recv", "never-small"),
				computing("2"),
			},
			Misses: []Miss{{"never received", []int{0, 2}}},
		},
		{
			Program: "mistake", Name: "left", Ranks: 3, Verdict: Deadlock,
			Deadlocks: all(3, 2), Waits: map[int][]int{0: {2}, 1: {2}, 2: {0, 1}},
			Places: []Place{
				world("0-1", deadlocked, "MPI_Recv", "left"),
				on("", "2", deadlocked, "MPI_Finalize", "left-finalize"),
			},
			Misses: []Miss{{"peer left", []int{0, 2}}, {"peer left", []int{1, 2}}},
		},
		{
			// No circle, and yet nobody will ever release them.
			Program: "mistake", Name: "gone", Ranks: 3, Verdict: Deadlock,
			Deadlocks: []Ring{{[]int{0, 1}, 0}}, Waits: map[int][]int{0: {2}},
			Places: []Place{
				world("0-1", deadlocked, "MPI_Recv", "gone"),
				{Ranks: "2", State: ended},
			},
			Misses: []Miss{{"peer left", []int{0, 2}}, {"peer left", []int{1, 2}}},
		},
		{
			Program: "mistake", Name: "truncation", Ranks: 2, Verdict: NoProgress,
			Places: []Place{
				on("", "0", waiting, "MPI_Waitall", "truncation"),
				computing("1"),
			},
			Misses: []Miss{{"truncation", []int{0, 1}}},
		},
	}
}

func movingModes() []Mode {
	return []Mode{
		{
			Program: "moving", Name: "slow", Ranks: 4, Verdict: HeldUp,
			Places: []Place{
				computing("0"),
				world("1", waiting, "MPI_Recv", "slow-recv"),
				world("2-3", waiting, "MPI_Barrier", "slow"),
			},
		},
		{
			Program: "moving", Name: "below", Ranks: 2, Verdict: NoProgress,
			Places: []Place{computing("0-1")},
		},
		{
			Program: "moving", Name: "wildcard", Ranks: 3, Verdict: HeldUp,
			Places: []Place{world("0-1", waiting, "MPI_Recv", "wildcard"), computing("2")},
		},
		oneMoves("waitany", on("", "0", waiting, "MPI_Waitany", "waitany"), "waitany-recv"),
		oneMoves("waitsome", on("", "0", waiting, "MPI_Waitsome", "waitsome"), "waitany-recv"),
		oneMoves("probe", world("0", waiting, "MPI_Probe", "probe"), "probe-recv"),
		{
			// A thread of rank 0 computes, and sends one day.
			Program: "moving", Name: "thread", Ranks: 2, Verdict: UnlessThreadActs,
			Deadlocks: all(2, 2), Waits: ring(2),
			Places: []Place{world("0-1", deadlocked, "MPI_Recv", "thread")},
		},
		{
			// Rank 0 may look for something else one day.
			Program: "moving", Name: "polling", Ranks: 2, Verdict: UnlessPollingEnds,
			Deadlocks: all(2, 2), Waits: ring(2),
			Places: []Place{world("0", deadlocked, "MPI_Iprobe", "polling"), world("1", deadlocked, "MPI_Recv", "polling-recv")},
		},
		{Program: "moving", Name: "flood", Ranks: 2, Verdict: Moves},
		{Program: "moving", Name: "left-behind", Ranks: 2, Verdict: Moves},
		{Program: "moving", Name: "pingpong", Ranks: 2, Verdict: Moves},
		{Program: "moving", Name: "exchange", Ranks: 3, Verdict: Moves},
		{Program: "moving", Name: "collectives", Ranks: 3, Verdict: Moves},
	}
}

// oneMoves is that rank 0 waits for either of the others, of which rank 2 computes.
func oneMoves(name string, first Place, mark string) Mode {
	return Mode{
		Program: "moving", Name: name, Ranks: 3, Verdict: HeldUp,
		Places: []Place{first, world("1", waiting, "MPI_Recv", mark), computing("2")},
	}
}
