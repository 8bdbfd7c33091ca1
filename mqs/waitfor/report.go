// Package waitfor looks at the ranks of a job together: who waits for whom, at
// which call, whether that can come to an end, and which messages miss each other.
package waitfor

import "github.com/mpi-queues/mpi-queues/mqs"

// Verdict is whether the job hangs in itself.
type Verdict string

// The verdicts. The first and the third are claims, each of which has its proof.
const (
	// Deadlocked is proved, some ranks can never go on, whatever is unknown or in transit.
	Deadlocked Verdict = "deadlock"
	// DeadlockedUnless is proved but for a message that may have been in transit to them when
	// they were stopped, since no count of messages shows that there was none.
	DeadlockedUnless Verdict = "deadlock unless in transit"
	// Free is a job that has been seen to get on between two looks, and of which all that
	// matters is known and nothing proves a deadlock, or one that is over.
	Free Verdict = "no deadlock"
	// NoProgress is one of which all that matters is known and nothing proves a deadlock, but
	// in which nothing has moved between the looks.
	NoProgress Verdict = "no progress"
	// Undecided is the same after one look, which can't tell whether the job gets on.
	Undecided Verdict = "undecided"
	// Unknown is one of which something that matters is not known.
	Unknown Verdict = "unknown"
)

// Report is what there is to say of a job. Ranks are global ones.
type Report struct {
	// Verdict is whether the job hangs in itself. Only [Deadlocked] and [Free] are claims.
	Verdict Verdict `json:"verdict"`
	// Why is a sentence or two: what the verdict rests on or, of one that is [Unknown], what is
	// missing for it.
	Why string `json:"why"`
	// Moving is true if another look may show more. Messages were on their way, or may have been,
	// or a rank stood where its call does not show what it waits for.
	Moving bool `json:"-"`
	// WorldSize is how many ranks the job has.
	WorldSize mqs.Maybe[int32] `json:"world_size" document:"min=0"`
	// Deadlocks are independent of each other, that with the lowest rank first. If the verdict
	// is [DeadlockedUnless], they are proved on that condition.
	Deadlocks []Deadlock `json:"deadlocks" document:"line"`
	// Groups are all ranks, those at the same place in the same state together, by their lowest
	// rank.
	Groups []Group `json:"groups" document:"line"`
	// Edges are which group waits for which.
	Edges []Edge `json:"-"`
	// NearMisses are what looks like the program's mistake, by lowest rank.
	NearMisses []NearMiss `json:"near_misses" document:"line"`
	// Missing are the ranks of the job that nothing is known of, in order.
	Missing []Missing `json:"missing" document:"line,ranks=missing_ranks"`
	// Ranks are the processes that were looked at, by rank, in the job's numbering.
	Ranks []Rank `json:"-"`
	// Notes are sentences on what is doubtful.
	Notes []string `json:"notes" document:"line,rows"`
}

// Deadlock is a set of ranks each of which can be released by others of the set
// only, or ranks that wait for one that is gone, which is as final: its [Deadlock.Cycle] is
// then the one wait of the lowest rank for that one.
type Deadlock struct {
	// Ranks are those of the set, in order.
	Ranks []int32 `json:"ranks" document:"min=0"`
	// Cycle is a smallest one among them, beginning with its lowest rank: each
	// waits for the next one, and the last for the first.
	Cycle []Wait `json:"cycle"`
}

// Wait is that a rank waits for another.
type Wait struct {
	Rank int32 `json:"rank" document:"min=0"`
	// For is the other rank.
	For int32 `json:"waits_for" document:"min=0"`
	// Operation is what it waits with, in words: "receive from rank 1, tag 7, on \"halo exchange\"".
	Operation string `json:"operation" document:"null"`
	// Class is the queue of the operation; not known for a collective.
	Class mqs.Maybe[mqs.OpClass] `json:"queue"`
	// Call is the MPI function: "MPI_Recv".
	Call string `json:"call" document:"null"`
	// Function is the program's function that has made the call.
	Function string `json:"function" document:"null"`
	// File is its source, as the compiler was given it.
	File string `json:"file" document:"null"`
	// Line is where in the file the call is.
	Line int `json:"line" document:"null,min=1"`
}

// State is what a rank does.
type State string

// The states.
const (
	InDeadlock State = "deadlocked"   // in a [Deadlock]
	Stuck      State = "stuck"        // waits for ranks that are in one, or that are gone
	Waiting    State = "waiting"      // waits for ranks that can still move
	Running    State = "running"      // is in no call that waits
	Ended      State = "ended"        // has left MPI or is gone
	Unreadable State = "not readable" // its queues can't be read
	Uncertain  State = "not known"    // whether it can move is not known
)

// Group is ranks that are at the same place in the same state. What is not the same for all is
// not known.
type Group struct {
	// Ranks are in order. A document has them as ranges: "0-3,6".
	Ranks []int32 `json:"ranks" document:"ranges"`
	State State   `json:"state"`
	// Call is the MPI function: "MPI_Barrier".
	Call string `json:"call" document:"null"`
	// Communicator is its name or, if it has none, whose it is.
	Communicator string `json:"communicator" document:"null"`
	// Function is the program's own function that they are in.
	Function string `json:"function" document:"null"`
	// File is its source, as the compiler was given it.
	File string `json:"file" document:"null"`
	// Line is that of the call, or where the ranks are.
	Line int `json:"line" document:"null,min=1"`
	// Text says it in a line, without the ranks: "MPI_Barrier on MPI_COMM_WORLD at solver.c:88".
	Text string `json:"text"`
}

// Edge is that ranks of one group wait for ranks of another.
type Edge struct {
	From, To int // places in Groups
	// Class is the queue of the operations; unknown for collectives.
	Class mqs.Maybe[mqs.OpClass]
	// Count is how many pairs of ranks it stands for.
	Count int
	// InCycle is true if it is part of the cycle that explains a deadlock.
	InCycle bool
	// Text says it in a few words: "tag 7 on \"halo exchange\"".
	Text string
}

// Kind is in what respect two sides miss each other.
type Kind string

// The kinds of near misses.
const (
	OtherTag          Kind = "tag"            // the same but for the tag
	OtherSource       Kind = "source"         // the same but for the source
	OtherCommunicator Kind = "communicator"   // the same but for the communicator
	Truncation        Kind = "truncation"     // a message longer than the receive that it matches
	PeerLeft          Kind = "peer left"      // a receive from, or a send to, a rank that has finalized or exited
	NeverReceived     Kind = "never received" // a send that nobody will receive
	OtherCollective   Kind = "collective"     // members of a communicator are in different collectives
)

// NearMiss is one thing that looks like the program's mistake.
type NearMiss struct {
	// Kind is in what respect two sides miss each other.
	Kind Kind `json:"kind"`
	// Text is one sentence with both sides' ranks and lines.
	Text string `json:"text"`
	// Ranks are those concerned, in order.
	Ranks []int32 `json:"ranks" document:"min=0"`
}

// Missing is a rank that nothing is known of.
type Missing struct {
	Rank int32 `json:"rank" document:"min=0"`
	// Why is a clause that says why not, if that is known.
	Why string `json:"why" document:"null"`
}

// Rank is one process of the job.
type Rank struct {
	Rank    int32
	Group   int // place in Groups
	Process *mqs.Process
}
