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
}

// sources makes what a request for some processes asks for. What is wrong with it is for the user.
func (h *helper) sources(d *bridge.Debugger, s bridge.Source, processes ...bridge.Process) (*sources, error) {
	choice, err := mqs.ParseChoice(s.Choice)
	if err != nil {
		return nil, err
	}
	out := &sources{choice: choice, Sources: mqs.Sources{Decoders: decoders}}
	settings := dll.Settings{Path: s.DLL, SafePath: s.SafePath, Timeout: time.Duration(s.Timeout) * time.Second}
	var starters []target.Target
	for _, p := range slices.Concat(s.Starters, processes) {
		starters = append(starters, d.Target(p))
	}
	out.OpenDLL = func(ctx context.Context, t target.Target, native mqs.Source) (mqs.Source, error) {
		p := dll.Process{Target: t, Starters: slices.DeleteFunc(slices.Clone(starters), func(s target.Target) bool {
			return s.Info().Inferior == t.Info().Inferior
		})}
		if native != nil {
			known := mqs.Identity(t.Info())
			native.Describe(known)
			p.Rank = known.GlobalRank
			if typist, ok := native.(mqs.Typist); ok {
				p.Target = typed{t, typist}
			}
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
	if err == nil && !p.WorldSize.Known && t.Info().Kind == "live" && t.Info().PID > 0 {
		if job, err := launch.Find(t.Info().PID); err == nil && job.Self != nil {
			p.Seat(job.Self.Number, job.Size)
			if r, ok := t.(*target.Recorder); ok {
				r.Seat(optional(job.Self.Number), optional(job.Size))
			}
		}
	}
	return p, err
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
