package read

import (
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

// MaxHandles bounds what is asked for at once.
const MaxHandles = 1 << 16

// Handles says what handles of one process stand for, in their order. It fails with an
// [*UnreadableError] if no decoder can read the process, or the decoder knows nothing of handles.
func (ss Sources) Handles(r *inferior.Reader, values []mqs.HandleValue) (out []*mqs.Handle, err error) {
	defer contain(&err)
	resolver, err := ss.resolver(r)
	if err != nil {
		return nil, err
	}
	if len(values) > MaxHandles {
		return nil, Unreadable("", "%d handles are asked for at once: the limit is %d", len(values), MaxHandles)
	}
	for _, v := range values {
		h := resolver.Resolve(v)
		h.Kind, h.Value = v.Kind, v.Value
		out = append(out, h)
	}
	return out, r.Err()
}

// resolver is what knows handles of a process.
func (ss Sources) resolver(r *inferior.Reader) (Resolver, error) {
	s, err := Open(r, ss.Decoders)
	var u *UnreadableError
	switch {
	case errors.As(err, &u) && u.Handles != nil:
		return u.Handles, nil
	case err != nil:
		return nil, err
	}
	if resolver, ok := s.(Resolver); ok {
		return resolver, nil
	}
	return nil, Unreadable("", "this process's handles can't be told: its MPI library has neither symbols nor types")
}

// Communicator returns the communicator of a process that a handle stands for. It fails with an
// [*UnreadableError] if it stands for none.
func (ss Sources) Communicator(r *inferior.Reader, v mqs.HandleValue) (*mqs.Communicator, error) {
	handles, err := ss.Handles(r, []mqs.HandleValue{v})
	if err != nil {
		return nil, err
	}
	if c := handles[0].Communicator; c != nil && handles[0].Kind == mqs.CommHandle {
		return c, nil
	}
	return nil, Unreadable("", "%#x is no communicator that there is", v.Value)
}

// FindCommunicator returns the communicator of a process that has a name or unique id. It fails with a
// [*NoSuchCommunicatorError] if none has.
func (ss Sources) FindCommunicator(r *inferior.Reader, name string) (found *mqs.Communicator, err error) {
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
	return nil, &NoSuchCommunicatorError{name, there}
}
