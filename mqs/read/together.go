package read

import (
	"cmp"
	"context"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Func collects what a filter keeps of one process.
type Func func(r *inferior.Reader, f Filter) (*mqs.Process, error)

// Several are processes that are read for one snapshot.
type Several struct {
	Processes []inferior.Inferior
	// Read reads each of them, with the one Reader that it has during this stop.
	Read Func
	// Beside are processes that nobody need try to read: they say themselves why.
	Beside []*mqs.Process
	// Progress is told which of the processes is next, counted from 0; it may be nil.
	Progress func(next int)
}

// Together reads several processes, puts those beside them in their places and infers what one
// says of another. One that can't be read says so in the snapshot, but if it is all that there
// is, that is an error, as the end of ctx is.
func (s Several) Together(ctx context.Context, f Filter) (*mqs.Snapshot, error) {
	var out []*mqs.Process
	for i, t := range s.Processes {
		if s.Progress != nil {
			s.Progress(i)
		}
		r := inferior.NewReader(ctx, t)
		p, err := s.Read(r, f)
		if err != nil {
			if ctx.Err() != nil || len(s.Processes)+len(s.Beside) == 1 {
				return nil, err
			}
			p = Failed(t.Info(), err)
			// Where it stands is of use all the same.
			locate(unspent(r), p, f)
			inferPhase(p)
		}
		out = append(out, p)
	}
	out = append(out, s.Beside...)
	slices.SortStableFunc(out, func(a, b *mqs.Process) int { return cmp.Compare(a.Inferior, b.Inferior) })
	return Join(out), nil
}

// Join makes a snapshot of processes that were read one by one, in their order, and infers what
// one says of another.
func Join(processes []*mqs.Process) *mqs.Snapshot {
	s := &mqs.Snapshot{Processes: processes}
	infer(s)
	return s
}
