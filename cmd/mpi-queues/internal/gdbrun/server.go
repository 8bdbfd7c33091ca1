package gdbrun

import (
	"context"
	"errors"
	"sync"

	"github.com/mpi-queues/mpi-queues/bridge"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/helper"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// server is the helper of one run of gdb: what a helper shows in gdb, it keeps.
type server struct {
	*helper.Helper
	settings Settings
	filter   read.Filter
	tell     func(step string)

	mu       sync.Mutex // held while the queues are read
	snapshot *mqs.Snapshot
	err      error
	// failure is why gdb has gone no further, in its own words, and attached whether it had attached.
	failure  string
	attached bool
}

// Queues reads the queues of the processes that gdb has attached to.
func (s *server) Queues(ctx context.Context, d *bridge.Debugger, p bridge.QueuesParams) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.Source = s.settings.source(p.Source.Starters)
	s.snapshot, s.err = s.Read(ctx, d, p, s.filter, s.tell)
	return s.err
}

// Status hears what gdb does by itself.
func (s *server) Status(_ context.Context, _ *bridge.Debugger, p bridge.StatusParams) (*bridge.StatusResult, error) {
	if p.Message != "" {
		s.tell(p.Message)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.Failure != "" {
		s.failure, s.attached = p.Failure, p.Attached
	}
	return &bridge.StatusResult{}, nil
}

// result is what was read, or why nothing was, as far as gdb has said it.
func (s *server) result() (*mqs.Snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.snapshot != nil:
		return s.snapshot, nil
	case s.failure != "" && !s.attached:
		return nil, &AttachError{asFlags(s.failure)}
	case isOwn(s.err):
		return nil, &shellError{s.err}
	case s.failure != "":
		return nil, errors.New(asFlags(s.failure))
	}
	return nil, nil
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
