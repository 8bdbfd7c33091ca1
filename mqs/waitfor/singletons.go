package waitfor

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// placed returns a snapshot in which the processes that did not join their launcher's job have the ranks that the
// launcher gave them, so that no two of them are rank 0; s itself if there are none. The processes of past follow.
func placed(s *mqs.Snapshot, past Past) (*mqs.Snapshot, Past) {
	out := &mqs.Snapshot{Processes: make([]*mqs.Process, len(s.Processes))}
	moved := map[*mqs.Process]*mqs.Process{}
	for i, p := range s.Processes {
		if out.Processes[i] = p.Placed(); out.Processes[i] != p {
			moved[p] = out.Processes[i]
		}
	}
	if len(moved) == 0 {
		return s, past
	}
	earlier := make(map[int]*mqs.Process, len(past.Earlier))
	for pid, p := range past.Earlier {
		if earlier[pid] = moved[p]; earlier[pid] == nil {
			earlier[pid] = p.Placed()
		}
	}
	past.Earlier = earlier
	return out, past
}

// isAlone reports whether the rank did not join its launcher's job.
func isAlone(r *rank) bool { return r.process != nil && r.process.LaunchedRank.Known }

// whyAlone says which ranks did not join their launcher's job, and why; empty if all did.
func (j *job) whyAlone() string {
	alone := j.which(isAlone)
	if len(alone) == 0 {
		return ""
	}
	first := j.ranks[alone[0]].process
	size := first.LaunchedSize.Value
	for _, i := range alone {
		if p := j.ranks[i].process; p.MPI != first.MPI || p.Launcher != first.Launcher {
			first = &mqs.Process{} // several explanations
		}
	}
	who := fmt.Sprintf("%d processes started by one launcher each believe they are rank 0 of 1", len(alone))
	switch {
	case len(alone) < int(size) && len(alone) == 1:
		who = fmt.Sprintf("Rank %d of the %d ranks started by one launcher believes it is rank 0 of 1", alone[0], size)
	case len(alone) < int(size):
		who = fmt.Sprintf("%s of the %d ranks started by one launcher each believe they are rank 0 of 1", capital(rankWords(alone)), size)
	}
	return who + ": " + whyNotJoined(first) + ". The ranks in this report are the launcher's. These processes can't exchange messages: start the job with the launcher of the program's MPI."
}

// whyNotJoined says, as a clause, why MPI_Init did not join the launcher's job.
func whyNotJoined(p *mqs.Process) string {
	uses := "the program uses " + p.MPI
	switch {
	case p.Launcher == mqs.SlurmLauncher && p.MPI != "":
		return fmt.Sprintf("Slurm's srun provided no PMI that their MPI (%s) uses; choose one with `srun --mpi=…' (`srun --mpi=list' lists them)", p.MPI)
	case p.Launcher == mqs.OpenMPILauncher && p.MPI != "" && p.MPI != mqs.OpenMPILauncher:
		return fmt.Sprintf("the launcher belongs to another MPI (Open MPI's mpirun; %s)", uses)
	case p.Launcher == mqs.HydraLauncher && p.MPI == mqs.OpenMPILauncher: // other MPIs may speak Hydra's protocol
		return fmt.Sprintf("the launcher belongs to another MPI (Hydra's mpiexec, as of MPICH and Intel MPI; %s)", uses)
	case p.Launcher == mqs.OpenMPILauncher && p.MPI != "":
		return fmt.Sprintf("MPI_Init did not connect to the launcher (Open MPI's mpirun; %s), which may belong to another installation", uses)
	case p.Launcher == mqs.HydraLauncher && p.MPI != "":
		return fmt.Sprintf("MPI_Init did not connect to the launcher (Hydra's mpiexec; %s), which may belong to another installation", uses)
	}
	return "MPI_Init did not connect to the launcher"
}
