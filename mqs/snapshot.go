package mqs

import (
	"fmt"
	"slices"
)

// Snapshot is the message queues of some processes, each at one stop.
type Snapshot struct {
	Processes []*Process
}

// Process is one process of a snapshot.
type Process struct {
	// Inferior is the debugger's number for it.
	Inferior int
	// PID is its process id, 0 if there is none.
	PID int
	// GlobalRank is its rank in MPI_COMM_WORLD, WorldSize the size of that.
	GlobalRank, WorldSize Maybe[int32]
	// Image is the path of its program.
	Image string
	// MPI names the implementation, empty if none was recognised.
	MPI string
	// MPIVersion is the library's version in its own words, empty if not known.
	MPIVersion string
	// Library is the path of the file that holds the MPI's roots.
	Library string
	// Source is where the queues were read from: "native", "dll", or "both" if
	// they are the native decoder's and have been held against a DLL's.
	Source string
	// DLL is the path of the vendor's DLL that was used, empty if none was, and
	// DLLVersion what it says of itself.
	DLL, DLLVersion string
	// Layout is where the layouts of the types came from: "dwarf" or "table".
	Layout string
	// LayoutName is the release that a table describes.
	LayoutName string

	// Phase is how far it has come with MPI, empty if not known.
	Phase Phase
	// State is what the scheduler said of it before a debugger stopped it: of a process that
	// was [Stopped] already, nothing has moved. Empty if not known, as of a core file.
	State RunState
	// ThreadMultiple is true if threads may call MPI side by side (MPI_THREAD_MULTIPLE).
	ThreadMultiple Maybe[bool]
	// Arriving is true if messages lie before the process, in shared memory, that
	// its library has not looked at yet: they are in no queue.
	Arriving Maybe[bool]
	// Progress counts what the process has got done, where the MPI does not count messages:
	// receives that have had to wait for theirs (UCX), or requests that were over (MPICH). A
	// process that waits, and has the same count a moment later, has not gone on.
	Progress Maybe[uint64]
	// Threads are its first thread, those in MPI calls or in the program's own
	// code, and those that are not placed; nil if not known.
	Threads []Thread

	Communicators []*Queues
	// Differences between the native decoder and the DLL, if both were asked.
	Differences []Difference
	// Notes are sentences on what is missing or doubtful.
	Notes []string
	// Unavailable is the sentence that says why nothing could be read, else empty.
	Unavailable string
}

// Queues is a communicator with its queues.
type Queues struct {
	Communicator
	// Queue has an entry for each [OpClass]; nil for one that was not asked for.
	Queue [3]*Queue
	// Traffic counts messages by peer, nil if that is not known.
	Traffic []Traffic
}

// Queue is one queue of a communicator in the order of matching.
type Queue struct {
	Operations []PendingOperation
	// Total is how many there are; more than len(Operations) if a limit cut them.
	Total int
	// Incomplete is true if there may be more behind them, which could not be read.
	Incomplete bool
	// Unavailable says why the queue can't be read; it has no operations then.
	Unavailable string
}

// Note adds a sentence to the notes, once.
func (p *Process) Note(format string, args ...any) {
	if s := fmt.Sprintf(format, args...); !slices.Contains(p.Notes, s) {
		p.Notes = append(p.Notes, s)
	}
}
