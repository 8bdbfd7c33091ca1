package expect

// ghost is the label of the window of most modes.
const ghost = `window "ghost cells"`

// oneSidedModes are those of one-sided communication, with an MPI whose calls wait for a lock or for a post.
func oneSidedModes() []Mode {
	pair := func(name string, places ...Place) Mode {
		return Mode{Program: "onesided", Name: name, Ranks: 2, Verdict: Deadlock, Deadlocks: all(2, 2), Waits: ring(2), Places: places}
	}
	slow := func(name string, places ...Place) Mode {
		return Mode{Program: "onesided", Name: name, Ranks: 2, Verdict: HeldUp, Places: places}
	}
	moves := func(name string, ranks int) Mode {
		return Mode{Program: "onesided", Name: name, Ranks: ranks, Verdict: Moves}
	}
	locking := func(ranks, state string) Place { return on(ghost, ranks, state, "MPI_Win_lock", "lock") }
	fence := pair("fence", on(ghost, "0", deadlocked, "MPI_Win_fence", "fence"), world("1", deadlocked, "MPI_Barrier", "fence-barrier"))
	fence.Misses, fence.Mismatches = []Miss{{"collective", []int{0, 1}}}, []Mismatch{{Name: "different-order"}}
	return []Mode{
		pair("held", world("0", deadlocked, "MPI_Recv", "held-recv"), locking("1", deadlocked)),
		{
			Program: "onesided", Name: "held-elsewhere", Ranks: 3, Verdict: Deadlock,
			Deadlocks: []Ring{{[]int{1, 2}, 2}}, Waits: map[int][]int{1: {2}, 2: {1}},
			Places: []Place{
				world("0", stuck, "MPI_Recv", "held-elsewhere"),
				locking("1", deadlocked),
				world("2", deadlocked, "MPI_Recv", "held-elsewhere"),
			},
		},
		pair("two-windows",
			on(`window "right"`, "0", deadlocked, "MPI_Win_lock", "lock"),
			on(`window "left"`, "1", deadlocked, "MPI_Win_lock", "lock")),
		pair("two-targets", locking("0-1", deadlocked)),
		pair("all-held", world("0", deadlocked, "MPI_Recv", "all-held"), locking("1", deadlocked)),
		pair("all-wanted",
			world("0", deadlocked, "MPI_Recv", "all-wanted"),
			on(ghost, "1", deadlocked, "MPI_Win_lock_all", "lock-all")),
		{
			Program: "onesided", Name: "other-group", Ranks: 3, Verdict: Deadlock,
			Deadlocks: all(3, 3), Waits: ring(3),
			Places: []Place{
				on(ghost, "0", deadlocked, "MPI_Win_wait", "other-group-wait"),
				on(ghost, "1", deadlocked, "MPI_Win_start", "other-group"),
				world("2", deadlocked, "MPI_Recv", "other-group-recv"),
			},
		},
		pair("both-start", on(ghost, "0-1", deadlocked, "MPI_Win_start", "both-start")),
		pair("no-complete",
			on(ghost, "0", deadlocked, "MPI_Win_wait", "no-complete"),
			world("1", deadlocked, "MPI_Recv", "no-complete-recv")),
		pair("no-start",
			on(ghost, "0", deadlocked, "MPI_Win_wait", "no-start"),
			world("1", deadlocked, "MPI_Recv", "no-start-recv")),
		pair("both-wait", on(ghost, "0-1", deadlocked, "MPI_Win_wait", "both-wait")),
		fence,
		pair("fence-missing",
			on(ghost, "0", deadlocked, "MPI_Win_fence", "fence-missing"),
			world("1", deadlocked, "MPI_Recv", "fence-missing-recv")),
		pair("free-missing",
			on(ghost, "0", deadlocked, "MPI_Win_free", "free-missing"),
			world("1", deadlocked, "MPI_Recv", "free-missing-recv")),
		slow("long-held", computing("0"), locking("1", waiting)),
		slow("slow-target", computing("0"), on(ghost, "1", waiting, "MPI_Win_start", "slow-target")),
		slow("slow-origin", computing("0"), on(ghost, "1", waiting, "MPI_Win_wait", "slow-origin")),
		moves("contention", 3),
		moves("neighbours", 3),
		moves("only-accesses", 2),
	}
}

// Late is the same mode with an MPI that goes on without a lock or a post, and waits in the call that needs it. For
// the lock of its own memory a rank waits at once.
func (m *Mode) Late() *Mode {
	out := *m
	out.Places = nil
	for _, p := range m.Places {
		isOwn := m.Name == "two-windows" && p.Ranks == "0" || m.Name == "all-wanted"
		switch {
		case p.Call == "MPI_Win_lock" && !isOwn:
			p.Call, p.Mark = "MPI_Win_flush", "flush"
		case p.Call == "MPI_Win_start":
			p.Call, p.Mark = "MPI_Win_complete", p.Mark+"-complete"
		}
		out.Places = append(out.Places, p)
	}
	return &out
}
