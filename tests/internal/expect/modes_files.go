package expect

// fileModes are those of calls on files. A file's name is that of a folder that differs from run to run.
func fileModes() []Mode {
	// The data of rank 2 goes to rank 1, and with it to rank 0: how, is the library's.
	missing := Mode{
		Program: "files", Name: "missing", Ranks: 3, Verdict: Deadlock,
		Deadlocks: all(3, 3), Waits: map[int][]int{0: {1, 2}, 1: {0, 2}, 2: {0}},
		Places: []Place{on("", "0-1", deadlocked, "MPI_File_write_all", "missing"), world("2", deadlocked, "MPI_Recv", "missing-recv")},
	}
	closes := Mode{
		Program: "files", Name: "closes", Ranks: 3, Verdict: Deadlock,
		Deadlocks: all(3, 2), Waits: map[int][]int{0: {1, 2}, 1: {0, 2}, 2: {0, 1}},
		Places:     []Place{on("", "0-1", deadlocked, "MPI_File_write_all", "closes"), on("", "2", deadlocked, "MPI_File_close", "closes-close")},
		Misses:     []Miss{{"collective", []int{0, 1, 2}}},
		Mismatches: []Mismatch{{Name: "different-call", Culprits: []int{2}}},
	}
	return []Mode{
		missing, closes,
		{
			Program: "files", Name: "close-missing", Ranks: 2, Verdict: Deadlock,
			Deadlocks: all(2, 2), Waits: ring(2),
			Places: []Place{on("", "0", deadlocked, "MPI_File_close", "close-missing"), world("1", deadlocked, "MPI_Recv", "close-missing-recv")},
		},
		{Program: "files", Name: "slow", Ranks: 3, Verdict: Moves},
		{Program: "files", Name: "turns", Ranks: 3, Verdict: Moves},
	}
}
