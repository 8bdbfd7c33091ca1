package launch

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// find does what [Find] says. The rank that it finds for a process is that process,
// or is above or below it: two jobs that nothing tells apart give no rank of either.
func (s *system) find(pid int) (*Job, error) {
	j, err := s.search(pid)
	if err == nil {
		j.Others, j.OtherJobs = s.others(j.group, s.processes[j.Launcher])
		j.Claims = s.claims(j.group)
		j.group = nil // with all processes
	}
	if err != nil || j.Self == nil || j.Self.PID == pid || j.Self.Obstacle != "" || j.Self.Exited {
		return j, err
	}
	p, self := s.processes[pid], s.processes[j.Self.PID]
	if self == nil || !self.isBelow(p) && !p.isBelow(self) {
		return nil, fmt.Errorf("process %d (%s) is not the only one that says that it is rank %d of its job: process %d does too, and has nothing to do with it",
			pid, p.name, j.Self.Number.Value, j.Self.PID)
	}
	return j, nil
}

func (s *system) search(pid int) (*Job, error) {
	p := s.processes[pid]
	switch {
	case p == nil:
		return nil, fmt.Errorf("there is no process %d", pid)
	case p.stat.HasEnded():
		return nil, fmt.Errorf("process %d (%s) has ended: it is only waiting for its parent to notice", pid, p.name)
	}
	if len(s.inside(p).table) > 0 {
		return s.fromTable(p, p), nil
	}
	own, rank := s.groupOf(p)
	var below []*group
	for _, g := range s.groups() {
		if g != own && g.isBelow(p) {
			below = append(below, g)
		}
	}
	if a := s.lister(p); own == nil && a != nil {
		return s.fromTable(a, p), nil // with an environment of its own
	}
	switch {
	// A step of Slurm's can be a shell in which jobs are started.
	case own != nil && (len(below) == 0 || s.inside(s.innermost(own.ranks[rank])).isMPI):
		return s.fromGroup(own, p), nil
	case s.inside(p).isMPI:
		return s.singleton(p), nil
	case len(below) > 0:
		return s.launchedBelow(p, below)
	}
	// srun forks a child of itself, whose table is empty.
	if a := p.parent; a != nil && s.program(a) == s.program(p) && len(s.inside(a).table) > 0 {
		return s.fromTable(a, a), nil
	}
	return nil, s.neither(p)
}

// launchedBelow is the job of a process without a table that has jobs below it:
// it is their launcher, or something that has started a launcher.
func (s *system) launchedBelow(p *process, below []*group) (*Job, error) {
	var jobs []*Job
	known := map[int]bool{} // by launcher
	for _, g := range below {
		if j := s.fromGroup(g, nil); !known[j.Launcher] {
			known[j.Launcher] = true
			jobs = append(jobs, j)
		}
	}
	if i := slices.IndexFunc(jobs, func(j *Job) bool { return j.Launcher == p.pid }); i >= 0 {
		return jobs[i], nil
	}
	if len(jobs) == 1 {
		return jobs[0], nil
	}
	several := &SeveralError{PID: p.pid, Name: p.name}
	for _, j := range jobs {
		if j.Launcher != 0 {
			several.launchers = append(several.launchers, s.processes[j.Launcher].String())
		}
	}
	return nil, several
}

// SeveralError means that a process has more than one job below it, as a shell has
// that started several launchers.
type SeveralError struct {
	PID  int
	Name string

	launchers []string
}

func (e *SeveralError) Error() string {
	return fmt.Sprintf("process %d (%s) is above several MPI jobs: name the launcher of one, which are %s",
		e.PID, e.Name, strings.Join(e.launchers, ", "))
}

// fromGroup makes a job of what is known of it on this machine, from the side of
// its ranks. asked is the process that was asked for, if that is one of them.
func (s *system) fromGroup(g *group, asked *process) *Job {
	top := g.first()
	if asked != nil {
		at, _ := s.place(asked)
		top = at.top
	}
	if a := s.lister(top); a != nil {
		return s.fromTable(a, asked)
	}
	j := &Job{group: g, Size: g.worldSize, Here: s.sizeHere(g), Node: s.nodeOf(g)}
	s.name(j, g)
	j.Software = s.softwareOf(g)
	launcher := s.launcher(g, top)
	if launcher != nil {
		j.Launcher, j.Name = launcher.pid, launcher.name
	}
	for number, p := range s.programs(g) {
		j.Ranks = append(j.Ranks, Rank{Number: mqs.Known(number), PID: p.pid, Executable: s.program(p)})
	}
	for _, number := range s.ended(g) {
		j.Ranks = append(j.Ranks, Rank{Number: mqs.Known(number), Exited: true})
	}
	slices.SortFunc(j.Ranks, func(a, b Rank) int { return cmp.Compare(a.Number.Value, b.Number.Value) })
	if asked != nil {
		at, _ := s.place(asked)
		j.Self = j.rank(at.rank)
	}
	return j
}

// lister is the process above another one that has it in its table, nil if there is none.
func (s *system) lister(p *process) *process {
	for _, a := range p.ancestors() {
		for _, i := range s.entries(a)[p] {
			if s.isLocal(s.inside(a).table[i], int32(i), p) && s.speaksFor(a, p) {
				return a
			}
		}
	}
	return nil
}

// entries are those of a process's table, by the processes that they mean.
func (s *system) entries(launcher *process) map[*process][]int {
	of := s.inside(launcher)
	if of.entries == nil && len(of.table) > 0 {
		of.entries = map[*process][]int{}
		for i, e := range of.table {
			if p := s.listed(launcher, e); p != nil {
				of.entries[p] = append(of.entries[p], i)
			}
		}
	}
	return of.entries
}

