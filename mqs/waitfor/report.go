// Package waitfor analyses the ranks of a job together: which rank waits for which, at which
// call, whether the waiting can end, and which messages and receives miss each other.
package waitfor

import (
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/stacks"
)

// Verdict says whether the job hangs by its own doing.
type Verdict string

// The verdicts. Deadlocked, HeldUp and NoDeadlock are claims, and each has its proof; DeadlockedUnless is
// proved but for what it names.
const (
	// Deadlocked is proved, some ranks can never go on, whatever is unknown or in transit.
	Deadlocked Verdict = "deadlock"
	// DeadlockedUnless is proved but for one thing: a message to these ranks may have been in transit
	// when they were stopped, since no count of messages shows that there was none.
	DeadlockedUnless Verdict = "deadlock unless in transit"
	// DeadlockedUnlessPollingEnds is proved but for one thing: ranks poll, and their program may leave the loop by
	// itself, as after a time, or ask for something else.
	DeadlockedUnlessPollingEnds Verdict = "deadlock unless polling ends"
	// DeadlockedUnlessThreadActs is proved but for one thing: ranks have threads outside of MPI, which may call MPI by
	// themselves.
	DeadlockedUnlessThreadActs Verdict = "deadlock unless a thread acts"
	// HeldUp is proved: no rank that waits in MPI can be released before some rank acts that is outside MPI, can't run or accesses other
	// ranks' memory in a loop. It claims nothing about whether that rank ever does. Where messages are not counted, one that is stuck in
	// transit can't be seen, and the report says so.
	HeldUp Verdict = "held up"
	// NoDeadlock is the verdict on a job that was seen to get on between two looks, of which all that
	// matters is known, and of which nothing proves a deadlock; on one that gets on and of which each rank that may
	// have hung at one look had left its call by a later one; and on a job that is over.
	NoDeadlock Verdict = "no deadlock"
	// NoProgress is the verdict where all that matters is known and nothing proves a deadlock, but
	// nothing moved between the looks.
	NoProgress Verdict = "no progress"
	// Undecided is the same after a single look, which can't tell whether the job gets on.
	Undecided Verdict = "undecided"
	// Unknown is the verdict where something that matters is not known.
	Unknown Verdict = "unknown"
)

// Report is the result of an analysis. Ranks are global ranks.
type Report struct {
	// Verdict says whether the job hangs by its own doing. [Deadlocked], [HeldUp] and [NoDeadlock] are claims.
	Verdict Verdict `json:"verdict"`
	// Why is a sentence or two: what the verdict rests on or, if it is [Unknown], what is missing.
	Why string `json:"why"`
	// NotJoined is the beginning of Why if ranks did not join their launcher's job: which ones, and the reason; empty otherwise.
	NotJoined string `json:"-"`
	// Moving is true if another look may show more. Messages were on their way, or may have been,
	// or a rank stood where its call does not show what it waits for.
	Moving bool `json:"-"`
	// GetsOn is true if some rank has got on since the look before.
	GetsOn bool `json:"-"`
	// Open are the processes that may hang for all that is known, by process id; nil if others may hang too.
	Open map[int]*mqs.Process `json:"-"`
	// WorldSize is the number of ranks in the job.
	WorldSize mqs.Maybe[int32] `json:"world_size" document:"min=0"`
	// Deadlocks are independent of each other. The one with the lowest rank is first. If the verdict
	// is [DeadlockedUnless], [DeadlockedUnlessPollingEnds] or [DeadlockedUnlessThreadActs], they are proved on that condition.
	Deadlocks []Deadlock `json:"deadlocks" document:"line"`
	// Groups hold all ranks, those in the same state and place together, ordered by the lowest rank.
	Groups []Group `json:"groups" document:"line"`
	// Edges say which group waits for which.
	Edges []Edge `json:"-"`
	// NearMisses are what looks like the program's mistakes, ordered by the lowest rank.
	NearMisses []NearMiss `json:"near_misses" document:"line"`
	// Missing are the ranks of the job of which nothing is known, in order.
	Missing []Missing `json:"missing" document:"line,ranks=missing_ranks"`
	// Ranks are the processes that were read, by global rank.
	Ranks []Rank `json:"-"`
	// Threads are the processes that were read, by global rank, each with its threads.
	Threads []RankThreads `json:"ranks" document:"line"`
	// Looks is how often the ranks were looked at for their stacks; null if nobody has asked for these.
	Looks int `json:"looks" document:"line,null,min=1"`
	// Stacks are the frames of the tree that the ranks' stacks make, as [stacks.Tree] has them.
	Stacks []stacks.Frame `json:"stacks" document:"line,null"`
	// Unstacked are the ranks whose stacks are not known.
	Unstacked []stacks.Unread `json:"unstacked" document:"line,null"`
	// Notes are sentences on what is doubtful.
	Notes []string `json:"notes" document:"line,rows"`
}

