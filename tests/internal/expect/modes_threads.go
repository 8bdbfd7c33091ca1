package expect

// UnlessPollingEnds is the verdict on ranks that hang as long as they poll.
const UnlessPollingEnds = "deadlock unless polling ends"

// UnlessThreadActs is the verdict on ranks that hang unless one of their threads outside MPI calls MPI.
const UnlessThreadActs = "deadlock unless a thread acts"

// elsewhere is the state of ranks that wait for something besides MPI.
const elsewhere = "blocked outside MPI"

// threadModes are jobs whose threads wait outside of MPI.
func threadModes() []Mode {
	// What is told of a thread that waits outside of MPI needs nothing of the MPI.
	held := func(name, mark string) Mode {
		return Mode{
			Program: "threads", Name: name, Ranks: 2, Verdict: Deadlock,
			Deadlocks: all(2, 2), Waits: ring(2),
			Places: []Place{world("0-1", deadlocked, "MPI_Recv", mark)},
		}
	}
	unlessActs := func(name, mark string) Mode {
		m := held(name, mark)
		m.Verdict = UnlessThreadActs
		return m
	}
	return []Mode{
		held("mutex", "mutex"),
		held("rwlock", "rwlock"),
		{
			// The rank waits for itself: its threads have each other's locks.
			Program: "threads", Name: "crossed", Ranks: 2, Verdict: Deadlock,
			Deadlocks: []Ring{{[]int{0}, 1}}, Waits: map[int][]int{0: {0}},
			Places: []Place{
				{Ranks: "0", State: deadlocked, Mark: "crossed"},
				world("1", stuck, "MPI_Recv", "crossed-recv"),
			},
		},
		// Whoever gives the signal, or posts the semaphore, is a thread of the rank.
		held("condition", "condition"),
		held("semaphore", "condition"),
		{Program: "threads", Name: "flock", Ranks: 2, Verdict: Unknown, Places: []Place{{Ranks: "0-1", State: elsewhere}}},
		{Program: "threads", Name: "pipe", Ranks: 2, Verdict: Unknown, Places: []Place{{Ranks: "0-1", State: elsewhere}}},
		{Program: "threads", Name: "gpu", Ranks: 2, Verdict: HeldUp, Places: []Place{{Ranks: "0", State: elsewhere}, world("1", waiting, "MPI_Recv", "gpu-recv")}},
		{Program: "threads", Name: "team", Ranks: 2, Verdict: Deadlock, Deadlocks: all(2, 2), Waits: ring(2),
			Places: []Place{world("0-1", deadlocked, "MPI_Recv", "team")}},
		held("workers", "workers"),
		unlessActs("timer", "timer"),
		{Program: "threads", Name: "lock-computes", Ranks: 2, Verdict: Moves},
	}
}

// pollingModes are jobs whose ranks ask in a loop. What they ask about is known where the MPI's library, or what the
// call has left on its stack, tells: else nothing is claimed.
func pollingModes() []Mode {
	asking := func(name, call string) Mode {
		return Mode{
			Program: "polling", Name: name, Ranks: 2, Verdict: UnlessPollingEnds,
			Deadlocks: all(2, 2), Waits: ring(2),
			Places: []Place{{Ranks: "0-1", State: deadlocked, Call: call, Mark: name}},
		}
	}
	probing := func(name, call, other string, misses ...Miss) Mode {
		m := asking(name, call)
		m.Places = []Place{{Ranks: "0", State: deadlocked, Call: call, Mark: name}, {Ranks: "1", State: deadlocked, Call: "MPI_Recv", Mark: other}}
		m.Misses = misses
		return m
	}
	tag := Miss{"tag", []int{0, 1}}
	return []Mode{
		asking("test", "MPI_Test"),
		asking("testall", "MPI_Testall"),
		asking("testany", "MPI_Testany"),
		asking("testsome", "MPI_Testsome"),
		asking("get-status", "MPI_Request_get_status"),
		probing("iprobe", "MPI_Iprobe", "iprobe-recv", tag),
		probing("improbe", "MPI_Improbe", "improbe-recv", tag),
		{Program: "polling", Name: "sleepy", Ranks: 2, Verdict: Moves},
		{Program: "polling", Name: "win-test", Ranks: 2, Verdict: Moves},
		{Program: "polling", Name: "patient", Ranks: 2, Verdict: Moves},
		{Program: "polling", Name: "later", Ranks: 3, Verdict: NoProgress, Places: []Place{
			{Ranks: "0", State: running}, world("1", waiting, "MPI_Recv", "later-recv"), computing("2")}},
	}
}
