package mqs

import (
	"cmp"
	"math/bits"
	"sync/atomic"
)

// maxSeats bounds the size of a job that is believed of a launcher.
const maxSeats = 1 << 22

// Seat gives a process what only its launcher knows: its rank and the size of its job.
// Where MPI_COMM_WORLD was known by nothing but its name, all of it follows.
func (p *Process) Seat(rank, size Maybe[int32]) {
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
