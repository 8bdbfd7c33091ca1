package mqs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs/target"
)

// Filter says what [Collect] keeps.
type Filter struct {
	// Comm is a communicator's name or unique id; empty keeps all.
	Comm string
	// Queue keeps one queue only, if it is known.
	Queue Maybe[OpClass]
	// Internal keeps the MPI library's own communicators and traffic.
	Internal bool
	// Limit is the number of operations kept for each queue; 0 keeps all.
	Limit int
}

// ParseQueue reads the name of a queue as users write it: sends, receives or unexpected.
func ParseQueue(name string) (Maybe[OpClass], error) {
	switch name {
	case "":
		return Maybe[OpClass]{}, nil
	case "sends":
		return Known(PendingSends), nil
	case "receives":
		return Known(PendingReceives), nil
	case "unexpected":
		return Known(UnexpectedMessages), nil
	}
	return Maybe[OpClass]{}, fmt.Errorf("no queue is called %q: it is sends, receives or unexpected", name)
}

// Bounds on what a source may yield before it is taken for broken.
const (
	maxCommunicators = 1 << 20
	maxOperations    = 1 << 24
)

// NoSuchCommunicatorError means that [Filter.Comm] names none.
type NoSuchCommunicatorError struct {
	Name string
	// There are the communicators that there are, each with its quoted name and its id.
	There []string
}

func (e *NoSuchCommunicatorError) Error() string {
	const most = 50
	there, more := e.There, ""
	if len(there) > most {
		there, more = there[:most], fmt.Sprintf(" and %d more", len(there)-most)
	}
	if len(there) == 0 {
		return fmt.Sprintf("no communicator has the name or id %q; there are none", e.Name)
	}
	return fmt.Sprintf("no communicator has the name or id %q; there are %s%s", e.Name, strings.Join(there, ", "), more)
}

// Read collects what the filter keeps of one stopped process. A decoder that
// fails in itself, as on memory that nobody has thought of, is an [*UnreadableError] too.
func Read(ctx context.Context, t target.Target, decoders []Decoder, f Filter) (p *Process, err error) {
	defer contain(&err)
	r := target.NewReader(ctx, t)
	s, err := Open(r, decoders)
	if err != nil {
		return nil, err
	}
	return Collect(r, s, f)
}

// contain turns a panic of what it is deferred in into an error.
func contain(err *error) {
	if fault := recover(); fault != nil {
		*err = Unreadable("", "mpi-queues failed on this process (%v): please report it, with a recording by -record", fault)
	}
}

// Collect reads what the filter keeps of a source. It fails only if the
// request was cancelled, the connection broke or the filter names a
// communicator that is not there; whatever can't be read is said in the
// process's notes, or in place of the queue.
func Collect(r *target.Reader, s Source, f Filter) (*Process, error) {
	p := Identity(r.Info())
	var there []string
	seen := 0
	for c, err := range s.Communicators() {
		if err := r.Err(); err != nil {
			return nil, err
		}
		if err != nil {
			p.note("%v", err)
			continue
		}
		if seen++; seen > maxCommunicators {
			p.note("gave up after %d communicators", maxCommunicators)
			break
		}
		if c.Internal && !f.Internal {
			continue
		}
		there = append(there, c.listed())
		if f.Comm != "" && !c.Is(f.Comm) {
			continue
		}
		q := &Queues{Communicator: c}
		for _, class := range OpClasses {
			if f.Queue.Known && f.Queue.Value != class {
				continue
			}
			if q.Queue[class], err = p.collectQueue(r, s, &q.Communicator, class, f); err != nil {
				return nil, err
			}
		}
		if counter, ok := s.(Counter); ok {
			q.Traffic = counter.Traffic(&q.Communicator)
		}
		p.Communicators = append(p.Communicators, q)
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	if fragile, ok := s.(Fragile); ok && fragile.Err() != nil {
		return nil, Unreadable("", "%v", fragile.Err())
	}
	if f.Comm != "" && len(p.Communicators) == 0 {
		return nil, &NoSuchCommunicatorError{f.Comm, there}
	}
	p.Phase = Active
	p.locate(r, s)
	if err := r.Spent(); err != nil {
		p.note("%v", err)
		for i := range p.Threads {
			p.Threads[i].AllRequests = false // there may be others
		}
	}
	s.Describe(p) // last: reading may have brought up notes
	p.Seat(maybe(r.Info().Rank), maybe(r.Info().WorldSize))
	return p, nil
}

func maybe[T any](v *T) Maybe[T] {
	if v == nil {
		return Maybe[T]{}
	}
	return Known(*v)
}

func (p *Process) collectQueue(r *target.Reader, s Source, c *Communicator, class OpClass, f Filter) (*Queue, error) {
	q := &Queue{Operations: []PendingOperation{}}
	for op, err := range s.Operations(c, class) {
		if q.Total%1024 == 0 {
			if err := r.Err(); err != nil {
				return nil, err
			}
		}
		if err != nil {
			if err := r.Err(); err != nil {
				return nil, err
			}
			if q.Total == 0 || errors.Is(err, ErrEndless) {
				return &Queue{Unavailable: err.Error()}, nil
			}
			p.note("the %s of %s may not be all: %v", class.words(), c.Label(), err)
			q.Incomplete = true
			break
		}
		if op.Internal && !f.Internal {
			continue
		}
		if q.Total == maxOperations {
			p.note("the %s of %s may not be all: gave up after %d", class.words(), c.Label(), maxOperations)
			q.Incomplete = true
			break
		}
		q.Total++
		if f.Limit == 0 || len(q.Operations) < f.Limit {
			if len(q.Operations) == cap(q.Operations) {
				q.Operations = slices.Grow(q.Operations, len(q.Operations)+1) // double it: append alone copies five times as much
			}
			q.Operations = append(q.Operations, op)
		}
	}
	return q, nil
}

// note adds a sentence once.
func (p *Process) note(format string, args ...any) {
	if s := fmt.Sprintf(format, args...); !slices.Contains(p.Notes, s) {
		p.Notes = append(p.Notes, s)
	}
}

// Is says whether a user who writes name means this communicator.
func (c *Communicator) Is(name string) bool {
	return c.Name.Known && c.Name.Value == name || strings.EqualFold(c.UniqueID.String(), name)
}

// Label is the communicator's name or, if it has none, its id.
func (c *Communicator) Label() string {
	if c.Name.Known && c.Name.Value != "" {
		return c.Name.Value
	}
	return "communicator " + c.UniqueID.String()
}

// Failed returns a process that nothing could be read of, err being why.
func Failed(info target.Info, err error) *Process {
	p := Identity(info)
	p.Unavailable = err.Error()
	var u *UnreadableError
	if errors.As(err, &u) {
		p.MPI, p.Phase = u.MPI, u.Phase
	}
	return p
}
