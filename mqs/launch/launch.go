// Package launch finds the processes of an MPI job from the process id of its
// launcher or of any of its ranks.
//
// A launcher that keeps MPIR_proctable, the table of the MPIR process acquisition
// interface (MPI Forum, 2010), says there which processes it started, and where:
// Open MPI's mpirun up to 4.1, MPICH's mpiexec.hydra, Slurm's srun. It is read
// while the launcher runs on. Others (Open MPI from 5.0 on, a stripped
// mpiexec.hydra) have none. Then, and on the nodes where there is no launcher,
// the environment of the processes says it, since every launcher gives each rank
// its number in a variable there.
//
// What is a launcher and what is a rank is told by these tables and variables
// alone, not by names of programs.
package launch

import (
	"errors"
	"runtime"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
	"github.com/mpi-queues/mpi-queues/mqs/procmem"
)

// Rank is a process of a job.
type Rank struct {
	// Number is its rank in MPI_COMM_WORLD.
	Number mqs.Maybe[int32]
	// PID is that of the MPI program, which a shell or another wrapper may have
	// started: then the launcher knows only that one. It is 0 for a rank that has exited
	// if its process id is unknown.
	PID int
	// Host is where it runs, as the launcher calls it; empty for this machine.
	Host string
	// Executable is the path of its program, empty if not known.
	Executable string
	// Exited is true if it has ended on this machine. PID can be another
	// process's by now.
	Exited bool
	// Obstacle is why the process is not taken for the rank although the launcher
	// names it, as a clause; empty for any other rank. PID may be no process of
	// this machine's then.
	Obstacle string
}

// IsHere is true of a rank that runs on this machine, and is not to be kept from a debugger.
func (r *Rank) IsHere() bool { return r.Host == "" && !r.Exited && r.Obstacle == "" }

// Job is the processes that share an MPI_COMM_WORLD.
type Job struct {
	// Launcher is the process that started the job or, where that is not on this
	// machine or can't be told, its daemon here; 0 if none is known.
	Launcher int
	// Name is its program's name: "mpirun", "srun", "mpiexec.hydra"; empty if there is none.
	Name string
	// Ranks are those that are known, by number: all of them from a table, else
	// those that run on this machine.
	Ranks []Rank
	// Size is that of MPI_COMM_WORLD.
	Size mqs.Maybe[int32]
	// Software is what the launcher belongs to: [mqs.OpenMPILauncher], [mqs.HydraLauncher], [mqs.SlurmLauncher], or
	// empty if that can't be told.
	Software string
	// Here is how many of its ranks run on this machine, those among them of which nothing else is
	// known yet.
	Here mqs.Maybe[int32]
	// Names are what the environment of the job's ranks calls it, on each machine alike: "pmix:NAMESPACE",
	// "slurm:JOB.STEP"; empty if no rank is here, or its environment does not tell it from others.
	Names []string
	// HasOddName is true if the environment of the job's ranks gives it a name that is not among Names, since it contains
	// characters that can't be shown or is too long.
	HasOddName bool
	// Node is what Slurm calls the node of those ranks that are seen here; empty if it does not say, or has several.
	Node string
	// Self is the rank that was asked for: the process itself, or the rank that it
	// wraps or that has started it. It is nil if the launcher was asked for.
	Self *Rank
	// Others are processes on this machine of what the launcher started
	// besides, as by MPI_Comm_spawn. They have an MPI_COMM_WORLD of their own, in which
	// the same numbers mean others, and so are no ranks of this job; but of
	// another that can be found by them.
	Others []int
	// OtherJobs has one process of each of these jobs, the one with the lowest rank.
	OtherJobs []int
	// Claims are processes of other users on this machine that have the name of
	// this job in their environment, which is not believed.
	Claims []int
	// IsAborting is true if the launcher says that the job is being aborted, and AbortReason why; that is
	// empty if it does not say it.
	IsAborting  bool
	AbortReason string

	group *group // of its ranks here, until the job is handed out
}

// Find returns the job that a process has launched or is a rank of. A process
// between the launcher and a rank is as good, and so is one above the launcher, if
// it is above one only; else the error is a [*SeveralError]. An MPI program that was started
// without a launcher is a job of its own. Errors are sentences for users.
func Find(pid int) (*Job, error) {
	s, err := thisMachine()
	if err != nil {
		return nil, err
	}
	return s.find(pid)
}

// thisMachine sees which processes this machine has.
func thisMachine() (*system, error) {
	if runtime.GOOS != "linux" {
		return nil, errors.New("the processes of an MPI job can be found on Linux only: name each of them by its id")
	}
	files := procmem.NewFiles(tableSymbol, sizeSymbol, initSymbol, stateSymbol, abortSymbol, slurmJobSymbol, slurmStepSymbol)
	s, err := look(procfs.Host, func(pid int) (memory, error) { return files.Open(pid) })
	if err != nil {
		return nil, err
	}
	s.isHere = ownNames()
	return s, nil
}
