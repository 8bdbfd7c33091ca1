package expect

import (
	"os"
	"slices"
	"strings"
)

// Mode is one job of the programs that are made of modes (tests/programs/modes.h),
// and the report that there must be of it, whatever the MPI.
type Mode struct {
	Program, Name string
	Ranks         int
	Verdict       string
	Deadlocks     []Ring
	// Places are where all ranks are.
	Places []Place
	// Waits are for which ranks a rank waits, of those that are deadlocked.
	Waits map[int][]int
	// Misses are the near misses; of the kinds in Maybe there may be others.
	Misses []Miss
	Maybe  []string
	// Mismatches are those of collectives that near misses name.
	Mismatches []Mismatch
	// OrUnknown is true if "unknown" is right too, OrInTransit if a deadlock may be proved but
	// for a message in transit.
	OrUnknown, OrInTransit bool
	// OrUnproved is true if what a rank asks about in a loop may not be known, so that nothing is claimed.
	OrUnproved bool
	// OrNotHeldUp is true if it may not be provable that ranks are held up, as where the MPI does not count messages.
	OrNotHeldUp bool
	// Dynamic is true if it has to do with another job, or parts with a communicator: not every MPI can
	// do the one, nor waits in the other.
	Dynamic bool
}

// Ring is a deadlock: its ranks, and how many a smallest circle of them has. A
// Length of 0 is none: the lowest rank waits for one that is gone.
type Ring struct {
	Ranks  []int
	Length int
}

// Place is ranks in one state, in a call on the line of a mark. Without a call
// only the state is certain.
type Place struct {
	Ranks, State, Call, Mark string
	// Comm is the communicator's name, empty if the call has none.
	Comm string
}

// Miss is a near miss.
type Miss struct {
	Kind  string
	Ranks []int
}

// The verdicts.
const (
	Deadlock   = "deadlock"
	NoDeadlock = "no deadlock"
	Unknown    = "unknown"
	Moves      = "moves" // in the table only: the job runs, and anything but "deadlock" may be said of it
)

// The states.
const (
	deadlocked = "deadlocked"
	stuck      = "stuck"
	waiting    = "waiting"
	running    = "running"
	ended      = "ended"
)

// Modes are all of them.
var Modes = slices.Concat(deadlockModes(), collectiveModes(), mistakeModes(), movingModes(), mismatchModes(), nonBlockingModes(),
	threadModes(), pollingModes(), endsModes(), oneSidedModes(), fileModes())

// Unknowable is the same mode with an MPI that does not tell who waits for whom:
// only where the ranks are is certain.
func (m *Mode) Unknowable() *Mode {
	out := &Mode{Program: m.Program, Name: m.Name, Ranks: m.Ranks, Verdict: Unknown}
	for _, p := range m.Places {
		p.State, p.Comm = "", ""
		out.Places = append(out.Places, p)
	}
	return out
}

// Once is the same mode after one look, with an MPI that counts messages or with one that
// does not: what is proved by a second look is not, then.
func (m *Mode) Once(counted bool) *Mode {
	once := *m
	switch m.Verdict {
	case UnlessPollingEnds: // one look shows no loop
		once = *m.Unproved()
		once.Verdict = Undecided
	case NoProgress:
		once.Verdict = Undecided
	case Deadlock: // the system call of a thread is not known of a core file
		if name := m.Program + " " + m.Name; name == "threads condition" || name == "threads semaphore" {
			once.Verdict = UnlessThreadActs
		}
	}
	once.OrInTransit, once.OrNotHeldUp = !counted, once.OrNotHeldUp || !counted
	return &once
}

// Uncounted is the same mode with an MPI that does not count messages: what a rank, or a thread of it, that is outside
// of MPI has sent before may be in transit, and what one has that waits for a window or a file.
func (m *Mode) Uncounted() *Mode {
	out := *m
	out.OrNotHeldUp = true
	out.OrInTransit = m.OrInTransit || m.Program == "onesided" || m.Program == "files"
	switch m.Program + " " + m.Name {
	case "nonblocking igather", "threads mutex", "threads rwlock", "threads team", "threads condition", "threads semaphore", "ends detach":
		out.OrInTransit = true
	case "threads crossed":
		out.Places = slices.Clone(m.Places)
		out.Places[1].State = waiting
	}
	return &out
}

