package mqs

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/internal/cost"
)

// Of a library that knows no more of MPI_COMM_WORLD than its messages the launcher knows the rest.
func TestSeat(t *testing.T) {
	p := &Process{Communicators: []*Queues{{Communicator: Communicator{Name: Known("MPI_COMM_WORLD")}}}}
	p.Seat(Known(int32(3)), Known(int32(4)))
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
			p.Seat(Known(int32(3)), Known(int32(maxSeats)))
			if g := p.Communicators[99].Group; len(g) != maxSeats || g[maxSeats-1] != Known(int32(maxSeats-1)) {
				t.Errorf("the group has %d members", len(g))
			}
		}
	})
	p := named()
	if p.Seat(Known(int32(3)), Known(int32(maxSeats+1))); p.WorldSize.Known || p.Communicators[0].Group != nil {
		t.Errorf("a job of %d is believed", p.WorldSize.Value)
	}
}
