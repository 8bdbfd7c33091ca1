package launch

import (
	"errors"
	"fmt"
	"os"
)

// neither says why a process belongs to no job, as far as can be told.
func (s *system) neither(p *process) error {
	s.env(p, "")
	inside := s.inside(p)
	switch err := p.environment.err; {
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("whether process %d (%s) is of an MPI job can't be told, since its environment and its memory can't be read (%w): "+
			"it may be another user's; use sudo, or ask as that user", p.pid, p.name, cause(err))
	case inside.denied:
		return fmt.Errorf("whether process %d (%s) is the launcher of an MPI job can't be told: it has no rank in its environment nor below it, "+
			"and its memory can't be read (%w). If /proc/sys/kernel/yama/ptrace_scope is not 0, use sudo", p.pid, p.name, cause(inside.err))
	}
	problem := ""
	if inside.err != nil && len(inside.table) == 0 {
		problem = fmt.Sprintf(" (%v)", inside.err)
	}
	return fmt.Errorf("%w: it has no filled %s%s, no MPI library, "+
		"and neither its environment nor that of a process below it has a rank (PMIX_RANK, PMI_RANK, SLURM_PROCID). "+
		"Name the process id of mpirun, mpiexec or srun, or of a rank", &neitherError{p.pid, p.name}, tableSymbol, problem)
}

// neitherError means that nothing shows that a process belongs to an MPI job, as yet.
type neitherError struct {
	pid  int
	name string
}

func (e *neitherError) Error() string {
	return fmt.Sprintf("process %d (%s) is neither the launcher of an MPI job nor one of its ranks", e.pid, e.name)
}

// cause strips an error of the path that the sentence around it does not need.
func cause(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