// launcher is what started a process with a seat in a group, as far as it can be
// told without a table; nil if that is gone.
func (s *system) launcher(g *group, top *process) *process {
	out := s.overDaemon(top.parent)
	if out == nil || out.pid <= 1 {
		return nil
	}
	if g.kind == pmi && out.parent != nil && s.servers[out.parent] {
		return out.parent // this is the daemon of spawned ranks
	}
	return out
}

func (j *Job) rank(number int32) *Rank {
	for i := range j.Ranks {
		if j.Ranks[i].Number == mqs.Known(number) {
			return &j.Ranks[i]
		}
	}
	return nil
}

// others returns the processes of other jobs with the same launcher, and that of the lowest rank of each job.
func (s *system) others(own *group, launcher *process) (all, first []int) {
	if launcher == nil {
		return nil, nil
	}
	for _, g := range s.groups() {
		if g == own {
			continue
		}
		before := len(all)
		for _, rank := range slices.Sorted(maps.Keys(g.tops)) {
			top := g.tops[rank]
			// The launcher itself or a daemon below it. What a rank has started is deeper.
			server := top.parent
			if server == launcher || g.kind == pmi && server != nil && server.parent == launcher {
				// Only now: to tell a rank's program, all its processes are looked into.
				if s.speaksFor(launcher, top) {
					all = append(all, s.innermost(g.ranks[rank]).pid)
				}
			}
		}
		if len(all) > before {
			first = append(first, all[before])
		}
	}
	slices.Sort(all)
	return all, first
}

// fromTable makes a job of a launcher's table.
func (s *system) fromTable(launcher, asked *process) *Job {
	told := s.inside(launcher)
	table := told.table
	j := &Job{
		Launcher: launcher.pid, Name: launcher.name, Size: mqs.Known(int32(len(table))), Ranks: make([]Rank, 0, len(table)),
		IsAborting: told.isAborting, AbortReason: told.abortReason, Here: mqs.Known[int32](0),
	}
	var own *group
	self := -1
	for i, e := range table {
		r := Rank{Number: mqs.Known(int32(i)), PID: e.pid, Host: e.host, Executable: e.executable}
		if p := s.listed(launcher, e); s.isLocal(e, int32(i), p) {
			r.Host = ""
			if p != nil && p == asked {
				self = i
			}
			if g := s.fill(&r, p, e, launcher); g != nil {
				own = g
			}
			j.Here.Value++
		}
		j.Ranks = append(j.Ranks, r)
	}
	if g, rank := s.groupOf(asked); g != nil && g == own {
		j.Self = j.rank(rank)
	} else if self >= 0 {
		j.Self = &j.Ranks[self]
	}
	switch {
	case own != nil:
		j.group = own
		s.name(j, own)
		j.Node, j.Software = s.nodeOf(own), s.softwareOf(own)
	case told.step != "":
		j.Software = mqs.SlurmLauncher
		j.Names = []string{SlurmName + told.step}
	}
	return j
}

// isLocal is true if an entry of a table is of this machine, p being the process
// that has its number here, if there is one. The host need not have a name of this
// machine's: the nodes of Slurm have names of their own, which their ranks know.
func (s *system) isLocal(e entry, rank int32, p *process) bool {
	if s.isHere(e.host) {
		return true
	}
	if p == nil {
		return false
	}
	at, ok := s.place(p)
	return ok && at.rank == rank && (s.env(p, "SLURMD_NODENAME") == e.host || s.env(p, "PMIX_HOSTNAME") == e.host)
}

// fill adds what is known of the process of a table's entry on this machine, p,
// which may not be there, and returns its job if it has a seat in one. A number
// can have become another process's since: the seat tells or, without one, its
// program or its descent.
func (s *system) fill(r *Rank, p *process, e entry, launcher *process) *group {
	if p == nil && len(s.status(launcher).ids) > 1 {
		r.Obstacle = fmt.Sprintf("rank %d is process %d in the process namespace of %s, and is not to be seen from here: ask in its container, or as root",
			r.Number.Value, e.pid, launcher)
		return nil
	}
	if p == nil || p.stat.HasEnded() || p.stat.Started < launcher.stat.Started {
		r.Exited = true
		return nil
	}
	r.PID = p.pid
	if !s.speaksFor(launcher, p) {
		r.Obstacle = s.unheard(launcher, p, r.Number.Value)
		return nil
	}
	g, rank := s.groupOf(p)
	program := s.program(p)
	if g == nil {
		r.Exited = program != "" && filepath.Base(program) != filepath.Base(e.executable) && !p.isBelow(launcher)
		if !r.Exited {
			r.Executable = cmp.Or(program, r.Executable)
		}
		return nil
	}
	if rank != r.Number.Value {
		r.Exited = true
		return nil
	}
	inner := s.innermost(g.ranks[rank])
	r.PID, r.Executable = inner.pid, cmp.Or(s.program(inner), r.Executable)
	return g
}

// singleton is the job of a program that nobody has launched: MPI_Init makes an
// MPI_COMM_WORLD of one.
func (s *system) singleton(p *process) *Job {
	j := &Job{Size: mqs.Known[int32](1), Here: mqs.Known[int32](1), Ranks: []Rank{{Number: mqs.Known[int32](0), PID: p.pid, Executable: s.program(p)}}}
	j.Self = &j.Ranks[0]
	return j
}
