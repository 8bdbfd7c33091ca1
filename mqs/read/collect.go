package read

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Filter says what [Collect] keeps.
type Filter struct {
	// Comm is a communicator's name or unique id; empty keeps all.
	Comm string
	// Same is kept in place of what is called Comm, if it is not nil.
	Same *Same
	// NoQueues leaves the queues out, which may take long.
	NoQueues bool
	// Queue keeps one queue only, if it is known.
	Queue mqs.Maybe[mqs.OpClass]
	// Internal keeps the MPI library's own communicators and traffic.
	Internal bool
	// Stacks keeps the threads' stacks too.
	Stacks bool
	// Limit is the number of operations kept for each queue; 0 keeps all.
	Limit int
}

// Same is a communicator of one of the processes that are read, and of the others that have it.
type Same struct {
	// Inferior is the debugger's number of that process.
	Inferior     int
	Communicator *mqs.Communicator
}

// ParseQueue reads the name of a queue as users write it: sends, receives or unexpected.
func ParseQueue(name string) (mqs.Maybe[mqs.OpClass], error) {
	switch name {
	case "":
		return mqs.Maybe[mqs.OpClass]{}, nil
	case "sends":
		return mqs.Known(mqs.PendingSends), nil
	case "receives":
		return mqs.Known(mqs.PendingReceives), nil
	case "unexpected":
		return mqs.Known(mqs.UnexpectedMessages), nil
	}
	return mqs.Maybe[mqs.OpClass]{}, fmt.Errorf("no queue is called %q: it is sends, receives or unexpected", name)
}

// keeps says whether a communicator of a process is kept.
func (f *Filter) keeps(c *mqs.Communicator, inferior int) bool {
	switch {
	case f.Comm == "":
		return true
	case f.Same == nil:
		return c.Is(f.Comm)
	case f.Same.Inferior == inferior:
		return c.UniqueID == f.Same.Communicator.UniqueID
	}
	return f.Same.Communicator.IsSame(c)
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
func Read(ctx context.Context, t inferior.Inferior, decoders []Decoder, f Filter) (*mqs.Process, error) {
	return Sources{Decoders: decoders}.Read(inferior.NewReader(ctx, t), Native, f)
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
func Collect(r *inferior.Reader, s Source, f Filter) (*mqs.Process, error) {
	p := Identity(r.Info())
	var there []string
	seen := 0
	for c, err := range s.Communicators() {
		if err := r.Err(); err != nil {
			return nil, err
		}
		if err != nil {
			p.Note("%v", err)
			continue
		}
		if seen++; seen > maxCommunicators {
			p.Note("gave up after %d communicators", maxCommunicators)
			break
		}
		if c.Internal && !f.Internal {
			continue
		}
		there = append(there, listed(&c))
		if !f.keeps(&c, p.Inferior) {
			continue
		}
		q := &mqs.Queues{Communicator: c}
		for _, class := range mqs.OpClasses {
			if f.NoQueues || f.Queue.Known && f.Queue.Value != class {
				continue
			}
			if q.Queue[class], err = collectQueue(p, r, s, &q.Communicator, class, f); err != nil {
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
	if lister, ok := s.(Lister); ok {
		p.Windows, p.Files = lister.Windows(), lister.Files()
	}
	if c, ok := s.(Collector); ok {
		p.CollectiveRequests = c.CollectiveRequests()
	}
	if keeper, ok := s.(Keeper); ok {
		p.Inactive = keeper.Inactive()
	}
	p.Phase = mqs.Active
	locate(r, p, f)
	if w, ok := s.(Waiter); ok {
		w.Waits(p.Threads)
	}
	if err := r.Spent(); err != nil {
		p.Note("%v", err)
		for i := range p.Threads {
			p.Threads[i].AllRequests, p.Threads[i].SomeRequests = false, false // there may be others
		}
	}
	s.Info(p)
	inferPhase(p)
	p.Notes = append(p.Notes, s.Notes()...) // last: reading brings them up
	p.Seat(maybe(r.Info().Rank), maybe(r.Info().WorldSize), r.Info().Launcher)
	return p, nil
}

// locate adds where the threads of a process are, and their stacks if they are kept.
func locate(r *inferior.Reader, p *mqs.Process, f Filter) {
	p.Threads = callstack.Locate(r)
	if f.Stacks {
		p.Stacks, _ = callstack.Stacks(r, false) // without threads there are none
	}
}

// inferPhase sets the phase of a process if only its threads' calls show it: MPI_Init has not returned where a thread is in it.
func inferPhase(p *mqs.Process) {
	isInit := func(t mqs.Thread) bool { return t.Call == "MPI_Init" || t.Call == "MPI_Init_thread" }
	if p.Phase == "" && slices.ContainsFunc(p.Threads, isInit) {
		p.Phase = mqs.Starting
	}
}

func maybe[T any](v *T) mqs.Maybe[T] {
	if v == nil {
		return mqs.Maybe[T]{}
	}
	return mqs.Known(*v)
}

func collectQueue(p *mqs.Process, r *inferior.Reader, s Source, c *mqs.Communicator, class mqs.OpClass, f Filter) (*mqs.Queue, error) {
	q := &mqs.Queue{Operations: []mqs.PendingOperation{}}
	sizer, isSizer := s.(Sizer)
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
				return &mqs.Queue{Unavailable: err.Error()}, nil
			}
			p.Note("the %s of %s may not be all: %v", class.Words(), c.Label(), err)
			q.Incomplete = true
			break
		}
		if op.Internal && !f.Internal {
			continue
		}
		if q.Total == maxOperations {
			p.Note("the %s of %s may not be all: gave up after %d", class.Words(), c.Label(), maxOperations)
			q.Incomplete = true
			break
		}
		q.Total++
		if f.Limit == 0 || len(q.Operations) < f.Limit {
			if n := len(q.Operations); n == cap(q.Operations) {
				more := n + 1 // double it: append alone copies five times as much
				if isSizer {
					more = max(more, sizer.Size(c, class)-n)
				}
				if f.Limit > 0 {
					more = min(more, f.Limit-n)
				}
				q.Operations = slices.Grow(q.Operations, more)
			}
			q.Operations = append(q.Operations, op)
		}
	}
	return q, nil
}

// Failed returns a process that nothing could be read of, err being why.
func Failed(info inferior.Info, err error) *mqs.Process {
	p := Identity(info)
	p.Unavailable = err.Error()
	var u *UnreadableError
	if errors.As(err, &u) {
		p.MPI, p.Phase = u.MPI, u.Phase
	}
	return p
}

// Identity starts a process of a snapshot with what the debugger knows of it.
func Identity(info inferior.Info) *mqs.Process {
	p := &mqs.Process{Inferior: info.Inferior, PID: info.PID, Image: info.Executable}
	p.GlobalRank = maybe(info.Rank)
	if len(info.State) == 1 {
		p.State = mqs.RunStateOf(info.State[0])
	}
	p.Take(info.Signal)
	return p
}
