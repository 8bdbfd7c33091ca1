package read

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// fakeSource has communicators with queues as told.
type fakeSource struct {
	comms []mqs.Communicator
	queue func(c *mqs.Communicator, class mqs.OpClass) iter.Seq2[mqs.PendingOperation, error]
}

func (s *fakeSource) Info(p *mqs.Process) { p.MPI = "Fake MPI" }

func (s *fakeSource) Notes() []string { return nil }

func (s *fakeSource) Communicators() iter.Seq2[mqs.Communicator, error] {
	return func(yield func(mqs.Communicator, error) bool) {
		for _, c := range s.comms {
			if c.UniqueID == 0 {
				if !yield(mqs.Communicator{}, errors.New("a broken communicator")) {
					return
				}
				continue
			}
			if !yield(c, nil) {
				return
			}
		}
	}
}

func (s *fakeSource) Operations(c *mqs.Communicator, class mqs.OpClass) iter.Seq2[mqs.PendingOperation, error] {
	return s.queue(c, class)
}

// operations yields n operations, every third one internal, and then err.
func operations(n int, err error) iter.Seq2[mqs.PendingOperation, error] {
	return func(yield func(mqs.PendingOperation, error) bool) {
		for i := range n {
			if !yield(mqs.PendingOperation{DesiredTag: mqs.Known(int32(i)), Internal: i%3 == 2}, nil) {
				return
			}
		}
		if err != nil {
			yield(mqs.PendingOperation{}, err)
		}
	}
}

func fake() *fakeSource {
	return &fakeSource{
		comms: []mqs.Communicator{{UniqueID: 1, Name: mqs.Known("world")}, {}, {UniqueID: 2, Name: mqs.Known("")}, {UniqueID: 0xab, Name: mqs.Known("own"), Internal: true}},
		queue: func(*mqs.Communicator, mqs.OpClass) iter.Seq2[mqs.PendingOperation, error] { return operations(9, nil) },
	}
}

func collect(t *testing.T, s Source, f Filter) *mqs.Process {
	t.Helper()
	p, err := Collect(inferior.NewReader(context.Background(), readable), s, f)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestCollectKeepsWhatTheFilterSays(t *testing.T) {
	for _, c := range []struct {
		name  string
		f     Filter
		comms string
		kept  int
		total int
	}{
		{"all", Filter{}, "world,communicator 0x2", 6, 6},
		{"internal", Filter{Internal: true}, "world,communicator 0x2,own", 9, 9},
		{"limit", Filter{Limit: 2}, "world,communicator 0x2", 2, 6},
		{"name", Filter{Comm: "world"}, "world", 6, 6},
		{"id", Filter{Comm: "0xAB", Internal: true}, "own", 9, 9},
		{"queue", Filter{Queue: mqs.Known(mqs.PendingReceives)}, "world,communicator 0x2", 6, 6},
	} {
		p := collect(t, fake(), c.f)
		var names []string
		for _, q := range p.Communicators {
			names = append(names, q.Label())
			for _, class := range mqs.OpClasses {
				switch got := q.Queue[class]; {
				case c.f.Queue.Known && class != c.f.Queue.Value:
					if got != nil {
						t.Errorf("%s: %s is there", c.name, class)
					}
				case len(got.Operations) != c.kept || got.Total != c.total:
					t.Errorf("%s: %s has %d of %d", c.name, class, len(got.Operations), got.Total)
				}
			}
		}
		if got := strings.Join(names, ","); got != c.comms {
			t.Errorf("%s: %s", c.name, got)
		}
		if p.MPI != "Fake MPI" || p.PID != 7 || len(p.Notes) != 1 {
			t.Errorf("%s: %+v", c.name, p)
		}
	}
	_, err := Collect(inferior.NewReader(context.Background(), readable), fake(), Filter{Comm: "wrld"})
	var no *NoSuchCommunicatorError
	if !errors.As(err, &no) || !strings.Contains(err.Error(), `"world" (0x1), "" (0x2)`) {
		t.Errorf("no such communicator: %v", err)
	}
}

// A queue that breaks at once can't be read; one that breaks later is shown as far as it goes.
func TestCollectBrokenQueues(t *testing.T) {
	s := fake()
	s.queue = func(_ *mqs.Communicator, class mqs.OpClass) iter.Seq2[mqs.PendingOperation, error] {
		return operations(int(class)*4, errors.New("cannot read 8 bytes at 0x10"))
	}
	p := collect(t, s, Filter{Comm: "world"})
	q := p.Communicators[0].Queue
	if q[mqs.PendingSends].Unavailable != "cannot read 8 bytes at 0x10" || q[mqs.PendingSends].Operations != nil {
		t.Errorf("%+v", q[mqs.PendingSends])
	}
	if q[mqs.PendingReceives].Total != 3 || q[mqs.PendingReceives].Unavailable != "" || !q[mqs.PendingReceives].Incomplete {
		t.Errorf("%+v", q[mqs.PendingReceives])
	}
	if notes := strings.Join(p.Notes, "\n"); !strings.Contains(notes, "the pending receives of world may not be all: cannot read") {
		t.Errorf("notes: %s", notes)
	}
}

func TestCollectEndsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s := fake()
	s.queue = func(*mqs.Communicator, mqs.OpClass) iter.Seq2[mqs.PendingOperation, error] {
		return func(yield func(mqs.PendingOperation, error) bool) {
			for yield(mqs.PendingOperation{}, nil) {
				cancel()
			}
		}
	}
	if _, err := Collect(inferior.NewReader(ctx, readable), s, Filter{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// Queues that nobody wants are not read.
func TestCollectWithoutQueues(t *testing.T) {
	s := fake()
	s.queue = func(*mqs.Communicator, mqs.OpClass) iter.Seq2[mqs.PendingOperation, error] {
		t.Error("a queue is read")
		return operations(0, nil)
	}
	p := collect(t, s, Filter{NoQueues: true})
	if len(p.Communicators) != 2 || p.Communicators[0].Queue != [3]*mqs.Queue{} {
		t.Errorf("%+v", p.Communicators)
	}
}

// The communicator of an expression is found by its id in the process that has the expression, and by its context
// and members in others.
func TestCollectSame(t *testing.T) {
	group := []mqs.Maybe[int32]{mqs.Known[int32](0), mqs.Known[int32](1)}
	s := fake()
	s.comms = []mqs.Communicator{{UniqueID: 1, Name: mqs.Known("a"), Context: "3", Group: group}, {UniqueID: 2, Name: mqs.Known("b"), Context: "3"},
		{UniqueID: 3, Name: mqs.Known("c"), Context: "4", Group: group}}
	own := readable.Info().Inferior
	for _, c := range []struct {
		same Same
		want string
	}{
		{Same{own, &s.comms[1]}, "b"},
		{Same{own + 1, &mqs.Communicator{UniqueID: 2, Context: "4", Group: group}}, "c"},
		{Same{own + 1, &mqs.Communicator{UniqueID: 2, Context: "3"}}, ""},
	} {
		p, err := Collect(inferior.NewReader(context.Background(), readable), s, Filter{Comm: "x", Same: &c.same})
		var noComm *NoSuchCommunicatorError
		if found := err == nil && len(p.Communicators) == 1 && p.Communicators[0].Name.Value == c.want; !found && (c.want != "" || !errors.As(err, &noComm)) {
			t.Errorf("%+v: %+v, %v", c, p, err)
		}
	}
}
