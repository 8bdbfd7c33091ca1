// Package recording keeps what a command has read, so that it can be shown again without the processes:
// their memory, symbols and types (package inferior), what vendors' DLLs have said of them, and why some
// processes could not be read.
//
// Recordings come from strangers. Each of their files is read within bounds on its length and on the
// memory that it takes ([inferior.Archive]), and is believed to be no more than a document.
package recording

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/document"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// The files of the archive beside those of package inferior. Recordings that are older than
// these lack them.
const (
	sourceFile = "source"      // the choice of sources, a word
	dllFile    = "dll.json"    // what DLLs have said, a document of package document
	besideFile = "beside.json" // processes that could not be read, another one
)

// maxSource is how long the word may be, in bytes.
const maxSource = 64

// Recording is what a command has read.
type Recording struct {
	// Processes are those that were read.
	Processes []inferior.Inferior
	// Beside are those that the debugger could not read.
	Beside []*mqs.Process

	choice read.Choice
	// said is what the vendor's DLL has said of a process, by its inferior's number.
	said map[int]*mqs.Process
}

// Content is what a recording is made of.
type Content struct {
	Recorders []*inferior.Recorder
	// Choice is where the command has read queues from.
	Choice read.Choice
	// ByDLL are the processes of which a vendor's DLL was asked, as it has shown them without
	// any filter; or with the reason why it could not.
	ByDLL []*mqs.Process
	// Beside are the processes that the debugger could not read.
	Beside []*mqs.Process
}

// opener opens a process by its vendor's DLL, as [read.Sources.OpenDLL].
type opener = func(r *inferior.Reader, native read.Source) (read.Source, error)

// Keep returns what opens processes by their vendors' DLLs as open does, and keeps all that
// they say. Each is asked once: what it says a second time may be something else.
func (c *Content) Keep(open opener) opener {
	return func(r *inferior.Reader, native read.Source) (read.Source, error) {
		var p *mqs.Process
		s, err := open(r, native)
		if err == nil {
			p, err = read.Collect(r, s, read.Filter{Internal: true})
		}
		switch {
		case r.Err() != nil:
			return nil, r.Err()
		case err == nil:
			c.ByDLL = append(c.ByDLL, p)
			return &answers{process: p}, nil
		case c.Choice != read.Auto || !errors.Is(err, read.ErrNoDLL):
			c.ByDLL = append(c.ByDLL, read.Failed(r.Info(), err))
		}
		return nil, err
	}
}

