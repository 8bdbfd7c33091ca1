package main

import (
	"context"
	"slices"
	"time"

	"github.com/mpi-queues/mpi-queues/bridge"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/dll"
	"github.com/mpi-queues/mpi-queues/mqs/launch"
	"github.com/mpi-queues/mpi-queues/mqs/target"
)

// sources are the ways to read a process for one request of the debugger's.
type sources struct {
	mqs.Sources
	choice mqs.Choice
	// opened are the vendor's DLLs that were opened, in the order of the processes.
	opened []*dll.Source
	// seats are what launchers have said, by process id.
	seats map[int]seat
	// look looks for a process's DLL without loading it.
	look func(ctx context.Context, t target.Target) (dll.Found, error)
}

// sources makes what a request for some processes asks for. What is wrong with it is for the user.
func (h *helper) sources(d *bridge.Debugger, s bridge.Source, processes ...bridge.Process) (*sources, error) {
	choice, err := mqs.ParseChoice(s.Choice)
	if err != nil {
		return nil, err
	}
	out := &sources{choice: choice, Sources: mqs.Sources{Decoders: decoders}, seats: map[int]seat{}}
	settings := dll.Settings{Path: s.DLL, SafePath: s.SafePath, Timeout: time.Duration(s.Timeout) * time.Second}
	var starters []target.Target
	for _, p := range slices.Concat(s.Starters, processes) {
		starters = append(starters, d.Target(p))
	}
	process := func(t target.Target) dll.Process {
		return dll.Process{Target: t, Starters: slices.DeleteFunc(slices.Clone(starters), func(s target.Target) bool {
			return s.Info().Inferior == t.Info().Inferior
		})}
	}
	out.look = func(ctx context.Context, t target.Target) (dll.Found, error) {
		return h.dlls.Look(ctx, process(t), settings)
	}
	out.OpenDLL = func(ctx context.Context, t target.Target, native mqs.Source) (mqs.Source, error) {
		p := process(t)
		known := mqs.Identity(t.Info())
		if native != nil {
			native.Describe(known)
			if typist, ok := native.(mqs.Typist); ok {
				p.Target = typed{t, typist}
			}
		}
		if p.Rank = known.GlobalRank; !p.Rank.Known {
			p.Rank = out.seat(t).rank
		}
		source, err := h.dlls.Open(ctx, p, settings)
		if err != nil {
			return nil, err
		}
		out.opened = append(out.opened, source)
		return source, nil
	}
	return out, nil
}

// read reads a process from where the user wants it.
func (s *sources) read(ctx context.Context, t target.Target, f mqs.Filter) (*mqs.Process, error) {
	p, err := s.Read(ctx, t, s.choice, f)
	if err != nil {
		return nil, ofLauncher(t.Info(), err)
	}
	if !p.WorldSize.Known {
		at := s.seat(t)
		p.Seat(at.rank, at.size)
		if r, ok := t.(*target.Recorder); ok && at.rank.Known {
			r.Seat(optional(at.rank), optional(at.size))
		}
	}
	return p, nil
}

// seat is a process's rank in MPI_COMM_WORLD and the size of that.
type seat struct{ rank, size mqs.Maybe[int32] }

// seat asks the launcher's table and the environment of a process for its seat, once. It is
// unknown of a process that does not run on this machine.
func (s *sources) seat(t target.Target) seat {
	info := t.Info()
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
	target.Target
	typist mqs.Typist
}

// FindTypes asks the decoder.
func (t typed) FindTypes(_ context.Context, queries []target.TypeQuery) ([]*target.Layout, error) {
	return t.typist.FindTypes(queries)
}
