package helper

import (
	"os"
	"testing"

	"github.com/mpi-queues/mpi-queues/bridge"
	"github.com/mpi-queues/mpi-queues/mqs"
)

// What the debugger can't read is a process with its reason.
func TestObstacles(t *testing.T) {
	rank := int32(7)
	got := obstacles([]bridge.Obstacle{{Inferior: 1, PID: 11, Executable: "/a", Rank: &rank, Reason: "it runs"}, {Inferior: 3, Reason: "no"}})
	if p := got[0]; len(got) != 2 || p.Inferior != 1 || p.GlobalRank != mqs.Known(rank) || p.PID != 11 || p.Image != "/a" || p.Unavailable != "it runs" {
		t.Errorf("%+v", p)
	}
	if p := got[1]; p.Inferior != 3 || p.GlobalRank.Known || p.Unavailable != "no" {
		t.Errorf("%+v", p)
	}
}

func TestAbsent(t *testing.T) {
	rank := int32(5)
	for want, r := range map[string]bridge.Rank{
		"rank 5 is on node2, not on this machine": {Rank: &rank, PID: 9, Host: "node2"},
		"it is on node2, not on this machine":     {Host: "node2"},
		"process 9 is not attached":               {Rank: &rank, PID: 9},
		"process 9 has exited":                    {Rank: &rank, PID: 9, Exited: true},
		"rank 5 has exited":                       {Rank: &rank, Exited: true},
		"process 9 (x) is not taken for rank 5":   {Rank: &rank, PID: 9, Obstacle: "process 9 (x) is not taken for rank 5"},
	} {
		p := absent(r)
		if p.Unavailable != want || p.GlobalRank.Known != (r.Rank != nil) || p.PID != 0 && r.Host != "" || (p.Phase == mqs.Exited) != r.Exited {
			t.Errorf("%+v: %+v, want %q", r, p, want)
		}
	}
}

// What was seen of a process here says nothing of one with the same number elsewhere.
func TestPastOfAnotherMachine(t *testing.T) {
	here, there := &mqs.Process{PID: os.Getpid()}, &mqs.Process{PID: os.Getpid()}
	isLive := func(p *mqs.Process) bool { return p == here }
	for s, want := range map[*mqs.Snapshot]bool{{Processes: []*mqs.Process{here}}: true, {Processes: []*mqs.Process{there, here}}: false} {
		h := &Helper{}
		h.pastOf(s, isLive)
		if p := h.pastOf(s, isLive); (p.Earlier[os.Getpid()] != nil) != want {
			t.Errorf("%d processes of the number: the past is %+v", len(s.Processes), p)
		}
	}
}
