package cluster

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/wire"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
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
		q.opener.again()
		part, err := q.opener.open("node", received(t, &sent)[0], q.opener.budget.Account(t.Context()))
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

// received is what collectors have sent.
func received(t *testing.T, sent io.Reader) []*wire.Collector {
	t.Helper()
	r := wire.NewReceiver(wire.DefaultLimits())
	if err := r.Read(sent, nil); err != nil {
		t.Fatal(err)
	}
	return r.Collectors()
}

// TestHonestMemory checks that honest jobs are read within the bounds for hostile ones: a million ranks on many nodes, by what
// a thousand take, and a node whose ranks have deep queues that differ regularly.
func TestHonestMemory(t *testing.T) {
	for name, s := range map[string]*simulation{"halo": halo(10), "irregular": irregular(1000)} {
		s.measure()
		var sent bytes.Buffer
		if err := s.write(&sent, "v1", 0); err != nil {
			t.Fatal(err)
		}
		var o opener
		o.again()
		before := o.budget.Left()
		for _, c := range received(t, &sent) {
			if _, err := o.open(c.Node, c, o.budget.Account(t.Context())); err != nil {
				t.Errorf("%s: %s: %v", name, c.Node, err)
			}
		}
		if spent := before - o.budget.Left(); spent*1000 > before {
			t.Errorf("%s: %d bytes of %d for a thousand ranks", name, spent, before)
		}
	}
	const ranks, operations = 128, 2000
	node := &mqs.Snapshot{}
	for rank := range ranks {
		q := &mqs.Queues{Communicator: mqs.Communicator{UniqueID: 1, Group: mqs.WholeGroup(ranks)}}
		all := make([]mqs.PendingOperation, operations)
		for i := range all {
			all[i] = mqs.PendingOperation{Status: mqs.Pending, DesiredLocalRank: mqs.Known(int32((rank + 1) % ranks)), DesiredTag: mqs.Known(int32(i)),
				Kind: "irecv", Request: mqs.Known(inferior.Addr(0x550000000000 + rank<<24 + i<<8))}
		}
		q.Queue[mqs.PendingReceives] = &mqs.Queue{Total: operations, Operations: all}
		node.Processes = append(node.Processes, &mqs.Process{PID: 70 + rank, GlobalRank: mqs.Known(int32(rank)), Communicators: []*mqs.Queues{q}})
	}
	var sent bytes.Buffer
	to, err := wire.NewSender(&sent, "node", "m", "v1")
	if err == nil {
		err = to.Document(func(w io.Writer) error { return (&header{}).write(w, node) })
	}
	if err != nil {
		t.Fatal(err)
	}
	var o opener
	o.again()
	if p, err := o.open("node", received(t, &sent)[0], o.budget.Account(t.Context())); err != nil || len(p.Processes) != ranks {
		t.Errorf("deep queues: %v", err)
	}
}

// TestReadInTime checks that what a node has sent is not read any longer than a node may take.
func TestReadInTime(t *testing.T) {
	f, err := os.Open(sends(t, "a", "v1", "pmix:1", 0))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	q := &Question{Version: "v1", Limit: -answerPatience}
	q.opener.again()
	for _, host := range []string{"a", ""} {
		got := q.open(t.Context(), host, received(t, f), errSilent)
		if len(got) != 1 || got[0].err == nil || !strings.Contains(got[0].err.Error(), "can't be read within") {
			t.Errorf("%+v", got)
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			t.Fatal(err)
		}
	}
}
