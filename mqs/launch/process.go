package launch

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mpi-queues/mpi-queues/mqs/printable"
	"github.com/mpi-queues/mpi-queues/mqs/procmem"
)

// system is what /proc says of the processes of this machine, at one time.
type system struct {
	root      string
	processes map[int]*process
	// open reads a process, and isHere knows the names of this machine.
	open   func(pid int) (memory, error)
	isHere func(host string) bool

	// all are the jobs, once they are known, and byID the processes of containers.
	all  []*group
	byID map[inNamespace][]*process

	// tables is what the tables of all processes have been so far, in bytes.
	tables atomic.Int64

	// patience is how long a process's files may take; silent counts those that took longer.
	patience time.Duration
	silent   int
}

// memory is a process that is read.
type memory interface {
	procmem.Memory
	Close()
}

// process is a process of this machine. What is not plain from its line in /proc
// is read when it is asked for, and kept.
type process struct {
	pid      int
	parent   *process // nil if it is not to be seen
	children []*process
	name     string
	state    byte
	started  uint64 // since boot, in the kernel's ticks

	parentID    int
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
	table  []entry
	isMPI  bool // it has an MPI library, or is linked with one
	err    error
	denied bool
}

// maxEnvironment is how much of an environment is read: twice what the kernel
// lets a program start with.
const maxEnvironment = 12 << 20

// maxVariable is how long a variable may be, in bytes: those that matter are numbers and
// the names of jobs and machines.
const maxVariable = 4 << 10

// maxAncestors bounds the way up from a process.
const maxAncestors = 64

// look sees which processes there are.
func look(root string, open func(pid int) (memory, error)) (*system, error) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, fmt.Errorf("the processes of this machine can't be seen: %w", err)
	}
	s := &system{root: root, open: open, processes: map[int]*process{}, patience: lookPatience, isHere: func(string) bool { return false }}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid <= 0 {
			continue
		}
		// It may have ended in the meantime.
		if stat, err := os.ReadFile(s.file(pid, "stat")); err == nil {
			if p := parseStat(pid, stat); p != nil {
				s.processes[pid] = p
			}
		}
	}
	for _, p := range s.processes {
		if parent := s.processes[p.parentID]; parent != nil && parent != p {
			p.parent = parent
			parent.children = append(parent.children, p)
		}
	}
	return s, nil
}

func (s *system) file(pid int, name string) string {
	return filepath.Join(s.root, strconv.Itoa(pid), name)
}

// parseStat reads a process's line in /proc; nil if it is none.
func parseStat(pid int, stat []byte) *process {
	// The name, in parentheses, may hold anything.
	from, to := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if from < 0 || to < from {
		return nil
	}
	fields := strings.Fields(string(stat[to+1:]))
	if len(fields) < 20 {
		return nil
	}
	p := &process{pid: pid, name: printable.Line(string(stat[from+1 : to])), state: fields[0][0]}
	var parentErr, startErr error
	p.parentID, parentErr = strconv.Atoi(fields[1])
	p.started, startErr = strconv.ParseUint(fields[19], 10, 64)
	if errors.Join(parentErr, startErr) != nil {
		return nil
	}
	return p
}

func (p *process) String() string { return fmt.Sprintf("%s (process %d)", p.name, p.pid) }

// hasEnded is true of one that only waits for its parent to notice.
func (p *process) hasEnded() bool { return p.state == 'Z' || p.state == 'X' }

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
	"PMIX_NAMESPACE", "PMIX_RANK", "PMIX_HOSTNAME", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_MCA_ess_base_jobid",
	"PMI_RANK", "PMI_ID", "PMI_SIZE", "PMI_FD", "PMI_JOBID", "PMI_SPAWNED", "HYDI_CONTROL_FD",
	"SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_STEPID", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "SLURMD_NODENAME",
}

// env is a variable of a process's environment, empty if it has none.
func (s *system) env(p *process, name string) string {
	if p.environment == nil {
		p.environment = s.readEnvironment(p.pid)
	}
	return p.environment.values[name]
}

func (s *system) readEnvironment(pid int) *environment {
	f, err := os.Open(s.file(pid, "environ"))
	if err != nil {
		return &environment{err: err}
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxEnvironment))
	e := &environment{values: map[string]string{}, err: err}
	for len(text) > 0 {
		var line []byte
		line, text, _ = bytes.Cut(text, []byte{0})
		name, value, ok := bytes.Cut(line, []byte{'='})
		// As for getenv, the first of a name counts.
		if i := slices.Index(variables, string(name)); ok && i >= 0 {
			if _, known := e.values[variables[i]]; !known && len(value) <= maxVariable {
				e.values[variables[i]] = string(value)
			}
		}
	}
	return e
}

// program is the path of a process's program, empty if it can't be seen.
func (s *system) program(p *process) string {
	path, err := os.Readlink(s.file(p.pid, "exe"))
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(path, " (deleted)")
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
	_, _, i.isMPI = m.Symbol(initSymbol)
	if i.table, i.err = readTable(m, &s.tables); i.err == nil {
		if pid := s.listedTwice(i.table); pid != 0 {
			i.table, i.err = nil, fmt.Errorf("its %s can't be right: it has process %d twice", tableSymbol, pid)
		}
	}
	return i
}

// initSymbol is a function that every MPI library has.
const initSymbol = "MPI_Init"
