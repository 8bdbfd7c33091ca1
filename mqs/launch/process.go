package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
)

// system is what /proc says of the processes of this machine, at one time.
type system struct {
	proc      procfs.FS
	processes map[int]*process
	// open reads a process, and isHere knows the names of this machine.
	open   func(pid int) (memory, error)
	isHere func(host string) bool

	// all are the jobs, once they are known, seats what they have each process for, and servers what gives seats to some of them.
	all     []*group
	seats   map[*process]groupSeat
	servers map[*process]bool
	// byID are the processes of containers.
	byID map[inNamespace][]*process

	// tables is what the tables of all processes have been so far, in bytes.
	tables atomic.Int64

	// patience is how long a process's files may take; silent counts those that took longer.
	patience time.Duration
	silent   int
}

// memory is a process that is read.
type memory interface {
	inferior.Inferior
	Close()
}

// process is a process of this machine. What is not plain from its line in /proc
// is read when it is asked for, and kept.
type process struct {
	stat     procfs.Stat
	pid      int
	name     string   // as it can be printed
	parent   *process // nil if it is not to be seen
	children []*process

	environment *environment
	inside      *inside
	status      *status
}

// environment is what a process was started with, of the variables that matter.
type environment struct {
	values map[string]string
	err    error
}

// inside is what a process has in its memory.
type inside struct {
	table   []entry
	entries map[*process][]int // of the table, once they are asked for
	isMPI   bool               // it has an MPI library, or is linked with one
	err     error
	denied  bool
	// isAborting is true if its job is being aborted, and abortReason why.
	isAborting  bool
	abortReason string
	step        string // of Slurm's, if it is the launcher of one
}

// maxAncestors bounds the way up from a process.
const maxAncestors = 64

// look sees which processes there are.
func look(proc procfs.FS, open func(pid int) (memory, error)) (*system, error) {
	pids, err := proc.Processes()
	if err != nil {
		return nil, fmt.Errorf("the processes of this machine can't be seen: %w", err)
	}
	s := &system{proc: proc, open: open, processes: map[int]*process{}, patience: lookPatience, isHere: func(string) bool { return false }}
	for _, pid := range pids {
		// It may have ended in the meantime.
		if stat, err := proc.Stat(pid); err == nil {
			s.processes[pid] = &process{stat: stat, pid: pid, name: printable.Line(stat.Name)}
		}
	}
	for _, p := range s.processes {
		if parent := s.processes[p.stat.Parent]; parent != nil && parent != p {
			p.parent = parent
			parent.children = append(parent.children, p)
		}
	}
	return s, nil
}

func (p *process) String() string { return fmt.Sprintf("%s (process %d)", p.name, p.pid) }

// ancestors are a process's, the nearest first, without what belongs to nobody's
// job: the first process of the machine or container.
func (p *process) ancestors() []*process {
	var out []*process
	for a := p.parent; a != nil && a.pid > 1 && len(out) < maxAncestors; a = a.parent {
		out = append(out, a)
	}
	return out
}

// isBelow is true of a process's descendants.
func (p *process) isBelow(a *process) bool { return slices.Contains(p.ancestors(), a) }

// variables are those that are kept of an environment.
var variables = []string{
	"PMIX_NAMESPACE", "PMIX_RANK", "PMIX_HOSTNAME", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_MCA_ess_base_jobid",
	"PMI_RANK", "PMI_ID", "PMI_SIZE", "PMI_FD", "PMI_JOBID", "PMI_SPAWNED", "HYDI_CONTROL_FD", "MPI_LOCALNRANKS", "MPI_LOCALRANKID",
	"SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_STEPID", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "SLURMD_NODENAME",
	"SLURM_STEP_TASKS_PER_NODE", "SLURM_NODEID",
}

// env is a variable of a process's environment, empty if it has none.
func (s *system) env(p *process, name string) string {
	if p.environment == nil {
		values, err := s.proc.Environment(p.pid, variables)
		p.environment = &environment{values, err}
	}
	return p.environment.values[name]
}

// program is the path of a process's program, empty if it can't be seen.
func (s *system) program(p *process) string {
	path, err := s.proc.Program(p.pid)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(path, procfs.Deleted)
}

// inside reads what matters in a process's memory.
func (s *system) inside(p *process) *inside {
	if p.inside == nil {
		p.inside = s.lookInto(p.pid)
	}
	return p.inside
}

// lookPatience is how long the files of a process may take that is looked into, and
// mostSilent how many processes are waited for in vain.
const (
	lookPatience = 20 * time.Second
	mostSilent   = 3
)

// errSilent means that a process's files do not answer.
var errSilent = errors.New("its files do not answer: they are on a file system whose server stands still")

// lookInto reads a process, beside the caller: whoever owns it chooses its files, and
// one of a file system that a program serves (FUSE) may never be there. Who waits for
// such a file can't be interrupted, and is left behind.
func (s *system) lookInto(pid int) *inside {
	if s.silent >= mostSilent {
		return &inside{err: errSilent}
	}
	seen := make(chan *inside, 1)
	go func() { seen <- s.readInside(pid) }()
	timer := time.NewTimer(s.patience)
	defer timer.Stop()
	select {
	case i := <-seen:
		return i
	case <-timer.C:
		s.silent++
		return &inside{err: errSilent}
	}
}

func (s *system) readInside(pid int) *inside {
	m, err := s.open(pid)
	if err != nil {
		return &inside{err: err, denied: errors.Is(err, os.ErrPermission)}
	}
	defer m.Close()
	i := &inside{}
	found, err := m.FindSymbols(context.Background(), []string{initSymbol})
	i.isMPI = err == nil && found[0] != nil
	if i.table, i.err = readTable(m, &s.tables); i.err == nil {
		if pid := s.listedTwice(i.table); pid != 0 {
			i.table, i.err = nil, fmt.Errorf("its %s can't be right: it has process %d twice", tableSymbol, pid)
		}
	}
	if len(i.table) > 0 {
		// What can't be read of it is not worth an error: the table stands without.
		state, reason, _ := readState(m)
		i.isAborting, i.abortReason = state == StateAborting, reason
		i.step = readStep(m)
	}
	return i
}

// initSymbol is a function that every MPI library has.
const initSymbol = "MPI_Init"
