package gdbrun

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mpi-queues/mpi-queues/bridge"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/helper"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/tracee"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/procmem"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// server is the helper of one run of gdb: what a helper shows in gdb, it keeps.
type server struct {
	*helper.Helper
	settings Settings
	filter   read.Filter
	tell     func(step string)
	task     Task
	// giveUp ends gdb at once: it waits for a process that can't be stopped.
	giveUp context.CancelCauseFunc
	// unanswering is a process that had not stopped when gdb's time was over.
	unanswering error
	images      procmem.Images
	// turn names the processes that gdb is to read, nil if the task does.
	turn Turn
	// ahead is true if gdb is to read the files of the first one before it attaches.
	ahead bool

	mu     sync.Mutex // held while the queues are read
	answer answer
	// attached is what the processes that turn has named were like before.
	attached []tracee.State
	// pending is true while gdb has a process that turn has named last, and read is how many it had before.
	pending bool
	read    int
}

// answer is what gdb and the helper have said of what was to be read.
type answer struct {
	snapshot *mqs.Snapshot
	err      error
	// failure is why gdb has gone no further, in its own words, and attached whether it had attached.
	failure  string
	attached bool
}

// Queues reads the queues of the processes that gdb has attached to, or has gdb record one.
func (s *server) Queues(ctx context.Context, d *bridge.Debugger, p bridge.QueuesParams) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.Source = s.settings.source(p.Source.Starters)
	if p.Record {
		s.tell("recording the process")
		s.answer.err = s.Helper.Queues(ctx, d, p)
		return s.answer.err
	}
	s.answer.snapshot, s.answer.err = s.Read(ctx, d, p, s.filter, s.tell)
	return s.answer.err
}

// Status hears what gdb does by itself.
func (s *server) Status(_ context.Context, _ *bridge.Debugger, p bridge.StatusParams) (*bridge.StatusResult, error) {
	if p.Message != "" {
		s.tell(p.Message)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.Failure != "" {
		s.answer.failure, s.answer.attached = p.Failure, p.Attached
	}
	return &bridge.StatusResult{}, nil
}

// Next names the process that gdb is to read next: it has done what it could with the one before.
func (s *server) Next(ctx context.Context, _ *bridge.Debugger, _ bridge.NextParams) (*bridge.NextResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn == nil {
		return nil, errors.New("no processes are read in turn")
	}
	if s.pending {
		s.finish(errors.New("gdb has said nothing of it"))
		s.read++
	}
	before, ok := s.turn.Next()
	for ; ok; before, ok = s.turn.Next() {
		err := tracee.CanStop(ctx, before.PID)
		if err == nil {
			err = s.check(ctx, before.PID)
		}
		if err == nil || ctx.Err() != nil { // gdb is about to end, and why is said of this process
			break
		}
		s.turn.Done(nil, err)
		s.read++
	}
	if !ok {
		return &bridge.NextResult{}, nil
	}
	s.pending = true
	s.attached = append(s.attached, before)
	s.tell(fmt.Sprintf("attaching to process %d", before.PID))
	return &bridge.NextResult{PID: before.PID}, nil
}

// Ranks are those of a job that gdb may attach to.
func (s *server) Ranks(ctx context.Context, d *bridge.Debugger, p bridge.RanksParams) (*bridge.RanksResult, error) {
	out, err := s.Helper.Ranks(ctx, d, p)
	if err != nil {
		return nil, err
	}
	for i := range out.Ranks {
		r := &out.Ranks[i]
		if r.Host != "" || r.Exited || r.Obstacle != "" {
			continue
		}
		if !s.isWanted(r.PID) {
			r.Obstacle = fmt.Sprintf("process %d was not asked for", r.PID)
			continue
		}
		if err := s.check(ctx, r.PID); err != nil {
			r.Obstacle = err.Error()
		}
	}
	return out, nil
}

// isWanted reports whether gdb may attach to a process. Only those whose state before is recorded can be put back into it.
func (s *server) isWanted(pid int) bool {
	return len(s.task.Before) == 0 || slices.ContainsFunc(s.task.Before, func(p tracee.State) bool { return p.PID == pid })
}

// watch ends gdb if a process to which it is attaching can no longer be stopped, although it could when gdb was given it.
func (s *server) watch(ctx context.Context, gdb int) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Second): // most gdbs have ended by then
		}
		for _, held := range tracee.Held(ctx, s.traced(gdb)...) {
			s.giveUp(held)
			return
		}
	}
}

// traced returns the processes that gdb has attached to, or is attaching to.
func (s *server) traced(gdb int) []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []int
	for _, before := range slices.Concat(s.task.Before, s.attached) {
		if now, err := tracee.Read(before.PID); err == nil && now.Tracer == gdb && !slices.Contains(out, before.PID) {
			out = append(out, before.PID)
		}
	}
	return out
}

// findUnanswering finds the process for which a gdb that has made no progress was waiting.
func (s *server) findUnanswering(ctx context.Context, gdb int) {
	var late *TimeoutError
	if !errors.As(context.Cause(ctx), &late) || !s.mu.TryLock() { // gdb asks for queues, so its processes have stopped
		return
	}
	s.mu.Unlock()
	for _, pid := range s.traced(gdb) {
		if tracee.AwaitsStop(pid, gdb) {
			s.unanswering = tracee.Outside(pid, mqs.Unanswering)
			return
		}
	}
}

// check fails if gdb is not to be given a process. Its files may be on a server that does not answer: who waits for one of them can't
// be interrupted, and is left behind when ctx ends.
func (s *server) check(ctx context.Context, pid int) error {
	checked := make(chan error, 1)
	go func() { checked <- s.images.Check(pid) }()
	select {
	case err := <-checked:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// finish hands over what was said of the process that was named last. silence is why nothing was.
func (s *server) finish(silence error) {
	snapshot, err := s.answer.result(silence)
	s.answer, s.pending = answer{}, false
	s.turn.Done(snapshot, err)
}

// result is what was read, or why nothing was, as far as gdb has said it. silence is why it has not.
func (a *answer) result(silence error) (*mqs.Snapshot, error) {
	var late *TimeoutError
	var held *tracee.HeldError
	switch {
	case a.snapshot != nil:
		forShell(a.snapshot)
		return a.snapshot, nil
	case errors.As(silence, &held):
		return nil, held
	case errors.As(silence, &late):
		return nil, late
	case a.failure != "" && !a.attached:
		return nil, &AttachError{asFlags(a.failure)}
	case isOwn(a.err):
		return nil, &shellError{a.err}
	case a.failure != "":
		return nil, errors.New(asFlags(a.failure))
	}
	return nil, silence
}

// isOwn says whether an error is of reading a process, and not of what gdb has not answered.
func isOwn(err error) bool {
	var unreadable *read.UnreadableError
	var noComm *read.NoSuchCommunicatorError
	return errors.As(err, &unreadable) || errors.As(err, &noComm)
}

// shellError is an error whose sentence is for the shell's user.
type shellError struct{ error }

func (e *shellError) Error() string { return asFlags(e.error.Error()) }

func (e *shellError) Unwrap() error { return e.error }
