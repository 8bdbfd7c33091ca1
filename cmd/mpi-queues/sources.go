package main

import (
	"context"
	"slices"
	"time"

	"github.com/mpi-queues/mpi-queues/mqs/decoders"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/read"

	"github.com/mpi-queues/mpi-queues/bridge"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/dll"
	"github.com/mpi-queues/mpi-queues/mqs/launch"
)

// sources are the ways to read a process for one request of the debugger's.
type sources struct {
	read.Sources
	choice read.Choice
	// opened are the vendor's DLLs that were opened, in the order of the processes.
	opened []*dll.Source
	// seats are what launchers have said, by process id.
	seats map[int]seat
	// look looks for a process's DLL without loading it.
	look func(r *inferior.Reader) (dll.Found, error)
}

// sources makes what a request for some processes asks for. What is wrong with it is for the user.
func (h *helper) sources(d *bridge.Debugger, s bridge.Source, processes ...bridge.Process) (*sources, error) {
	choice, err := read.ParseChoice(s.Choice)
	if err != nil {
		return nil, err
	}
	out := &sources{choice: choice, Sources: read.Sources{Decoders: decoders.All}, seats: map[int]seat{}}
	settings := dll.Settings{Path: s.DLL, SafePath: s.SafePath, Timeout: time.Duration(s.Timeout) * time.Second}
	var starters []inferior.Inferior
	for _, p := range slices.Concat(s.Starters, processes) {
		starters = append(starters, d.Inferior(p))
	}
	process := func(r *inferior.Reader) dll.Process {
		t := r.Inferior()
		return dll.Process{Inferior: t, Reader: r, Starters: slices.DeleteFunc(slices.Clone(starters), func(s inferior.Inferior) bool {
			return s.Info().Inferior == t.Info().Inferior
		})}
	}
	out.look = func(r *inferior.Reader) (dll.Found, error) {
		return h.dlls.Find(r.Context(), process(r), settings)
	}
	out.OpenDLL = func(r *inferior.Reader, native read.Source) (read.Source, error) {
		p := process(r)
		known := read.Identity(r.Info())
		if native != nil {
			native.Info(known)
			if typist, ok := native.(read.Typist); ok {
				p.Inferior = typed{r.Inferior(), typist}
			}
		}
		if p.Rank = known.GlobalRank; !p.Rank.Known {
			p.Rank = out.seat(r.Info()).rank
		}
		source, err := h.dlls.Open(r.Context(), p, settings)
		if err != nil {
			return nil, err
		}
		out.opened = append(out.opened, source)
		return source, nil
	}
	return out, nil
}

// read reads a process from where the user wants it.
func (s *sources) read(r *inferior.Reader, f read.Filter) (*mqs.Process, error) {
	p, err := s.Read(r, s.choice, f)
	if err != nil {
		return nil, ofLauncher(r.Info(), err)
	}
	if !p.WorldSize.Known {
		at := s.seat(r.Info())
		p.Seat(at.rank, at.size)
		if r, ok := r.Inferior().(*inferior.Recorder); ok && at.rank.Known {
			r.Seat(optional(at.rank), optional(at.size))
		}
	}
	return p, nil
}

// seat is a process's rank in MPI_COMM_WORLD and the size of that.
type seat struct{ rank, size mqs.Maybe[int32] }

// seat asks the launcher's table and the environment of a process for its seat, once. It is
// unknown of a process that does not run on this machine.
func (s *sources) seat(info inferior.Info) seat {
	if info.Kind != "live" || info.PID <= 0 {
		return seat{}
	}
	at, asked := s.seats[info.PID]
	if asked {
		return at
	}
	if job, err := launch.Find(info.PID); err == nil && job.Self != nil {
		at = seat{job.Self.Number, job.Size}
	}
	s.seats[info.PID] = at
	return at
}

// typed is a process whose types a native decoder knows better than the debugger.
type typed struct {
	inferior.Inferior
	typist read.Typist
}

// FindTypes asks the decoder.
func (t typed) FindTypes(_ context.Context, queries []layout.TypeQuery) ([]*layout.Layout, error) {
	return t.typist.FindTypes(queries)
}
