package launch

import (
	"cmp"
	"maps"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// job tells the jobs of this machine apart.
type job struct {
	kind kind
	name string
	// server is the process that gives the seats, where they do not name their
	// job, and size that of the job.
	server *process
	size   mqs.Maybe[int32]
	// owner is the user that its ranks run as, and namespace the process namespace
	// that they were started in: names of jobs are made of a host's name and a
	// process id, which two containers can have in common.
	owner     int
	namespace string
}

// group is the processes of a job on this machine, wrappers and forks included.
type group struct {
	job
	worldSize mqs.Maybe[int32]
	// ranks have the processes of each rank, with the outermost of them.
	ranks map[int32][]*process
	tops  map[int32]*process
}

// groupSeat is a process's rank in a group.
type groupSeat struct {
	*group
	rank int32
}

// groups are the jobs of this machine, in the order in which they were started.
func (s *system) groups() []*group {
	if s.all != nil {
		return s.all
	}
	type seated struct {
		*process
		place
	}
	var all []seated
	for _, p := range s.processes {
		// What a rank has started as another user is no rank.
		if at, ok := s.place(p); ok && s.status(p).owner == s.status(at.top).owner {
			all = append(all, seated{p, at})
		}
	}
	slices.SortFunc(all, func(a, b seated) int { return cmp.Or(older(a.top, b.top), older(a.process, b.process)) })
	shared := map[job]bool{}
	seats := map[job]map[int32]*process{}
	for _, p := range all {
		j := s.jobOf(p.place)
		if by := s.startedBy(p.top); j.kind != pmi && by != nil {
			if seats[j] == nil {
				seats[j] = map[int32]*process{}
			}
			if other := seats[j][p.rank]; other != nil && other != by {
				shared[j] = true
			}
			seats[j][p.rank] = by
		}
	}
	latest := map[job]*group{}
	s.seats, s.servers = map[*process]groupSeat{}, map[*process]bool{}
	for _, p := range all {
		j := s.jobOf(p.place)
		// Two servers that give the same ranks give them in two jobs.
		if shared[j] {
			j.server = s.startedBy(p.top)
		}
		g := latest[j]
		// Jobs that were spawned one after the other by one server look alike, but
		// for having their ranks twice.
		if g == nil || j.kind == pmi && g.tops[p.rank] != nil && g.tops[p.rank] != p.top {
			g = &group{job: j, worldSize: s.size(p.place), ranks: map[int32][]*process{}, tops: map[int32]*process{}}
			latest[j] = g
			s.all = append(s.all, g)
			s.servers[g.server] = true
		}
		g.ranks[p.rank] = append(g.ranks[p.rank], p.process)
		g.tops[p.rank] = p.top
		s.seats[p.process] = groupSeat{g, p.rank}
	}
	return s.all
}

// startedBy is the process that has started the outermost one of a rank, nil if
// that is gone.
func (s *system) startedBy(top *process) *process {
	if top.parent == nil || top.parent.pid <= 1 {
		return nil
	}
	return s.overDaemon(top.parent)
}

// claims are processes of other users that say that they are of a job.
func (s *system) claims(own *group) []int {
	var out []int
	for _, g := range s.groups() {
		if own == nil || g.kind != own.kind || g.kind == pmi || g.name != own.name || g.owner == own.owner {
			continue
		}
		for _, p := range g.tops { // strangers' processes are not looked into
			out = append(out, p.pid)
		}
	}
	slices.Sort(out)
	return out
}

// older orders processes by their age.
func older(a, b *process) int {
	return cmp.Or(cmp.Compare(a.stat.Started, b.stat.Started), cmp.Compare(a.pid, b.pid))
}

func (s *system) jobOf(at place) job {
	whose := s.status(at.top)
	j := job{kind: at.kind, name: at.job, owner: whose.owner, namespace: whose.namespace}
	if at.kind == pmi {
		j.size = s.size(at)
		// What was spawned has ranks from 0 on again, often by a server of its own.
		j.server = at.top.parent
		if s.env(at.top, "PMI_SPAWNED") == "" {
			j.server = s.overDaemon(j.server)
		}
	}
	return j
}

// overDaemon is the launcher of a daemon of hydra's, which it gives a socket to
// talk to it by (MPICH's src/pm/hydra, HYDI_CONTROL_FD): it is above the daemon
// if that is on the launcher's machine. Of anything else it is the process itself.
func (s *system) overDaemon(p *process) *process {
	if p == nil || p.parent == nil || p.parent.pid <= 1 {
		return p
	}
	if socket := s.env(p, "HYDI_CONTROL_FD"); socket == "" || socket == s.env(p.parent, "HYDI_CONTROL_FD") {
		return p
	}
	return p.parent
}

// groupOf is the job that a process has a seat in, and its rank there.
func (s *system) groupOf(p *process) (*group, int32) {
	s.groups()
	at := s.seats[p]
	return at.group, at.rank
}

// first is the outermost process of the lowest rank.
func (g *group) first() *process { return g.tops[slices.Min(slices.Collect(maps.Keys(g.tops)))] }

// isBelow is true if some process of the group descends from another process.
func (g *group) isBelow(p *process) bool {
	for _, top := range g.tops {
		if top.isBelow(p) {
			return true
		}
	}
	return false
}

// programs are the group's ranks, each with its MPI program.
func (s *system) programs(g *group) map[int32]*process {
	out := map[int32]*process{}
	for rank, processes := range g.ranks {
		out[rank] = s.innermost(processes)
	}
	return out
}

// innermost finds the MPI program among the processes of one rank: wrappers (a
// shell, numactl, time), the program, and what it has started in turn. With an
// MPI library it is one of those that have it; a wrapper can have it too, from
// LD_PRELOAD, and so the innermost of them is taken. But what has the program of
// its parent is a fork of it. If nobody has MPI it may be linked statically and
// stripped, and is taken for the innermost of all.
func (s *system) innermost(processes []*process) *process {
	if len(processes) == 1 {
		return processes[0]
	}
	candidates := slices.DeleteFunc(slices.Clone(processes), func(p *process) bool { return !s.inside(p).isMPI })
	if len(candidates) == 0 {
		candidates = slices.Clone(processes)
	}
	type standing struct {
		isFork, depth int
	}
	of := map[*process]standing{}
	for _, p := range candidates {
		of[p] = standing{depth: len(p.ancestors())}
	}
	for _, p := range candidates {
		if _, isCandidate := of[p.parent]; isCandidate {
			if program := s.program(p); program != "" && s.program(p.parent) == program {
				of[p] = standing{1, of[p].depth}
			}
		}
	}
	return slices.MinFunc(candidates, func(a, b *process) int {
		return cmp.Or(cmp.Compare(of[a].isFork, of[b].isFork), cmp.Compare(of[b].depth, of[a].depth), older(a, b))
	})
}
