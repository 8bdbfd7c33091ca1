package waitfor

import (
	"github.com/mpi-queues/mpi-queues/mqs"
)

// RankThreads lists the threads of a rank.
type RankThreads struct {
	Rank int32 `json:"rank" document:"min=0"`
	// PID is the rank's process id, 0 where there is none, as in some core files.
	PID int `json:"pid"`
	// Threads are its first thread, those in MPI calls or in the program's own code, and those
	// that are not placed. Threads that libraries use for themselves are left out. Null if unknown.
	Threads []ThreadPlace `json:"threads" document:"null"`
}

// ThreadPlace is where a thread of a rank is, and whether it matters for a deadlock.
type ThreadPlace struct {
	// Number is the debugger's number of the thread.
	Number int `json:"number"`
	// CanAct is true if the thread may call MPI by itself, and so release its rank or another one: a deadlock of these
	// is then reported only on the condition that it does not. It is false of a thread that waits in an MPI call or for
	// another thread of its process, and of one that may not call MPI while another one is in an MPI call.
	CanAct mqs.Maybe[bool] `json:"can_act"`
	// Call is the MPI function that the thread is in: "MPI_Recv". Null outside MPI or if unknown.
	Call string `json:"call" document:"null"`
	// Activity is what a thread outside MPI does. Null if unknown.
	Activity mqs.Activity `json:"activity" document:"null"`
	// WaitsFor is the number of the thread of the same process for which this thread waits outside MPI.
	WaitsFor mqs.Maybe[int] `json:"waits_for_thread"`
	// BlockedIn is the function or the system call in which it waits outside MPI.
	BlockedIn string `json:"blocked_in" document:"null"`
	// BlockedOn is the file of that system call.
	BlockedOn string `json:"blocked_on" document:"null"`
	// Function is the program's function that has made the call, or that the thread is in.
	Function string `json:"function" document:"null"`
	// File is its source, as the compiler was given it.
	File string `json:"file" document:"null"`
	// Line is where in the file the call is, or the thread.
	Line int `json:"line" document:"null,min=1"`
	// Object is the path of the library that the function is in. The program's own have none.
	Object string `json:"object" document:"null"`
	// Callers are the functions between the program and a call made by a wrapper library.
	Callers []mqs.Caller `json:"callers" document:"omit,max=3"`
}

// byRank returns the processes of a snapshot by their ranks.
func byRank(s *mqs.Snapshot) map[int32]*mqs.Process {
	out := make(map[int32]*mqs.Process, len(s.Processes))
	for _, p := range s.Processes {
		if rank := p.GlobalRank; rank.Known && out[rank.Value] == nil {
			out[rank.Value] = p
		}
	}
	return out
}

// threadsOf lists the threads of the ranks of a report, as their processes have them.
func threadsOf(byRank map[int32]*mqs.Process, ranks []Rank) []RankThreads {
	out := make([]RankThreads, 0, len(ranks))
	for _, r := range ranks {
		p := byRank[r.Rank]
		of := RankThreads{Rank: r.Rank, PID: p.PID}
		if p.Threads != nil {
			of.Threads = make([]ThreadPlace, 0, len(p.Threads))
		}
		blocked := isBlockedInCall(p)
		for i := range p.Threads {
			t := &p.Threads[i]
			place := ThreadPlace{Number: t.Number, CanAct: mayAct(p, t, blocked), Call: t.Call, Activity: t.Activity, BlockedIn: t.BlockedIn, BlockedOn: t.BlockedOn,
				Function: t.Function, File: t.File, Line: t.Line, Object: t.Object, Callers: t.Callers}
			if t.Call == "" {
				place.WaitsFor = threadAwaitedBy(t)
			}
			of.Threads = append(of.Threads, place)
		}
		out = append(out, of)
	}
	return out
}

// mayAct reports whether a thread may call MPI by itself. That is unknown if the thread's place is unknown, or if the thread is outside
// MPI while another one waits in MPI and the thread level is unknown. blocked says whether a thread of the process waits in an MPI call.
func mayAct(p *mqs.Process, t *mqs.Thread, blocked bool) mqs.Maybe[bool] {
	switch {
	case p.HasCrashed():
		return mqs.Known(false)
	case t.Call != "":
		return mqs.Known(behaviourOf(t) == goesOn)
	case t.Placed && !canAct(p, t):
		return mqs.Known(false)
	case blocked && p.ThreadMultiple == mqs.Known(false):
		return mqs.Known(false)
	case !t.Placed, blocked && !p.ThreadMultiple.Known:
		return mqs.Maybe[bool]{}
	}
	return mqs.Known(true)
}
