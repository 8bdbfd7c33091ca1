package expect

// Claim is one job of the programs "right" and "hangs", and what must never be said of it.
type Claim struct {
	Program, Name string
	Ranks         int
	// Waits are the ranks that say that they wait, in that order.
	Waits []int
	// Held is true if rank 0 is stopped where it waits before the others go on.
	Held bool
	// Moves is true of a job that gets on all the time.
	Moves bool
	// Polls is the call in which rank 0 asks for ever, as the reason for the verdict has to say.
	Polls string
	// Acts is true if a thread outside MPI can act while others wait in MPI.
	Acts bool
	// InCores is true if core files of the job are looked at in the ordinary run, too.
	InCores bool
}

// The verdicts that are no claims: nothing is proved, but for what was looked at.
const (
	InTransit  = "deadlock unless in transit"
	HeldUp     = "held up"
	NoProgress = "no progress"
	Undecided  = "undecided"
)

// Claims are all of them.
var Claims = []Claim{
	{Program: "right", Name: "p2p", Ranks: 2, Waits: []int{0, 1}, Held: true, InCores: true},
	{Program: "right", Name: "comm", Ranks: 2, Waits: []int{0, 1}, Held: true},
	{Program: "right", Name: "win", Ranks: 2, Waits: []int{0, 1}, Held: true},
	{Program: "right", Name: "file", Ranks: 2, Waits: []int{0, 1}, Held: true},
	{Program: "right", Name: "disconnect", Ranks: 2, Waits: []int{0, 1}, Held: true},
	{Program: "right", Name: "nofree", Ranks: 2, Waits: []int{0, 1}, Held: true},
	{Program: "right", Name: "finalize", Ranks: 2, Waits: []int{0, 1}, Held: true},
	{Program: "right", Name: "tool", Ranks: 2, Waits: []int{0, 1}, Held: true},
	{Program: "right", Name: "spin", Ranks: 2, Waits: []int{0, 1}, Acts: true, InCores: true},
	{Program: "right", Name: "idle", Ranks: 2, Waits: []int{0, 1}, Acts: true},
	{Program: "right", Name: "join", Ranks: 2, Waits: []int{0, 1}, Acts: true},
	{Program: "right", Name: "timed", Ranks: 2, Waits: []int{0, 1}, Acts: true},
	{Program: "right", Name: "begun", Ranks: 2, Waits: []int{0, 1}},
	{Program: "right", Name: "nobody", Ranks: 3, Waits: []int{0, 1}},
	{Program: "right", Name: "sendall", Ranks: 4, Moves: true, InCores: true},
	{Program: "hangs", Name: "join", Ranks: 2, Waits: []int{0, 1}, InCores: true},
	{Program: "hangs", Name: "test", Ranks: 2, Waits: []int{0, 1}, Polls: "MPI_Test"},
	{Program: "hangs", Name: "improbe", Ranks: 2, Waits: []int{0, 1}, Polls: "MPI_Improbe"},
}

// Ends says whether the job ends by itself.
func (c *Claim) Ends() bool { return c.Program == "right" }

// Allows says whether a verdict may be given: "deadlock" of no job that ends by itself, "no
// deadlock" only of one that was seen to get on.
func (c *Claim) Allows(verdict string, seenToMove bool) bool {
	switch verdict {
	case Deadlock, InTransit:
		return verdict == InTransit || !c.Ends()
	case UnlessPollingEnds:
		return c.Polls != ""
	case UnlessThreadActs:
		return c.Acts
	case NoDeadlock:
		return seenToMove
	case HeldUp, NoProgress, Undecided, Unknown:
		return true
	}
	return false
}