// SetStacks adds the tree of the ranks' stacks.
func (r *Report) SetStacks(t *stacks.Tree) {
	r.Looks, r.Stacks, r.Unstacked = t.Looks, t.Frames, t.Unread
}

// Tree is the tree of the ranks' stacks, nil if nobody has asked for it.
func (r *Report) Tree() *stacks.Tree {
	if r.Looks == 0 {
		return nil
	}
	return &stacks.Tree{Looks: r.Looks, Frames: r.Stacks, Unread: r.Unstacked}
}

// Deadlock is a set of ranks that only other ranks of the set can release. Ranks that wait for a
// rank that is gone are one too: their [Deadlock.Cycle] is then the single wait of the lowest rank.
type Deadlock struct {
	// Ranks are those of the set, in order.
	Ranks []int32 `json:"ranks" document:"min=0"`
	// Cycle is a smallest cycle among these ranks, beginning with its lowest rank: each rank waits
	// for the next, and the last one for the first.
	Cycle []Wait `json:"cycle"`
}

// Wait says that a rank waits for another.
type Wait struct {
	Rank int32 `json:"rank" document:"min=0"`
	// For is the other rank.
	For int32 `json:"waits_for" document:"min=0"`
	// Operation describes what waits: "receive from rank 1, tag 7, on \"halo exchange\"".
	Operation string `json:"operation" document:"null"`
	// Class is the queue of the operation; unknown for a collective.
	Class mqs.Maybe[mqs.OpClass] `json:"queue"`
	// Call is the MPI function: "MPI_Recv".
	Call string `json:"call" document:"null"`
	// Function is the program's function that has made the call.
	Function string `json:"function" document:"null"`
	// File is its source, as the compiler was given it.
	File string `json:"file" document:"null"`
	// Line is where in the file the call is.
	Line int `json:"line" document:"null,min=1"`
	// Callers are the functions through which the program has come to a call that a wrapper has made.
	Callers []mqs.Caller `json:"callers" document:"omit,max=3"`
}

// State is what a rank does.
type State string

// The states.
const (
	InDeadlock State = "deadlocked"   // is in a [Deadlock]
	Stuck      State = "stuck"        // waits for ranks that are in a deadlock, or that are gone
	Waiting    State = "waiting"      // waits for ranks that can still move
	Running    State = "running"      // is in no call that waits
	Ended      State = "ended"        // has left MPI or is gone
	Unreadable State = "not readable" // its queues can't be read
	Uncertain  State = "not known"    // whether it can move is not known
	// BlockedOutside is outside of MPI, where it waits for a lock, a file, a GPU or something else.
	BlockedOutside State = "blocked outside MPI"
	// Stopped is stopped by a signal such as SIGSTOP, and in no deadlock.
	Stopped State = "stopped"
)

