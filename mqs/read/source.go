// Package read reads the message queues of processes: what a decoder is, from where a process is
// read (native, by its vendor's DLL, or both), and how several are read together.
package read

import (
	"errors"
	"fmt"
	"iter"
	"path/filepath"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
)

// A Decoder recognises one MPI implementation.
type Decoder interface {
	// Name is what people call the implementation: "Open MPI".
	Name() string
	// Symbols are global symbols to look up before [Decoder.Open], so that
	// the symbols of all decoders travel in one batch.
	Symbols() []string
	// Open returns the process's source. It fails with [ErrNotThis] if the
	// process does not use this implementation, and with an [*UnreadableError]
	// if it does but its queues can't be read.
	Open(r *inferior.Reader, symbols map[string]inferior.Symbol) (Source, error)
}

// Source reads the message queues of one process during one stop.
type Source interface {
	// Info fills in what is known of the process as a whole, and nothing else. No queue need
	// be read for it, and it may be called as often as one likes.
	Info(p *mqs.Process)
	// Notes returns sentences for the user on what reading has brought up so far, in a stable
	// order: the whole of them once the queues and calls have been read.
	Notes() []string
	// Communicators yields the communicators in a sensible order. An error
	// stands in place of one that can't be read; the others follow.
	Communicators() iter.Seq2[mqs.Communicator, error]
	// Operations yields one queue of a communicator that Communicators
	// yielded, in the order of matching. An error ends it.
	Operations(c *mqs.Communicator, class mqs.OpClass) iter.Seq2[mqs.PendingOperation, error]
}

// A Typist is a [Source] that knows the layouts of its MPI's types, also of a
// library without debug information. It answers as [inferior.Inferior.FindTypes] does.
type Typist interface {
	FindTypes(queries []layout.TypeQuery) ([]*layout.Layout, error)
}

// A Fragile source may break down as a whole while it is being read. Nothing
// that it has yielded counts if Err is not nil.
type Fragile interface {
	Err() error
}

// ErrEndless means that a queue does not come to an end: nothing of it can be believed.
var ErrEndless = errors.New("it does not come to an end")

// ErrNotThis means that a process does not use a decoder's implementation.
var ErrNotThis = errors.New("not this MPI")

// UnreadableError is why nothing can be shown of a process: a sentence for its user.
type UnreadableError struct {
	// MPI names the implementation, empty if none was recognised.
	MPI    string
	Reason string
	// Final is true if there is nothing to read for anybody, as before MPI_Init.
	Final bool
	// Phase is how far the process has come with MPI, empty if not known.
	Phase mqs.Phase
	// Handles tells what handles of the process stand for all the same, nil if nothing does.
	Handles Resolver
	// Rest shows what is known of the process without its queues, where no vendor's DLL can read these; nil if nothing does.
	Rest Source

	cause error
}

func (e *UnreadableError) Error() string { return e.Reason }

// Unwrap returns what was formatted with %w, if anything was.
func (e *UnreadableError) Unwrap() error { return e.cause }

// Unreadable returns an [*UnreadableError] with a formatted reason.
func Unreadable(mpi, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return &UnreadableError{MPI: mpi, Reason: err.Error(), cause: err}
}

// FileName is the name of the file that a symbol of an MPI library is in, for sentences.
func FileName(s inferior.Symbol) string {
	if s.Object == "" {
		return "the MPI library"
	}
	return printable.Line(filepath.Base(s.Object))
}

// Nothing returns an [*UnreadableError] that is final.
func Nothing(mpi string, phase mqs.Phase, format string, args ...any) error {
	return &UnreadableError{MPI: mpi, Reason: fmt.Sprintf(format, args...), Final: true, Phase: phase}
}

// Open finds the decoder for a process. If none fits, the error is an [*UnreadableError].
func Open(r *inferior.Reader, decoders []Decoder) (Source, error) {
	if err := r.Info().Check(); err != nil {
		return nil, Unreadable("", "%v", err)
	}
	names := []string{callstack.LibrarySymbol}
	for _, d := range decoders {
		names = append(names, d.Symbols()...)
	}
	symbols, err := r.Symbols(names...)
	if err != nil {
		return nil, err
	}
	for _, d := range decoders {
		s, err := d.Open(r, symbols)
		if broken := r.Broken(); err != nil && broken != nil {
			return nil, Unreadable(d.Name(), "%w", broken)
		}
		if spent := r.Spent(); err != nil && spent != nil {
			return nil, Unreadable(d.Name(), "%w", spent)
		}
		if !errors.Is(err, ErrNotThis) {
			return s, err
		}
	}
	return nil, notMPI(r.Info(), decoders)
}

func notMPI(info inferior.Info, decoders []Decoder) error {
	program := info.Executable
	if program == "" {
		program = fmt.Sprintf("process %d", info.PID)
	}
	known := ""
	for i, d := range decoders {
		if i > 0 {
			known += ", "
		}
		known += d.Name()
	}
	return Unreadable("", "%s does not use an MPI library that mpi-queues can read (%s): none of its symbols is in the program or its %d shared libraries. "+
		"If it is an MPI program, its library may not be loaded yet, or it may be linked statically and stripped", printable.Line(program), known, len(info.Libraries))
}

// A Waiter is a [Source] that knows what calls wait for.
type Waiter interface {
	// Waits fills in the communicators, roots, probes and requests of threads
	// that are in a call.
	Waits(threads []mqs.Thread)
}

// A Collector is a [Source] that knows the requests of non-blocking collectives.
type Collector interface {
	// CollectiveRequests are those that are in use; nil if they are not known. The communicators have
	// been read.
	CollectiveRequests() []mqs.CollectiveRequest
}

// A Counter is a [Source] that counts messages.
type Counter interface {
	// Traffic returns the counts of a communicator that Communicators yielded,
	// nil if they are not known. Peers that there was no traffic with are left out.
	Traffic(c *mqs.Communicator) []mqs.Traffic
}

// A Sizer is a [Source] that knows about how long a queue is.
type Sizer interface {
	// Size is about how many operations [Source.Operations] will yield, 0 if that is not known. There are
	// objects for them in memory already.
	Size(c *mqs.Communicator, class mqs.OpClass) int
}
