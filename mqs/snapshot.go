package mqs

import (
	"fmt"
	"slices"
)

// Snapshot is the message queues of some processes, each at one stop.
//
// Its fields, and those of what it is made of, are the one definition of the JSON document of a
// snapshot. They stand in the document's order, their comments are the schema's descriptions,
// and package document says what their tags mean.
type Snapshot struct {
	Processes []*Process `json:"processes"`
}

// Process is one process of a snapshot.
type Process struct {
	// Inferior is the debugger's number of the process.
	Inferior int `json:"inferior"`
	// PID is its process id, 0 where there is none, as in some core files.
	PID int `json:"pid"`
	// GlobalRank is its rank in MPI_COMM_WORLD.
	GlobalRank Maybe[int32] `json:"global_rank" document:"min=0"`
	// WorldSize is the size of MPI_COMM_WORLD.
	WorldSize Maybe[int32] `json:"world_size" document:"min=0"`
	// LaunchedRank is the rank that the launcher gave the process, if MPI_Init did not join the launcher's job and made an
	// MPI_COMM_WORLD of the process alone.
	LaunchedRank Maybe[int32] `json:"launched_rank" document:"min=0"`
	// LaunchedSize is the number of processes of the launcher's job, if LaunchedRank is known.
	LaunchedSize Maybe[int32] `json:"launched_size" document:"min=0"`
	// Launcher is the software that the launcher belongs to, if LaunchedRank is known: "Open MPI", "Hydra" or "Slurm".
	Launcher string `json:"launcher" document:"null"`
	// Image is the path of its program.
	Image string `json:"image" document:"null"`
	// MPI is the implementation: "Open MPI".
	MPI string `json:"mpi" document:"null"`
	// MPIVersion is the library's version in its own words: "4.1.4".
	MPIVersion string `json:"mpi_version" document:"null"`
	// Library is the path of the file that holds the MPI's roots.
	Library string `json:"library" document:"null"`
	// Transport is what carries the process's messages: Open MPI's pml or MPICH's device, and the network library that it
	// leaves them to, if it is known: "pml ob1", "ch4 over UCX". Empty if none is known.
	Transport string `json:"transport" document:"null"`
	// Source is what has read the queues. If it is both, they are the native decoder's, and
	// have been held against those of the vendor's DLL.
	Source string `json:"source" document:"null,words=native|dll|both"`
	// DLL is the path of the vendor's DLL, if one was used.
	DLL string `json:"dll" document:"null"`
	// DLLVersion is the DLL's version in its own words.
	DLLVersion string `json:"dll_version" document:"null"`
	// Layout is where the layouts of the library's types came from.
	Layout string `json:"layout" document:"null,words=dwarf|table"`
	// LayoutName is the release that a table describes.
	LayoutName string `json:"layout_name" document:"null"`
	// Unavailable is the sentence that says why nothing could be read of the process.
	Unavailable string `json:"unavailable" document:"null"`
	// Phase is how far it has come with MPI.
	Phase Phase `json:"phase" document:"null"`
	// State is what the kernel's scheduler said of the process before a debugger stopped it, if
	// that is known: of a process that was [Stopped] already, nothing has moved.
	State RunState `json:"state" document:"null"`
	// Hold is why it could not be stopped: what is known of it then is what the kernel shows of a process that runs.
	Hold Hold `json:"hold" document:"null"`
	// KernelThreads are threads of a process that could not be stopped, those that hold it first.
	KernelThreads []KernelThread `json:"kernel_threads" document:"omit,line"`
	// Signal is the name of the signal that ends the process or has ended it: "SIGSEGV". One that stops it for a
	// debugger is none.
	Signal string `json:"signal" document:"null"`
	// SignalCause is why it got that signal.
	SignalCause SignalCause `json:"signal_cause" document:"null"`
	// SignalThread is the number of the thread that got it.
	SignalThread Maybe[int] `json:"signal_thread"`
	// SignalHandled is true if the program handles that signal, or ignores it, so that it may go on.
	SignalHandled Maybe[bool] `json:"signal_handled"`
	// ExitCode is the one that the process has exited with.
	ExitCode Maybe[int] `json:"exit_code"`
	// ThreadMultiple is true if threads may call MPI side by side (MPI_THREAD_MULTIPLE).
	ThreadMultiple Maybe[bool] `json:"thread_multiple"`
	// Arriving is true if messages lie before the process, in shared memory, that its library
	// has not looked at yet: they are in no queue.
	Arriving Maybe[bool] `json:"arriving"`
	// Progress counts what the process has got done, where the MPI does not count messages:
	// receives that have had to wait for theirs (UCX), or requests that were over (MPICH). A
	// process that waits, and has the same count a moment later, has not gone on.
	Progress Maybe[uint64] `json:"progress"`
	// UnsentPackets counts packets of the library's own, such as acknowledgements, that it has had no resources to send
	// yet. What other ranks wait for may be among them.
	UnsentPackets Maybe[int64] `json:"unsent_packets"`
	// Threads are its first thread, those in MPI calls or in the program's own code, and those
	// that are not placed; nil if not known.
	Threads []Thread `json:"threads" document:"line,null"`
	// Stacks are those of all threads, where they were asked for.
	Stacks []Stack `json:"stacks" document:"omit,line,rows"`

	// Windows are those of one-sided communication; nil if they are not known.
	Windows []Window `json:"windows" document:"line,null"`
	// Files are those that are open; nil if they are not known.
	Files []File `json:"files" document:"line,null"`
	// CollectiveRequests are those of non-blocking and persistent collectives that are in use; nil if
	// they are not known.
	CollectiveRequests []CollectiveRequest `json:"collective_requests" document:"line,null"`
	// Inactive are the persistent requests that are not started; nil if they are not known.
	Inactive []InactiveRequest `json:"inactive" document:"line,null"`

	Communicators []*Queues `json:"communicators" document:"line"`
	// Differences are those between the native decoder and the DLL, if both were asked.
	Differences []Difference `json:"differences" document:"line"`
	// Notes are sentences on what is missing or doubtful.
	Notes []string `json:"notes" document:"line"`
}

// Queues is a communicator with its queues.
type Queues struct {
	Communicator
	// Queue has an entry for each [OpClass]; nil for one that was not asked for. In a document
	// each has a key of its own.
	Queue [3]*Queue `document:"queues"`
	// Traffic is for each peer that there was traffic with its local rank, and the numbers of
	// messages sent to it and arrived from it, modulo 65536; nil if that is not known. What one
	// side has sent and the other has not seen arrive is on its way.
	Traffic []Traffic `json:"traffic" document:"null,tuple"`
}

// Queue is one queue of a communicator.
type Queue struct {
	// Operations are those of the queue in the order of matching, null if it can't be read.
	Operations []PendingOperation
	// Total is how many operations there are; more than are listed if a limit was given. It is
	// null in a document if the queue is incomplete.
	Total int
	// Incomplete is true if there may be more behind those listed, which could not be read.
	Incomplete bool
	// Unavailable is why the queue can't be read; it has no operations then.
	Unavailable string
}

// Note adds a sentence to the notes, once.
func (p *Process) Note(format string, args ...any) {
	if s := fmt.Sprintf(format, args...); !slices.Contains(p.Notes, s) {
		p.Notes = append(p.Notes, s)
	}
}
