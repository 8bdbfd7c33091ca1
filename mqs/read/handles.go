package read

import (
	"context"
	"errors"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// A Resolver is a [Source] that knows what handles of the program stand for.
type Resolver interface {
	// Resolve says what a handle stands for. What can't be told is unknown, with a note. A handle
	// that is none is not followed.
	Resolve(v mqs.HandleValue) *mqs.Handle
}

// A Lister is a [Source] that knows the windows and files of its process. Both are nil where they
// are not known.
type Lister interface {
	Windows() []mqs.Window
	Files() []mqs.File
}

// A Keeper is a [Source] that knows the persistent requests of its process that are not started, at most
// [mqs.MaxInactive] of them; nil where they are not known.
type Keeper interface{ Inactive() []mqs.InactiveRequest }

// An Enumerator is a [Resolver] that finds handles of its process in the tables that the MPI library itself has of
// its objects.
type Enumerator interface {
	// Handles are those of live objects and of predefined ones, at most so many of each kind.
	Handles(most int) []mqs.HandleValue
}

// MaxHandles bounds what is asked for at once.
const MaxHandles = 1 << 16

// maxRecorded is how many handles of each kind a recording has beside those that are asked for.
const maxRecorded = 1000

// RecordObjects has a recorder remember what handles stand for: those given, of which what is no object is not
// remembered, since it may lead anywhere, and those that the MPI library has tables of.
func (ss Sources) RecordObjects(ctx context.Context, to *inferior.Recorder, values []mqs.HandleValue) (err error) {
	defer contain(&err)
	r := inferior.NewReader(ctx, to)
	s, err := Open(r, ss.Decoders)
	if err != nil {
		return err
	}
	values = values[:min(len(values), MaxHandles)]
	handles, err := ss.Handles(inferior.NewReader(ctx, to.Inferior), values)
	if err != nil {
		return err
	}
	var objects []mqs.HandleValue
	for i, h := range handles {
		if h.State != "" && h.State != mqs.InvalidHandle {
			objects = append(objects, values[i])
		}
	}
	if e, ok := s.(Enumerator); ok {
		objects = append(objects, e.Handles(maxRecorded)...)
	}
	_, err = ss.handles(r, objects)
	return err
}

// Handles says what handles of one process stand for, in their order. It fails with an
// [*UnreadableError] if no decoder can read the process, or the decoder knows nothing of handles.
func (ss Sources) Handles(r *inferior.Reader, values []mqs.HandleValue) (out []*mqs.Handle, err error) {
	defer contain(&err)
	if len(values) > MaxHandles {
		return nil, Unreadable("", "%d handles are asked for at once: the limit is %d", len(values), MaxHandles)
	}
	return ss.handles(r, values)
}

func (ss Sources) handles(r *inferior.Reader, values []mqs.HandleValue) ([]*mqs.Handle, error) {
	ss.warm(r, values)
	s, err := Open(r, ss.Decoders)
	return resolve(r, s, err, values)
}

// Recorded says what a handle stands for as far as a recording tells. Of what was not recorded nothing is said: it
// is not known whether it is a handle. It fails as [Sources.Handles] does.
func (ss Sources) Recorded(r *inferior.Reader, v mqs.HandleValue) (out *mqs.Handle, err error) {
	defer contain(&err)
	s, err := Open(r, ss.Decoders)
	others := ss.others(s, err)
	r.Exactly()
	handles, err := resolve(r, s, err, []mqs.HandleValue{v})
	if err != nil {
		return nil, err
	}
	out = handles[0]
	switch {
	case r.Lacked() == 0 && (out.State != "" || !r.LacksSymbols(others)):
	case out.State == mqs.InvalidHandle, out.State == mqs.FreedHandle, out.State == "":
		out = &mqs.Handle{Kind: out.Kind, Value: out.Value, Notes: []string{"the recording does not have what it leads to"}}
	default:
		out.Notes = append(out.Notes, "the recording does not have all that it leads to")
	}
	return out, nil
}

// others are the symbols of decoders other than that of a process, which was opened so: what they are does not
// matter to it.
func (ss Sources) others(s Source, openErr error) map[string]bool {
	var p mqs.Process
	var u *UnreadableError
	if errors.As(openErr, &u) {
		p.MPI = u.MPI
	} else if openErr == nil {
		s.Info(&p)
	}
	out := map[string]bool{}
	for _, isOwn := range []bool{false, true} {
		for _, d := range ss.Decoders {
			if (d.Name() == p.MPI) != isOwn {
				continue
			}
			for _, name := range d.Symbols() {
				out[name] = !isOwn
			}
		}
	}
	return out
}

// warm brings the memory that handles lead to, for all of them at once. They are told side by side, by
// a source that nothing else is asked of: what it makes of a process while others change it does not count.
func (ss Sources) warm(r *inferior.Reader, values []mqs.HandleValue) {
	if len(values) < 2 {
		return
	}
	s, err := Open(r, ss.Decoders)
	resolver, ok := s.(Resolver)
	if err != nil || !ok {
		return
	}
	var tasks []func()
	for _, v := range values {
		tasks = append(tasks, func() {
			var err error
			defer contain(&err)
			resolver.Resolve(v)
		})
	}
	r.Together(tasks)
}

// resolve says what handles stand for of a process that was opened so.
func resolve(r *inferior.Reader, s Source, openErr error, values []mqs.HandleValue) (out []*mqs.Handle, err error) {
	resolver, ok := s.(Resolver)
	var u *UnreadableError
	switch {
	case errors.As(openErr, &u) && u.Handles != nil:
		resolver = u.Handles
	case openErr != nil:
		return nil, openErr
	case !ok:
		return nil, Unreadable("", "mpi-queues does not know what the handles of this MPI are")
	}
	for _, v := range values {
		h := resolver.Resolve(v)
		h.Kind, h.Value = v.Kind, v.Value
		out = append(out, h)
	}
	return out, r.Err()
}

// FindCommunicator returns the communicator of a process that has a name or unique id or, if none has,
// that a handle stands for, if there is one. It fails with a [*NoSuchCommunicatorError] if there is no such
// communicator.
func (ss Sources) FindCommunicator(r *inferior.Reader, name string, v *mqs.HandleValue) (found *mqs.Communicator, err error) {
	defer contain(&err)
	s, err := Open(r, ss.Decoders)
	if err != nil {
		return nil, err
	}
	var there []string
	for c, err := range s.Communicators() {
		if err == nil && c.Is(name) {
			return &c, nil
		}
		if err == nil && !c.Internal {
			there = append(there, listed(&c))
		}
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	if v != nil {
		handles, err := resolve(r, s, nil, []mqs.HandleValue{*v})
		if err == nil && handles[0].Communicator != nil {
			return handles[0].Communicator, nil
		}
	}
	return nil, &NoSuchCommunicatorError{name, there}
}
