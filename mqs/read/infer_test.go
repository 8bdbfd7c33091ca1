package read

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// exchanged are the sender and the receiver of one message on MPI_COMM_WORLD. The sender's library
// keeps no destination.
func exchanged(tag, bytes int32) *mqs.Snapshot {
	comm := func(rank int32) mqs.Communicator {
		return mqs.Communicator{Name: mqs.Known("MPI_COMM_WORLD"), LocalRank: mqs.Known(rank), Context: "0"}
	}
	send := mqs.PendingOperation{Status: mqs.Pending, DesiredTag: mqs.Known(int32(7)), DesiredLength: mqs.Known(int64(80)), MessageID: mqs.Known(uint64(0x10))}
	arrived := mqs.PendingOperation{Status: mqs.Pending, ActualLocalRank: mqs.Known(int32(0)), ActualTag: mqs.Known(tag), ActualLength: mqs.Known(int64(bytes)), MessageID: mqs.Known(uint64(0x10))}
	return &mqs.Snapshot{Processes: []*mqs.Process{
		{GlobalRank: mqs.Known(int32(0)), Communicators: []*mqs.Queues{{Communicator: comm(0), Queue: [3]*mqs.Queue{{Operations: []mqs.PendingOperation{send}}, {}, {}}}}},
		{GlobalRank: mqs.Known(int32(3)), Communicators: []*mqs.Queues{{Communicator: comm(3), Queue: [3]*mqs.Queue{{}, {}, {Operations: []mqs.PendingOperation{arrived}}}}}},
	}}
}

func TestInfer(t *testing.T) {
	for _, c := range []struct {
		name   string
		tag    int32
		bytes  int32
		change func(*mqs.Snapshot)
		known  bool
	}{
		{"the message that names the send", 7, 80, nil, true},
		{"another tag", 8, 80, nil, false},
		{"another length", 7, 81, nil, false},
		{"another communicator", 7, 80, func(s *mqs.Snapshot) { s.Processes[1].Communicators[0].Context = "16" }, false},
		{"another sender", 7, 80, func(s *mqs.Snapshot) {
			s.Processes[1].Communicators[0].Queue[mqs.UnexpectedMessages].Operations[0].ActualLocalRank = mqs.Known(int32(1))
		}, false},
		{"two receivers", 7, 80, func(s *mqs.Snapshot) {
			third := *exchanged(7, 80).Processes[1]
			third.GlobalRank = mqs.Known(int32(4))
			s.Processes = append(s.Processes, &third)
		}, false},
		{"a send that knows where it goes", 7, 80, func(s *mqs.Snapshot) {
			s.Processes[0].Communicators[0].Queue[mqs.PendingSends].Operations[0].DesiredLocalRank = mqs.Known(int32(2))
		}, false},
	} {
		s := exchanged(c.tag, c.bytes)
		if c.change != nil {
			c.change(s)
		}
		infer(s)
		op := s.Processes[0].Communicators[0].Queue[mqs.PendingSends].Operations[0]
		if got := len(op.ExtraText) > 0; got != c.known {
			t.Errorf("%s: %+v", c.name, op)
		}
		if c.known && (op.DesiredLocalRank != mqs.Known(int32(3)) || op.ActualGlobalRank != mqs.Known(int32(3))) {
			t.Errorf("%s: %+v", c.name, op)
		}
	}
}
