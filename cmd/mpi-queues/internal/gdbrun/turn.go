package gdbrun

import (
	"context"
	"errors"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/tracee"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// Turn is processes to be read one after another. One goroutine at a time asks it.
type Turn interface {
	// Next returns a process, as it is before gdb, and false if there is none left.
	Next() (before tracee.State, ok bool)
	// Done takes what was read of the process that Next returned last, or why nothing was: an error of
	// [GDB.Read].
	Done(s *mqs.Snapshot, err error)
}

// ReadInTurn reads processes, most at most, one after another through one gdb, which reads the symbols of
// their files once: those of the first while it still runs. A process at which this gdb ends is tried again
// by a new one, as the first, and then by one that reads no files ahead: what was read before may have been
// the reason. One that gdb makes no progress with, or that can't be stopped, is not. No
// process that ran before stays stopped. It fails if ctx ends, or with a [*UselessError].
func (g *GDB) ReadInTurn(ctx context.Context, f read.Filter, most int, t Turn) error {
	rest, ahead := &rest{Turn: t}, true
	for {
		first, ok := rest.Next()
		if !ok {
			return nil
		}
		rest.putBack(first)
		s := &server{filter: f, turn: rest, ahead: ahead}
		silence, err := g.once(ctx, s, Task{Before: []tracee.State{first}}, maxSteps(most))
		if err != nil {
			return err
		}
		var useless *UselessError
		var late *TimeoutError
		var held *tracee.HeldError
		isLost := errors.As(silence, &late) || errors.As(silence, &held)
		isSilent := s.answer == answer{}
		switch {
		case s.pending && (s.read > 0 || ahead) && isSilent && !isLost:
			ahead = ahead && s.read > 0
			rest.putBack(s.attached[len(s.attached)-1])
		case isSilent && s.read == 0 && errors.As(silence, &useless):
			return silence
		case s.pending:
			s.finish(silence)
		case len(s.attached) == 0 && s.read == 0: // it has not asked
			_, _ = rest.Next()
			rest.Done(nil, silence)
		}
	}
}

// rest is a turn's processes, that which was put back first.
type rest struct {
	Turn
	back []tracee.State
}

func (r *rest) putBack(before tracee.State) { r.back = []tracee.State{before} }

func (r *rest) Next() (tracee.State, bool) {
	if len(r.back) == 0 {
		return r.Turn.Next()
	}
	before := r.back[0]
	r.back = nil
	return before, true
}
