package mqs

import (
	"cmp"
	"math/bits"
	"sync/atomic"
)

// maxSeats bounds the size of a job that is believed of a launcher.
const maxSeats = 1 << 22

// The software that launchers belong to.
const (
	OpenMPILauncher = "Open MPI" // mpirun; also PRRTE's prterun that it runs
	HydraLauncher   = "Hydra"    // mpiexec of MPICH and of the MPIs derived from it
	SlurmLauncher   = "Slurm"    // srun
)

// Seat gives a process what only its launcher knows: its rank and the size of its job, and the software that the
// launcher belongs to. Where MPI_COMM_WORLD was known by nothing but its name, all of it follows. If MPI_COMM_WORLD
// has the process alone although the launcher started others, what the launcher says is kept apart.
func (p *Process) Seat(rank, size Maybe[int32], launcher string) {
	if p.IsAlone() && rank.Known && size.Value > 1 && size.Value <= maxSeats {
		p.GlobalRank = Known[int32](0) // a debugger may have had it from the launcher
		p.LaunchedRank, p.LaunchedSize, p.Launcher = rank, size, launcher
		return
	}
	if !p.GlobalRank.Known {
		p.GlobalRank = rank
	}
	if !p.WorldSize.Known && size.Value > 0 && size.Value <= maxSeats {
		p.WorldSize = size
	}
	for _, c := range p.Communicators {
		if c.IsBareWorld() {
			c.Seat(p.GlobalRank, p.WorldSize)
		}
	}
}

// IsAlone reports whether MPI_Init has made an MPI_COMM_WORLD of the process alone.
func (p *Process) IsAlone() bool { return p.Phase == Active && p.WorldSize == Known[int32](1) }

// Place returns the rank and the size by which a report counts the process: the launcher's, if the process did not join
// the launcher's job.
func (p *Process) Place() (rank, size Maybe[int32]) {
	if p.LaunchedRank.Known {
		return p.LaunchedRank, p.LaunchedSize
	}
	return p.GlobalRank, p.WorldSize
}

// Placed returns the process with its place as its rank and its size of the job. MPI_COMM_WORLD and other communicators
// keep their own size.
func (p *Process) Placed() *Process {
	if !p.LaunchedRank.Known {
		return p
	}
	out := *p
	out.GlobalRank, out.WorldSize = p.Place()
	out.Communicators = make([]*Queues, len(p.Communicators))
	for i, q := range p.Communicators {
		own := *q
		own.Group, own.RemoteGroup = placedGroup(q.Group, p.LaunchedRank), placedGroup(q.RemoteGroup, p.LaunchedRank)
		if q.IsBareWorld() {
			own.Seat(Known[int32](0), Known[int32](1))
			own.Group = []Maybe[int32]{p.LaunchedRank}
		}
		out.Communicators[i] = &own
	}
	return &out
}

// placedGroup renumbers the rank of a group of one process.
func placedGroup(group []Maybe[int32], rank Maybe[int32]) []Maybe[int32] {
	if group == nil {
		return nil
	}
	out := make([]Maybe[int32], len(group))
	for i, r := range group {
		if r.Known {
			out[i] = rank
		}
	}
	return out
}

// IsBareWorld says whether a communicator is MPI_COMM_WORLD and known by nothing but its name, as of a library
// that is stripped.
func (c *Communicator) IsBareWorld() bool {
	return c.Name == Known("MPI_COMM_WORLD") && c.Group == nil && !c.Size.Known
}

// Seat gives MPI_COMM_WORLD the rank of the process in it, its size and its group, if the size is known.
func (c *Communicator) Seat(rank, size Maybe[int32]) {
	if size.Value <= 0 || size.Value > maxSeats {
		return
	}
	c.LocalRank, c.Size, c.Group = cmp.Or(rank, c.LocalRank), size, WholeGroup(size.Value)
}

// whole is the largest group that [WholeGroup] has made.
var whole atomic.Pointer[[]Maybe[int32]]

// WholeGroup is the group of the first n ranks in their order, which is MPI_COMM_WORLD's if
// it has n; n must not be negative. All that ask share the largest one and must not change
// it: its size may be nothing but a number that somebody claims.
func WholeGroup(n int32) []Maybe[int32] {
	kept := whole.Load()
	if kept == nil || len(*kept) < int(n) {
		group := make([]Maybe[int32], 1<<bits.Len32(uint32(n))) // seldom made anew
		for i := range group {
			group[i] = Known(int32(i))
		}
		kept = &group
		whole.Store(kept)
	}
	return (*kept)[:n:n]
}
