package cluster

import (
	"bytes"
	"io"
	"testing"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/wire"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/liveness"
)

// A rank that stands is read once, and has its process id in each look. One that has moved, whose groups have changed, or of
// which others tell more is read again.
func TestOpenAgain(t *testing.T) {
	world := mqs.WholeGroup(4)
	process := func(rank int32, phase mqs.Phase, q *mqs.Queues) *mqs.Process {
		return &mqs.Process{PID: 70 + int(rank), GlobalRank: mqs.Known(rank), Phase: phase, Communicators: []*mqs.Queues{q}}
	}
	comm := func(group []mqs.Maybe[int32]) *mqs.Queues {
		return &mqs.Queues{Communicator: mqs.Communicator{UniqueID: 1, Group: group}}
	}
	sending := func() *mqs.Queues {
		q := comm(world)
		q.Queue[mqs.PendingSends] = &mqs.Queue{Total: 1, Operations: []mqs.PendingOperation{{Status: mqs.Pending, MessageID: mqs.Known[uint64](5)}}}
		return q
	}
	q := &Question{Version: "v1"}
	look := func(machine string, processes ...*mqs.Process) ([]*mqs.Process, *Answer) {
		t.Helper()
		h := header{Names: []string{"pmix:1"}, Stopped: map[int]liveness.Clock{}, Left: map[int]liveness.Clock{}}
		for _, p := range processes {
			h.Left[p.PID] = liveness.Clock{Started: uint64(p.PID)}
		}
		var sent bytes.Buffer
		to, err := wire.NewSender(&sent, "node", machine, "v1")
		if err == nil {
			err = to.Document(func(w io.Writer) error { return h.write(w, &mqs.Snapshot{Processes: processes}) })
		}
		if err != nil {
			t.Fatal(err)
		}
		r := wire.NewReceiver(wire.DefaultLimits())
		if err := r.Read(&sent, nil); err != nil {
			t.Fatal(err)
		}
		part, err := q.opener.open("node", r.Collectors()[0])
		if err != nil {
			t.Fatal(err)
		}
		a, err := q.together([]reply{{host: "node", machine: machine, part: part}})
		if err != nil {
			t.Fatal(err)
		}
		return a.Processes, a
	}
	stands := func() *mqs.Process { return process(0, mqs.Active, comm(world)) }
	first, _ := look("m", stands(), process(1, mqs.Starting, comm(world)), process(2, mqs.Active, sending()))
	second, a := look("m", stands(), process(1, mqs.Active, comm(world)), process(2, mqs.Active, sending()))
	if second[0] != first[0] || second[1] == first[1] || second[2] == first[2] {
		t.Error("not the rank that stands alone is the same one")
	}
	for i, p := range second {
		if p.PID != first[i].PID || a.Left[p.PID].Started != uint64(70+i) {
			t.Errorf("rank %d has the process id %d, and %d before; its clock is %+v", i, p.PID, first[i].PID, a.Left[p.PID])
		}
	}
	if third, _ := look("m", stands()); third[0] != first[0] {
		t.Error("it is read again since there are fewer others")
	}
	fourth, _ := look("m", stands())
	if fifth, _ := look("m", process(0, mqs.Active, comm(mqs.WholeGroup(3)))); fifth[0] == fourth[0] || len(fifth[0].Communicators[0].Group) != 3 {
		t.Errorf("it has the group that it had before: %v", fifth[0].Communicators[0].Group)
	}
	sixth, _ := look("m", stands())
	if other, _ := look("another machine", stands()); other[0] == sixth[0] {
		t.Error("one of another machine is taken for it")
	}
}
