package launch

import (
	"strconv"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// seat is a place in a job, which a process has been given through its
// environment. Its children inherit it: a wrapper and the program that it runs
// have the same.
type seat struct {
	kind kind
	// job tells the job from others of the kind, as far as the environment does.
	job  string
	rank int32
	// private differs between two ranks that have all else in common, since one
	// is in a job that the other has started.
	private string
}

// kind is who gives seats.
type kind int

// The kinds, the surest first. One that starts ranks can give them seats of
// several kinds: `srun --mpi=pmix' does.
const (
	// PMIx servers: Open MPI's mpirun and its daemons, Slurm's with --mpi=pmix.
	// Each job has a namespace.
	pmix kind = iota
	// Slurm: each step of a job runs one program.
	slurm
	// PMI-1 and PMI-2 servers: MPICH's hydra. Nothing tells the jobs apart but
	// the process that gives the seats.
	pmi
	kinds
)

// seat is the one of a kind that a process has in its environment.
func (s *system) seat(p *process, k kind) (seat, bool) {
	first := func(names ...string) string {
		for _, name := range names {
			if v := s.env(p, name); v != "" {
				return v
			}
		}
		return ""
	}
	out := seat{kind: k}
	var rank string
	switch k {
	case pmix:
		out.job = first("PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid")
		rank = first("PMIX_RANK", "OMPI_COMM_WORLD_RANK")
		if out.job == "" {
			return out, false
		}
	case slurm:
		job, step := first("SLURM_JOB_ID"), first("SLURM_STEP_ID", "SLURM_STEPID")
		if job == "" || step == "" {
			return out, false // the script of a batch job has a rank, but is no step
		}
		out.job, rank = job+"."+step, first("SLURM_PROCID")
	case pmi:
		// Hydra gives PMI_ID in place of PMI_RANK if it is told to serve at a port (pmip_cb.c).
		out.job, rank = first("PMI_JOBID"), first("PMI_RANK", "PMI_ID")
		out.private = first("PMI_FD")
	}
	n, err := strconv.ParseUint(rank, 10, 31)
	out.rank = int32(n)
	return out, err == nil
}

// place is the seat of a process that counts, and where it comes from.
type place struct {
	seat
	// top is the outermost process with this seat: it is the one that the
	// launcher or its daemon has started.
	top *process
}

// place finds the seat that a process was given last. A job can run inside
// another's rank, or in a step of Slurm's, and its ranks then have the variables
// of both; those that fewer of the processes above have too are their own.
func (s *system) place(p *process) (out place, ok bool) {
	if p.stat.HasEnded() {
		return out, false
	}
	shortest := maxAncestors + 1
	for k := range kinds {
		own, has := s.seat(p, k)
		if !has {
			continue
		}
		top, length := p, 0
		for _, a := range p.ancestors() {
			if theirs, has := s.seat(a, k); !has || theirs != own {
				break
			}
			top = a
			length++
		}
		if length < shortest {
			out, ok, shortest = place{own, top}, true, length
		}
	}
	return out, ok
}

// size is that of MPI_COMM_WORLD as the environment of a rank has it.
func (s *system) size(at place) mqs.Maybe[int32] {
	return s.told(at, map[kind][]string{
		pmix:  {"OMPI_COMM_WORLD_SIZE"},
		slurm: {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"},
		pmi:   {"PMI_SIZE"},
	}, func(_ *process, text string) (uint64, error) {
		n, err := strconv.ParseUint(text, 10, 31)
		if err == nil && n <= uint64(at.rank) {
			err = strconv.ErrRange
		}
		return n, err
	})
}

// sizeHere is how many ranks of a group the daemons of this machine start: a daemon tells each of its
// ranks how many they are.
func (s *system) sizeHere(g *group) mqs.Maybe[int32] {
	daemons := map[*process]bool{}
	sum := mqs.Known[int32](0)
	for rank, top := range g.tops {
		if daemons[top.parent] {
			continue
		}
		daemons[top.parent] = true
		n := s.told(place{seat{kind: g.kind, rank: rank}, top}, map[kind][]string{
			pmix:  {"OMPI_COMM_WORLD_LOCAL_SIZE"},
			slurm: {"SLURM_STEP_TASKS_PER_NODE"},
			pmi:   {"MPI_LOCALNRANKS"},
		}, s.countHere)
		if !n.Known {
			return n
		}
		sum.Value += n.Value
	}
	return sum
}

// countHere reads how many ranks are on the host of one. Slurm says it for all hosts of a step, those
// that follow each other together: "2(x3),1".
func (s *system) countHere(p *process, text string) (uint64, error) {
	if !strings.ContainsAny(text, "(,") {
		return strconv.ParseUint(text, 10, 31)
	}
	node, err := strconv.ParseUint(s.env(p, "SLURM_NODEID"), 10, 31)
	if err != nil {
		return 0, err
	}
	for item := range strings.SplitSeq(text, ",") {
		count, times, isRepeated := strings.Cut(strings.TrimSuffix(item, ")"), "(x")
		repeated := uint64(1)
		if isRepeated {
			if repeated, err = strconv.ParseUint(times, 10, 31); err != nil {
				return 0, err
			}
		}
		if node < repeated {
			return strconv.ParseUint(count, 10, 31)
		}
		node -= repeated
	}
	return 0, strconv.ErrRange
}

// told is a number that the environment of a rank has, in the first of some variables of its kind that can be read.
// Variables of two kinds are of one job if they give the same number to the same processes.
func (s *system) told(at place, names map[kind][]string, read func(p *process, text string) (uint64, error)) mqs.Maybe[int32] {
	for _, k := range []kind{at.kind, slurm} {
		own, has := s.seat(at.top, k)
		if !has || own.rank != at.rank {
			continue
		}
		if above := at.top.parent; above != nil {
			if theirs, has := s.seat(above, k); has && theirs == own {
				continue
			}
		}
		for _, name := range names[k] {
			if n, err := read(at.top, s.env(at.top, name)); err == nil {
				return mqs.Known(int32(n))
			}
		}
	}
	return mqs.Maybe[int32]{}
}

// names are what tells a group's job from others on all machines: PMIx's namespace, and Slurm's step.
func (s *system) names(g *group) []string {
	if g.kind == pmi {
		return nil // hydra's server gives no name
	}
	top := g.first()
	own, _ := s.seat(top, g.kind)
	names := []string{kindNames[g.kind] + g.name}
	// A step whose ranks have the same numbers is the same job.
	if at, has := s.seat(top, slurm); g.kind != slurm && has && at.rank == own.rank {
		names = append(names, kindNames[slurm]+at.job)
	}
	return names
}

// kindNames begin the names of jobs.
var kindNames = map[kind]string{pmix: "pmix:", slurm: "slurm:"}