// Write writes a recording.
func Write(w io.Writer, c Content) error {
	return inferior.WriteRecording(w, c.Recorders, func(z *zip.Writer) error {
		f, err := z.Create(sourceFile)
		if err == nil {
			_, err = io.WriteString(f, string(c.Choice))
		}
		if err != nil {
			return err
		}
		for name, processes := range map[string][]*mqs.Process{dllFile: c.ByDLL, besideFile: c.Beside} {
			if len(processes) == 0 {
				continue
			}
			f, err := z.Create(name)
			if err == nil {
				err = document.Write(f, &mqs.Snapshot{Processes: processes})
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Open reads a recording's file.
func Open(path string) (*Recording, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("the recording can't be read: %w", err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	r, err := Read(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// Read reads a recording. It fails with [inferior.ErrNotRecording] if it is none.
func Read(from io.ReaderAt, size int64) (*Recording, error) {
	a, err := inferior.OpenArchive(from, size)
	if err != nil {
		return nil, err
	}
	processes, err := a.Processes()
	if err != nil {
		return nil, err
	}
	r := &Recording{Processes: processes, choice: read.Native, said: map[int]*mqs.Process{}}
	err = a.Document(sourceFile, func(text io.Reader) error {
		word, err := io.ReadAll(io.LimitReader(text, maxSource))
		if err == nil {
			r.choice, err = read.ParseChoice(string(word))
		}
		return err
	})
	if errors.Is(err, inferior.ErrLacks) {
		err = nil
	}
	var byDLL []*mqs.Process
	if err == nil {
		byDLL, err = processesIn(a, dllFile)
	}
	if err == nil {
		r.Beside, err = processesIn(a, besideFile)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", inferior.ErrNotRecording, err)
	}
	for _, p := range byDLL {
		r.said[p.Inferior] = p
	}
	return r, nil
}

// processesIn reads the processes of a document in an archive, none if there is none.
func processesIn(a *inferior.Archive, name string) ([]*mqs.Process, error) {
	s := &mqs.Snapshot{}
	err := a.Document(name, func(r io.Reader) (err error) {
		s, err = new(document.Parser).Read(r)
		return err
	})
	if errors.Is(err, inferior.ErrLacks) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return s.Processes, nil
}

// Read collects what a filter keeps of all the processes, as the command has read them: with
// those that could not be read beside them, and what one says of another inferred. The decoders
// are those of today; a DLL's answers are those that it gave then.
func (r *Recording) Read(ctx context.Context, decoders []read.Decoder, f read.Filter) (*mqs.Snapshot, error) {
	one := func(reader *inferior.Reader, f read.Filter) (*mqs.Process, error) {
		return r.process(reader, decoders, f)
	}
	return read.Several{Processes: r.Processes, Beside: r.Beside, Read: one}.Together(ctx, f)
}

// Handle says what a handle of one of the processes stands for, as far as the recording tells. It fails with a
// [*read.UnreadableError] as [read.Sources.Handles] does.
func (r *Recording) Handle(ctx context.Context, decoders []read.Decoder, process inferior.Inferior, v mqs.HandleValue) (*mqs.Handle, error) {
	return read.Sources{Decoders: decoders}.Recorded(inferior.NewReader(ctx, process), v)
}

// process collects what a filter keeps of one of the processes, from where the command has read it.
func (r *Recording) process(reader *inferior.Reader, decoders []read.Decoder, f read.Filter) (*mqs.Process, error) {
	sources := read.Sources{Decoders: decoders, OpenDLL: func(reader *inferior.Reader, _ read.Source) (read.Source, error) {
		p := r.said[reader.Info().Inferior]
		switch {
		case p == nil:
			return nil, read.Unreadable("", "%w", read.ErrNoDLL)
		case p.Unavailable != "":
			return nil, read.Unreadable(p.MPI, "%s", p.Unavailable)
		}
		return &answers{process: p}, nil
	}}
	return sources.Read(reader, r.choice, f)
}

// answers is a DLL's source that answers as it did.
type answers struct {
	process *mqs.Process
	current *mqs.Queues // the communicator that was yielded last
}

// Info fills in what the DLL has said of the process.
func (a *answers) Info(p *mqs.Process) {
	said := a.process
	p.Source, p.DLL, p.DLLVersion = said.Source, said.DLL, said.DLLVersion
	if said.GlobalRank.Known {
		p.GlobalRank = said.GlobalRank
	}
	if said.WorldSize.Known {
		p.WorldSize = said.WorldSize
	}
}

// Notes are those of the DLL's answers.
func (a *answers) Notes() []string { return a.process.Notes }

// Communicators yields the communicators in the DLL's order.
func (a *answers) Communicators() iter.Seq2[mqs.Communicator, error] {
	return func(yield func(mqs.Communicator, error) bool) {
		for _, a.current = range a.process.Communicators {
			if !yield(a.current.Communicator, nil) {
				return
			}
		}
	}
}

// Operations yields a queue of the communicator that was yielded last, in the DLL's order.
func (a *answers) Operations(_ *mqs.Communicator, class mqs.OpClass) iter.Seq2[mqs.PendingOperation, error] {
	return func(yield func(mqs.PendingOperation, error) bool) {
		q := a.current.Queue[class]
		switch {
		case q == nil:
			return
		case q.Unavailable != "":
			yield(mqs.PendingOperation{}, errors.New(q.Unavailable))
			return
		}
		for _, op := range q.Operations {
			if !yield(op, nil) {
				return
			}
		}
	}
}