// Unproved is a mode in which ranks poll, of which nothing is claimed.
func (m *Mode) Unproved() *Mode {
	out := m.Unknowable()
	out.Verdict, out.Maybe = NoProgress, []string{"tag", "source", "communicator", "never received"}
	return out
}

// OverLibfabric is the same mode over libfabric's rxm, which counts nothing of its messages at all, and keeps nothing of
// what calls ask about: every deadlock is one unless a message was in transit, but for that of a rank with itself. What
// waits for that rank may have been sent its message. How far calls have come that exchange messages of the library's
// own is not known. Two ranks are connected by the first call that sends, which stays while the other rank computes.
func (m *Mode) OverLibfabric() *Mode {
	out := m.Uncounted().ProbedInVain()
	out.OrInTransit = true
	switch m.Program + " " + m.Name {
	case "deadlock ssend-self":
		out.Places = slices.Clone(m.Places)
		out.Places[1].State = waiting
	case "ends group", "ends detach", "ends disconnect", "ends intercomm-tags", "ends intercomm-leader":
		out.OrUnknown = true
	case "moving slow": // what a rank sends to one that it is not connected with yet is nowhere
		out.OrUnknown, out.Places = true, slices.Clone(m.Places)
		out.Places[2].Comm = ""
	case "mistake truncation":
		out.Places, out.Misses = []Place{computing("0"), computing("1")}, nil
	case "nonblocking late":
		out.Places = []Place{computing("0"), computing("1"), world("2", waiting, "MPI_Wait", "late")}
	}
	return out
}

// ProbedInVain is the same mode with a transport, or an MPI, that keeps nothing of what calls ask about.
func (m *Mode) ProbedInVain() *Mode {
	out := *m
	out.OrUnproved = m.Verdict == UnlessPollingEnds
	return &out
}

// Polls reports whether ranks of the mode ask in a loop. Where in it a report meets them is chance.
func (m *Mode) Polls() bool { return m.Program == "polling" }

// Find returns the mode of a program.
func Find(program, name string) *Mode {
	for i := range Modes {
		if m := &Modes[i]; m.Program == program && m.Name == name {
			return m
		}
	}
	return nil
}

// Marks returns the lines of a C source whose comments end in "@" and a name.
func Marks(path string) (map[string]int, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	lines := map[string]int{}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		if _, mark, ok := strings.Cut(strings.TrimSpace(line), "/* @"); ok {
			lines[strings.TrimSuffix(mark, " */")] = number
		}
	}
	return lines, nil
}

// world is ranks in a call on MPI_COMM_WORLD.
func world(ranks, state, call, mark string) Place {
	return Place{ranks, state, call, mark, "MPI_COMM_WORLD"}
}

// on is ranks in a call on another communicator, or on none ("").
func on(comm, ranks, state, call, mark string) Place { return Place{ranks, state, call, mark, comm} }

// computing is ranks that can move.
func computing(ranks string) Place { return Place{Ranks: ranks, State: running} }

// ring says that each of size ranks waits for the next one.
func ring(size int) map[int][]int {
	waits := map[int][]int{}
	for i := range size {
		waits[i] = []int{(i + 1) % size}
	}
	return waits
}

// each says that of size ranks each waits for all others.
func each(size int) map[int][]int {
	waits := map[int][]int{}
	for i := range size {
		for k := range size {
			if k != i {
				waits[i] = append(waits[i], k)
			}
		}
	}
	return waits
}

// all are the ranks of one deadlock of all ranks.
func all(size, length int) []Ring {
	r := Ring{Length: length}
	for i := range size {
		r.Ranks = append(r.Ranks, i)
	}
	return []Ring{r}
}
