package expect

func endsModes() []Mode {
	return []Mode{
		{
			Program: "ends", Name: "intercomm-tags", Ranks: 4, Verdict: Deadlock,
			Deadlocks: []Ring{{[]int{0, 2}, 2}}, Waits: map[int][]int{0: {2}, 2: {0}},
			Places: []Place{
				world("0,2", deadlocked, "MPI_Intercomm_create", "intercomm"),
				on("half", "1,3", stuck, "MPI_Intercomm_create", "intercomm"),
			},
			Misses: []Miss{{"tag", []int{0, 2}}, {"tag", []int{0, 2}}},
		},
		{
			Program: "ends", Name: "intercomm-leader", Ranks: 4, Verdict: Deadlock,
			Deadlocks: []Ring{{[]int{0, 2}, 2}}, Waits: map[int][]int{0: {2}, 2: {0}},
			Places: []Place{
				world("0", deadlocked, "MPI_Intercomm_create", "intercomm"),
				world("2", deadlocked, "MPI_Recv", "intercomm-leader"),
				on("half", "1,3", stuck, "MPI_Intercomm_create", "intercomm"),
			},
			// The message by which the other leader begins is there.
			Misses: []Miss{{"tag", []int{0, 2}}},
		},
		{Program: "ends", Name: "intercomm-late", Ranks: 4, Verdict: Moves},
		{
			Program: "ends", Name: "group", Ranks: 3, Verdict: Deadlock,
			Deadlocks: []Ring{{[]int{0, 1}, 2}}, Waits: ring(2),
			Places: []Place{
				world("0", deadlocked, "MPI_Comm_create_group", "group"),
				world("1", deadlocked, "MPI_Recv", "group-recv"),
				computing("2"),
			},
		},
		{Program: "ends", Name: "group-late", Ranks: 3, Verdict: Moves},
		{
			Program: "ends", Name: "inactive", Ranks: 2, Verdict: Deadlock,
			Deadlocks: all(2, 2), Waits: ring(2),
			Places: []Place{world("0-1", deadlocked, "MPI_Recv", "inactive")},
			Misses: []Miss{{"not started", []int{0, 1}}},
		},
		{Program: "ends", Name: "inactive-late", Ranks: 2, Verdict: Moves},
		{
			Program: "ends", Name: "mprobe", Ranks: 2, Verdict: Deadlock,
			Deadlocks: all(2, 2), Waits: ring(2),
			Places: []Place{
				world("0", deadlocked, "MPI_Mprobe", "mprobe"),
				world("1", deadlocked, "MPI_Recv", "mprobe-recv"),
			},
			Misses: []Miss{{"tag", []int{0, 1}}},
		},
		{
			Program: "ends", Name: "detach", Ranks: 2, Verdict: Deadlock,
			Deadlocks: all(2, 2), Waits: ring(2),
			Places: []Place{
				world("0", deadlocked, "MPI_Buffer_detach", "detach"),
				world("1", deadlocked, "MPI_Recv", "detach-recv"),
			},
			Misses: []Miss{{"tag", []int{0, 1}}},
			Maybe:  neverToo,
		},
		{Program: "ends", Name: "detach-late", Ranks: 2, Verdict: Moves},
		{
			Program: "ends", Name: "disconnect", Ranks: 2, Verdict: Deadlock, Dynamic: true,
			Deadlocks: all(2, 2), Waits: ring(2),
			Places: []Place{
				on("copy", "0", deadlocked, "MPI_Comm_disconnect", "disconnect"),
				on("copy", "1", deadlocked, "MPI_Recv", "disconnect-recv"),
			},
		},
		{
			// Anybody may yet connect.
			Program: "ends", Name: "accept", Ranks: 2, Verdict: Unknown, Dynamic: true,
			Places: []Place{
				on("", "0", waiting, "MPI_Comm_accept", "accept"),
				world("1", waiting, "MPI_Recv", "accept-recv"),
			},
		},
		{Program: "ends", Name: "accept-late", Ranks: 2, Verdict: Moves, Dynamic: true},
		{
			// What is spawned may yet call MPI_Init, as far as the job itself tells.
			Program: "ends", Name: "spawn-never", Ranks: 2, Verdict: Unknown, Dynamic: true,
			Places: []Place{
				on("", "0", waiting, "MPI_Comm_spawn", "spawn"),
				world("1", waiting, "MPI_Comm_spawn", "spawn"),
			},
		},
		{
			// The child is a job of its own.
			Program: "ends", Name: "spawn-ring", Ranks: 2, Verdict: Unknown, Dynamic: true,
			Places: []Place{on("children", "0-1", waiting, "MPI_Recv", "spawn-recv")},
		},
	}
}