// Group is a set of ranks that are at the same place in the same state. What is not the same for all
// of them is not known.
type Group struct {
	// Ranks are in order. A document has them as ranges: "0-3,6".
	Ranks []int32 `json:"ranks" document:"ranges"`
	State State   `json:"state"`
	// Call is the MPI function: "MPI_Barrier".
	Call string `json:"call" document:"null"`
	// Communicator is its label: its name or, if it has none, whose it is.
	Communicator string `json:"communicator" document:"null"`
	// Function is the program's own function that they are in.
	Function string `json:"function" document:"null"`
	// File is its source, as the compiler was given it.
	File string `json:"file" document:"null"`
	// Line is that of the call, or where the ranks are.
	Line int `json:"line" document:"null,min=1"`
	// Callers are the functions through which the program has come to a call that a wrapper has made.
	Callers []mqs.Caller `json:"callers" document:"omit,max=3"`
	// Text is the place in one line, without the ranks: "MPI_Barrier on MPI_COMM_WORLD at solver.c:88".
	Text string `json:"text"`
}

// Edge says that ranks of one group wait for ranks of another.
type Edge struct {
	From, To int // indices into Groups
	// Class is the queue of the operations; unknown for collectives.
	Class mqs.Maybe[mqs.OpClass]
	// Count is the number of pairs of ranks that it stands for.
	Count int
	// InCycle is true if it is part of the cycle that explains a deadlock.
	InCycle bool
	// Text describes the wait: "tag 7 on \"halo exchange\"".
	Text string
}

// Kind says in what respect a message and a receive, or two calls, miss each other.
type Kind string

// The kinds of near misses.
const (
	OtherTag          Kind = "tag"            // they differ in the tag only
	OtherSource       Kind = "source"         // they differ in the source only
	OtherCommunicator Kind = "communicator"   // they differ in the communicator only
	Truncation        Kind = "truncation"     // a message longer than the receive that it matches
	PeerLeft          Kind = "peer left"      // a receive from, or a send to, a rank that has finalized or exited
	NeverReceived     Kind = "never received" // a send that nobody will receive
	OtherCollective   Kind = "collective"     // members of a communicator are in different collectives
	LibraryFault      Kind = "library"        // a receive and a message match, and the library leaves both
	NotStarted        Kind = "not started"    // a persistent request that would meet an operation is not started
)

// Mismatch says why members of a communicator do not meet in a collective call.
type Mismatch string

// The mismatches.
const (
	NotEntered         Mismatch = "not-entered"         // a member waits elsewhere, or is gone
	DifferentCall      Mismatch = "different-call"      // members are in different calls
	DifferentRoot      Mismatch = "different-root"      // they give different roots
	DifferentSize      Mismatch = "different-size"      // they give data of different lengths
	DifferentDatatype  Mismatch = "different-datatype"  // they give different predefined datatypes
	DifferentOperation Mismatch = "different-operation" // they give different predefined operations of a reduction
	DifferentOrder     Mismatch = "different-order"     // they are in calls on two communicators, in different order
)

// NearMiss is something that looks like the program's mistake.
type NearMiss struct {
	Kind Kind `json:"kind"`
	// Text is one sentence with the ranks and lines of both sides.
	Text string `json:"text"`
	// Ranks are those concerned, in order.
	Ranks []int32 `json:"ranks" document:"min=0"`
	// Mismatch is why members of a communicator do not meet in a collective call.
	Mismatch Mismatch `json:"mismatch" document:"null"`
	// Culprits are the ranks that do otherwise than most members, or that are missing; nil if neither side
	// is most of the members.
	Culprits []int32 `json:"culprits" document:"null,min=0"`
}

// Missing is a rank of which nothing is known.
type Missing struct {
	Rank int32 `json:"rank" document:"min=0"`
	// Why is a clause that says why, if that is known.
	Why string `json:"why" document:"null"`
}

// Rank is one process of the job.
type Rank struct {
	Rank    int32
	Group   int // index into Groups
	Process *mqs.Process
}
