package waitfor

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/target"
)

// ring is two ranks that wait for a message from each other, with an MPI that counts
// only the receives that had to wait.
func ring(first, second uint64) *mqs.Snapshot {
	s := &mqs.Snapshot{}
	for i, progress := range []uint64{first, second} {
		rank := int32(i)
		receive := mqs.PendingOperation{Status: mqs.Pending, DesiredLocalRank: mqs.Known(1 - rank), DesiredTag: mqs.Known(int32(7)),
			TagWild: mqs.Known(false), Request: mqs.Known(target.Addr(0x10)), Kind: "recv"}
		c := &mqs.Queues{Communicator: mqs.Communicator{Name: mqs.Known("MPI_COMM_WORLD"), LocalRank: mqs.Known(rank), Size: mqs.Known(int32(2)),
			Group: []mqs.Maybe[int32]{mqs.Known(int32(0)), mqs.Known(int32(1))}, Context: "0"}}
		c.Queue = [3]*mqs.Queue{{}, {Operations: []mqs.PendingOperation{receive}, Total: 1}, {}}
		s.Processes = append(s.Processes, &mqs.Process{PID: 100 + i, GlobalRank: mqs.Known(rank), WorldSize: mqs.Known(int32(2)), Phase: mqs.Active,
			Progress:      mqs.Known(progress),
			Threads:       []mqs.Thread{{Number: 1, Call: "MPI_Recv", Comm: mqs.Known(target.Addr(0)), Requests: []target.Addr{0x10}, AllRequests: true}},
			Communicators: []*mqs.Queues{c}})
	}
	return s
}

// elsewhere has the first rank not wait yet.
func elsewhere(s *mqs.Snapshot) *mqs.Snapshot {
	s.Processes[0].Threads[0].Call, s.Processes[0].Threads[0].Requests = "", nil
	return s
}

// counted has messages counted, and nothing else.
func counted(s *mqs.Snapshot, traffic []mqs.Traffic) *mqs.Snapshot {
	for _, p := range s.Processes {
		p.Progress, p.Communicators[0].Traffic = mqs.Maybe[uint64]{}, traffic
	}
	return s
}

// Where messages are not counted, one look at a job that may be running proves nothing;
// a second one does if no rank has gone on.
func TestLook(t *testing.T) {
	for _, c := range []struct {
		name    string
		earlier *mqs.Snapshot
		want    Verdict
		moving  bool
	}{
		{"one look", nil, Unknown, true},
		{"nobody has gone on", ring(3, 4), Deadlocked, false},
		{"one has gone on", ring(3, 3), Unknown, true},
		{"one was elsewhere", elsewhere(ring(3, 4)), Unknown, true},
		{"another process", &mqs.Snapshot{Processes: ring(3, 4).Processes[:1]}, Unknown, true},
	} {
		r := Look(ring(3, 4), c.earlier)
		if r.Verdict != c.want || r.Moving != c.moving {
			t.Errorf("%s: %q, moving %v: %s", c.name, r.Verdict, r.Moving, r.Why)
		}
		if c.want == Deadlocked && len(r.Notes) > 0 {
			t.Errorf("%s: there are doubts: %v", c.name, r.Notes)
		}
	}
	// Some keep no count at all: that the calls are the same has to do.
	for _, s := range []*mqs.Snapshot{counted(ring(3, 4), nil), counted(ring(3, 4), []mqs.Traffic{})} {
		counts := s.Processes[0].Communicators[0].Traffic != nil
		if r := Look(s, nil); (r.Verdict == Deadlocked) != counts {
			t.Errorf("one look, messages counted %v: %q", counts, r.Verdict)
		}
		if r := Look(s, s); r.Verdict != Deadlocked {
			t.Errorf("two looks, messages counted %v: %q", counts, r.Verdict)
		}
	}
	if r := Analyse(ring(3, 4)); r.Verdict != Deadlocked || len(r.Notes) != 1 {
		t.Errorf("of a snapshot: %q, with %q", r.Verdict, r.Notes)
	}
}
