// Package across puts side by side what the ranks of a job do and what values they have.
package across

import "github.com/mpi-queues/mpi-queues/mqs"

// Ranks is where the ranks of a job are.
type Ranks struct {
	// Ranks are those of the job, in order. Processes whose rank is not known come last.
	Ranks []Rank `json:"ranks" document:"line"`
}

// Rank is one rank of a job, or a process whose rank is not known.
type Rank struct {
	// Rank is its rank in MPI_COMM_WORLD.
	Rank mqs.Maybe[int32] `json:"rank"`
	// Inferior is the debugger's number for it; unknown of one that the debugger does not have.
	Inferior mqs.Maybe[int] `json:"inferior"`
	// Selected is true of the one that the debugger's user has selected.
	Selected bool `json:"selected"`
	// Host is the name of the host that it is on, null for the debugger's.
	Host string `json:"host" document:"null"`
	// PID is its process id on that host.
	PID int `json:"pid" document:"null,min=1"`
	// State is what the debugger knows of it.
	State State `json:"state"`
	// Reason is why it is in that state: "breakpoint 2", "SIGSEGV".
	Reason string `json:"reason" document:"null"`
	// ExitCode is the one that it has exited with.
	ExitCode mqs.Maybe[int] `json:"exit_code"`
	// Thread is the debugger's number of the thread that the place is of.
	Thread mqs.Maybe[int] `json:"thread"`
	// Call is the MPI function that the thread is inside, in its plain C name: "MPI_Recv".
	Call string `json:"call" document:"null"`
	// Activity is what the thread does, if it is known to be in no MPI call.
	Activity mqs.Activity `json:"activity" document:"null"`
	// Function is the program's own function: the one that has made the call, or in which the thread is.
	Function string `json:"function" document:"null"`
	// File is its source, as the compiler was given it.
	File string `json:"file" document:"null"`
	// Line is where in the file the call is, or the thread.
	Line int `json:"line" document:"null,min=1"`
	// Callers are the functions through which the program has come to a call that a wrapper has made.
	Callers []mqs.Caller `json:"callers" document:"omit,max=3"`
	// Unplaced is why a stopped process has no place, as a sentence.
	Unplaced string `json:"unplaced" document:"null"`
}

// State is what a debugger knows of a rank.
type State string

// The states of a rank.
const (
	Stopped State = "stopped"      // the debugger has stopped it
	Running State = "running"      // it runs under the debugger
	Core    State = "core"         // the debugger has its core file
	Exited  State = "exited"       // it has ended
	Away    State = "not attached" // the debugger does not have it
)

// At puts a rank where a thread is.
func (r *Rank) At(t *mqs.Thread) {
	r.Thread = mqs.Known(t.Number)
	r.Call, r.Activity, r.Function, r.File, r.Line, r.Callers = t.Call, t.Activity, t.Function, t.File, t.Line, t.Callers
}
