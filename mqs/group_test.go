package mqs

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/internal/cost"
)

// Of a library that knows no more of MPI_COMM_WORLD than its messages the launcher knows the rest.
func TestSeat(t *testing.T) {
	p := &Process{Communicators: []*Queues{{Communicator: Communicator{Name: Known("MPI_COMM_WORLD")}}}}
	p.Seat(Known(int32(3)), Known(int32(4)), "")
	c := p.Communicators[0]
	if p.GlobalRank != Known(int32(3)) || c.LocalRank != Known(int32(3)) || len(c.Group) != 4 || c.Size != Known(int32(4)) {
		t.Errorf("%+v", c.Communicator)
	}
}

// What is known of MPI_COMM_WORLD's size stays, and what is known of a rank.
func TestSeatOfKnown(t *testing.T) {
	c := &Communicator{Name: Known("MPI_COMM_WORLD"), LocalRank: Known(int32(1))}
	if c.Seat(Maybe[int32]{}, Maybe[int32]{}); !c.IsBareWorld() || c.LocalRank != Known(int32(1)) {
		t.Errorf("%+v", c)
	}
	if c.Seat(Maybe[int32]{}, Known(int32(2))); c.IsBareWorld() || c.LocalRank != Known(int32(1)) {
		t.Errorf("%+v", c)
	}
	if (&Communicator{Name: Known("halo")}).IsBareWorld() {
		t.Error("another communicator is taken for MPI_COMM_WORLD")
	}
}

// A launcher's word on the size of a job makes one group, however many communicators are
// called MPI_COMM_WORLD and however many processes say so; a size that can't be makes none.
func TestClaimedSeats(t *testing.T) {
	named := func() *Process {
		p := &Process{}
		for range 100 {
			p.Communicators = append(p.Communicators, &Queues{Communicator: Communicator{Name: Known("MPI_COMM_WORLD")}})
		}
		return p
	}
	cost.AtMost(t, cost.Most, func() {
		for range 10 {
			p := named()
			p.Seat(Known(int32(3)), Known(int32(maxSeats)), "")
			if g := p.Communicators[99].Group; len(g) != maxSeats || g[maxSeats-1] != Known(int32(maxSeats-1)) {
				t.Errorf("the group has %d members", len(g))
			}
		}
	})
	p := named()
	if p.Seat(Known(int32(3)), Known(int32(maxSeats+1)), ""); p.WorldSize.Known || p.Communicators[0].Group != nil {
		t.Errorf("a job of %d is believed", p.WorldSize.Value)
	}
}

// TestSeatOfAlone checks that what a launcher says of a process that is alone in its MPI_COMM_WORLD is kept apart, and only then.
func TestSeatOfAlone(t *testing.T) {
	one, two, four := Known(int32(1)), Known(int32(2)), Known(int32(4))
	for name, c := range map[string]struct {
		p          Process
		rank, size Maybe[int32]
		want       Maybe[int32]
	}{
		"alone":                       {Process{Phase: Active, WorldSize: one, GlobalRank: Known(int32(0))}, two, four, two},
		"alone, with a debugger's":    {Process{Phase: Active, WorldSize: one, GlobalRank: two}, two, four, two},
		"a job of one":                {Process{Phase: Active, WorldSize: one, GlobalRank: Known(int32(0))}, Known(int32(0)), one, Maybe[int32]{}},
		"no launcher":                 {Process{Phase: Active, WorldSize: one, GlobalRank: Known(int32(0))}, Maybe[int32]{}, Maybe[int32]{}, Maybe[int32]{}},
		"a launcher without the size": {Process{Phase: Active, WorldSize: one, GlobalRank: Known(int32(0))}, two, Maybe[int32]{}, Maybe[int32]{}},
		"joined":                      {Process{Phase: Active, WorldSize: four, GlobalRank: two}, two, four, Maybe[int32]{}},
		"in MPI_Init":                 {Process{Phase: Starting, WorldSize: one}, two, four, Maybe[int32]{}},
		"of unknown size":             {Process{Phase: Active}, two, four, Maybe[int32]{}},
	} {
		p := c.p
		p.Seat(c.rank, c.size, HydraLauncher)
		if p.LaunchedRank != c.want || p.LaunchedSize.Known != c.want.Known || (p.Launcher != "") != c.want.Known {
			t.Errorf("%s: launched as %v of %v by %q", name, p.LaunchedRank, p.LaunchedSize, p.Launcher)
		}
		if c.want.Known && (p.GlobalRank != Known(int32(0)) || p.WorldSize != one) {
			t.Errorf("%s: rank %v of %v", name, p.GlobalRank, p.WorldSize)
		}
	}
}

// TestPlaced checks that a process which did not join its launcher's job counts by the launcher's rank, and its communicators
// still have it alone.
func TestPlaced(t *testing.T) {
	joined := &Process{GlobalRank: Known(int32(2)), WorldSize: Known(int32(4))}
	if joined.Placed() != joined {
		t.Error("a process that joined is changed")
	}
	p := &Process{GlobalRank: Known(int32(0)), WorldSize: Known(int32(1)), LaunchedRank: Known(int32(2)), LaunchedSize: Known(int32(4)), Communicators: []*Queues{
		{Communicator: Communicator{Name: Known("halo"), Group: []Maybe[int32]{Known(int32(0))}, RemoteGroup: []Maybe[int32]{{}}}},
		{Communicator: Communicator{Name: Known("MPI_COMM_WORLD")}},
	}}
	got := p.Placed()
	if rank, size := p.Place(); got.GlobalRank != rank || got.WorldSize != size || rank != Known(int32(2)) || size != Known(int32(4)) {
		t.Errorf("rank %v of %v", got.GlobalRank, got.WorldSize)
	}
	for i, c := range got.Communicators {
		if len(c.Group) != 1 || c.Group[0] != Known(int32(2)) {
			t.Errorf("communicator %d: group %v", i, c.Group)
		}
	}
	if r := got.Communicators[0].RemoteGroup; len(r) != 1 || r[0].Known || p.Communicators[0].Group[0] != Known(int32(0)) || p.Communicators[1].Group != nil {
		t.Errorf("remote group %v, the process had %v", r, p.Communicators[0].Group)
	}
}
