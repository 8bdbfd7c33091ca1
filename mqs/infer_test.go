package mqs

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/internal/cost"
)

// sender and receiver of one message on MPI_COMM_WORLD, of which the sender's library keeps
// no destination.
func exchanged(tag, bytes int32) *Snapshot {
	comm := func(rank int32) Communicator {
		return Communicator{Name: Known("MPI_COMM_WORLD"), LocalRank: Known(rank), Context: "0"}
	}
	send := PendingOperation{Status: Pending, DesiredTag: Known(int32(7)), DesiredLength: Known(int64(80)), MessageID: Known(uint64(0x10))}
	arrived := PendingOperation{Status: Pending, ActualLocalRank: Known(int32(0)), ActualTag: Known(tag), ActualLength: Known(int64(bytes)), MessageID: Known(uint64(0x10))}
	return &Snapshot{Processes: []*Process{
		{GlobalRank: Known(int32(0)), Communicators: []*Queues{{Communicator: comm(0), Queue: [3]*Queue{{Operations: []PendingOperation{send}}, {}, {}}}}},
		{GlobalRank: Known(int32(3)), Communicators: []*Queues{{Communicator: comm(3), Queue: [3]*Queue{{}, {}, {Operations: []PendingOperation{arrived}}}}}},
	}}
}

func TestInfer(t *testing.T) {
	for _, c := range []struct {
		name   string
		tag    int32
		bytes  int32
		change func(*Snapshot)
		known  bool
	}{
		{"the message that names the send", 7, 80, nil, true},
		{"another tag", 8, 80, nil, false},
		{"another length", 7, 81, nil, false},
		{"another communicator", 7, 80, func(s *Snapshot) { s.Processes[1].Communicators[0].Context = "16" }, false},
		{"another sender", 7, 80, func(s *Snapshot) {
			s.Processes[1].Communicators[0].Queue[UnexpectedMessages].Operations[0].ActualLocalRank = Known(int32(1))
		}, false},
		{"two receivers", 7, 80, func(s *Snapshot) {
			third := *exchanged(7, 80).Processes[1]
			third.GlobalRank = Known(int32(4))
			s.Processes = append(s.Processes, &third)
		}, false},
		{"a send that knows where it goes", 7, 80, func(s *Snapshot) {
			s.Processes[0].Communicators[0].Queue[PendingSends].Operations[0].DesiredLocalRank = Known(int32(2))
		}, false},
	} {
		s := exchanged(c.tag, c.bytes)
		if c.change != nil {
			c.change(s)
		}
		s.Infer()
		op := s.Processes[0].Communicators[0].Queue[PendingSends].Operations[0]
		if got := len(op.ExtraText) > 0; got != c.known {
			t.Errorf("%s: %+v", c.name, op)
		}
		if c.known && (op.DesiredLocalRank != Known(int32(3)) || op.ActualGlobalRank != Known(int32(3))) {
			t.Errorf("%s: %+v", c.name, op)
		}
	}
}

// Of a library that knows no more of MPI_COMM_WORLD than its messages the launcher knows the rest.
func TestSeat(t *testing.T) {
	p := exchanged(7, 80).Processes[1]
	p.GlobalRank = Maybe[int32]{}
	p.Communicators[0].LocalRank = Maybe[int32]{}
	p.Seat(Known(int32(3)), Known(int32(4)))
	c := p.Communicators[0]
	if p.GlobalRank != Known(int32(3)) || c.LocalRank != Known(int32(3)) || len(c.Group) != 4 || c.Size != Known(int32(4)) {
		t.Errorf("%+v", c.Communicator)
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
