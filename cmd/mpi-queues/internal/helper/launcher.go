package helper

import (
	"errors"
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// ofLauncher puts a sentence that helps in place of the error on a process without an MPI
// library, if that has launched a job.
func (s *sources) ofLauncher(info inferior.Info, err error) error {
	var u *read.UnreadableError
	if !errors.As(err, &u) || u.MPI != "" || u.Final {
		return err
	}
	if said := s.launcherWords(info); said != "" {
		return read.Unreadable("", "%s", said)
	}
	return err
}

// launcherWords say of a process that it has launched a job and is no rank; empty if it has not.
func (s *sources) launcherWords(info inferior.Info) string {
	if info.Kind != "live" || info.PID <= 0 {
		return ""
	}
	job, err := s.jobs.Find(info.PID)
	if err != nil || job.Self != nil || len(job.Ranks) == 0 {
		return ""
	}
	what := fmt.Sprintf("process %d has started the MPI job of process %d (%s)", info.PID, job.Launcher, job.Name)
	if job.Launcher == info.PID {
		what = fmt.Sprintf("process %d (%s) is the launcher of an MPI job", info.PID, job.Name)
	}
	return fmt.Sprintf("%s and none of its ranks, which have the queues: in gdb `mpi-attach %d' attaches to them, "+
		"and in a shell `mpi-queues dump %d' shows them", what, info.PID, info.PID)
}
