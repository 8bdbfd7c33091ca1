package main

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/mpi-queues/mpi-queues/bridge"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// stopped is a process that nothing is asked of.
type stopped struct {
	inferior.Inferior
	info inferior.Info
}

func (s stopped) Info() inferior.Info { return s.info }

func (stopped) Threads(context.Context, int, []string) ([]inferior.Thread, error) { return nil, nil }

func (stopped) FindSymbols(_ context.Context, names []string) ([]*inferior.Symbol, error) {
	return make([]*inferior.Symbol, len(names)), nil
}

// Those that can't be read stand among the others in the debugger's order.
func TestReadBeside(t *testing.T) {
	rank := int32(7)
	beside := obstacles([]bridge.Obstacle{{Inferior: 1, PID: 11, Executable: "/a", Rank: &rank, Reason: "it runs"}, {Inferior: 3, Reason: "no"}})
	targets := []inferior.Inferior{stopped{info: inferior.Info{Inferior: 2}}}
	quiet := func(string) {}
	for _, fail := range []error{nil, errors.New("unknown")} {
		s, err := together(t.Context(), quiet, targets, beside, read.Filter{}, func(r *inferior.Reader, _ read.Filter) (*mqs.Process, error) {
			return read.Identity(r.Info()), fail
		})
		if err != nil || len(s.Processes) != 3 {
			t.Fatalf("%+v, %v", s, err)
		}
		for i, p := range s.Processes {
			if p.Inferior != i+1 || (p.Unavailable == "") != (i == 1 && fail == nil) {
				t.Errorf("%d: %+v", i, p)
			}
		}
		if p := s.Processes[0]; p.GlobalRank != mqs.Known(rank) || p.PID != 11 || p.Image != "/a" || p.Unavailable != "it runs" {
			t.Errorf("%+v", p)
		}
	}
	if s, err := together(t.Context(), quiet, nil, beside, read.Filter{}, nil); err != nil || len(s.Processes) != 2 {
		t.Errorf("without any other: %+v, %v", s, err)
	}
	one := func(*inferior.Reader, read.Filter) (*mqs.Process, error) {
		return nil, errors.New("alone")
	}
	if _, err := together(t.Context(), quiet, targets, nil, read.Filter{}, one); err == nil {
		t.Error("that the only one can't be read is no error")
	}
}

func TestAbsent(t *testing.T) {
	rank := int32(5)
	for want, r := range map[string]bridge.Rank{
		"rank 5 is on node2, not on this machine": {Rank: &rank, PID: 9, Host: "node2"},
		"it is on node2, not on this machine":     {Host: "node2"},
		"process 9 is not attached":               {Rank: &rank, PID: 9},
		"process 9 has exited":                    {Rank: &rank, PID: 9, Exited: true},
		"process 9 (x) is not taken for rank 5":   {Rank: &rank, PID: 9, Obstacle: "process 9 (x) is not taken for rank 5"},
	} {
		p := absent(r)
		if p.Unavailable != want || p.GlobalRank.Known != (r.Rank != nil) || (p.PID != 0) != (r.Host == "") || (p.Phase == mqs.Exited) != r.Exited {
			t.Errorf("%+v: %+v, want %q", r, p, want)
		}
	}
}

// What was seen of a process here says nothing of one with the same number elsewhere.
func TestPastOfAnotherMachine(t *testing.T) {
	here, there := &mqs.Process{PID: os.Getpid()}, &mqs.Process{PID: os.Getpid()}
	isLive := func(p *mqs.Process) bool { return p == here }
	for s, want := range map[*mqs.Snapshot]bool{{Processes: []*mqs.Process{here}}: true, {Processes: []*mqs.Process{there, here}}: false} {
		h := &helper{}
		h.pastOf(s, isLive)
		if p := h.pastOf(s, isLive); (p.Earlier[os.Getpid()] != nil) != want {
			t.Errorf("%d processes of the number: the past is %+v", len(s.Processes), p)
		}
	}
}
