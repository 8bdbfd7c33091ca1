package helper

import (
	"context"
	"slices"
	"time"

	"github.com/mpi-queues/mpi-queues/bridge"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/decoders"
	"github.com/mpi-queues/mpi-queues/mqs/dll"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/launch"
	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// sources are the ways to read a process for one request of the debugger's.
type sources struct {
	read.Sources
	choice read.Choice
	// opened are the vendor's DLLs that were opened, in the order of the processes.
	opened []*dll.Source
	// jobs finds who has launched the processes.
	jobs *launch.Finder
	// look looks for a process's DLL without loading it.
	look func(r *inferior.Reader) (dll.Found, error)
}

// sources makes what a request for some processes asks for. What is wrong with it is for the user.
func (h *Helper) sources(d *bridge.Debugger, s bridge.Source, processes ...bridge.Process) (*sources, error) {
	choice, err := read.ParseChoice(s.Choice)
	if err != nil {
		return nil, err
	}
	out := &sources{choice: choice, Sources: read.Sources{Decoders: decoders.All, Log: func(why error) {
		h.dlls.Log.Debug().Err(why).Msg("no layout of the MPI's types fits")
	}}, jobs: h.finder()}
	settings := dll.Settings{Path: s.DLL, SafePath: s.SafePath, Timeout: time.Duration(s.Timeout) * time.Second}
	var starters []inferior.Inferior
	for _, p := range slices.Concat(s.Starters, processes) {
		starters = append(starters, d.Inferior(p))
	}
	process := func(r *inferior.Reader) dll.Process {
		t := r.Inferior()
		return dll.Process{Inferior: t, Reader: r, Launchers: s.Launchers, Starters: slices.DeleteFunc(slices.Clone(starters), func(s inferior.Inferior) bool {
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
			p.Rank, _ = out.rankOf(r.Info())
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
		if r.Err() == nil && hasEnded(r.Info()) {
			return nil, read.Unreadable("", "process %d has ended: the debugger notices that when it is to run on", r.Info().PID)
		}
		return nil, s.explained(r.Info(), err)
	}
	if !p.WorldSize.Known || p.IsAlone() {
		s.seat(p, r)
	}
	return p, nil
}

// seat adds what the launcher of a process knows of it. A child of a rank has the rank's environment, and may have
// called MPI_Init by itself.
func (s *sources) seat(p *mqs.Process, r *inferior.Reader) {
	job := s.jobOf(r.Info())
	if job == nil || p.IsAlone() && job.Self.PID != p.PID {
		return
	}
	p.Seat(job.Self.Number, job.Size, job.Software)
	if r, ok := r.Inferior().(*inferior.Recorder); ok && job.Self.Number.Known {
		r.Seat(optional(job.Self.Number), optional(job.Size), job.Software)
	}
}

// hasEnded says whether a process has been killed while it was stopped: nothing of it can be read any more.
func hasEnded(info inferior.Info) bool {
	if info.Kind != "live" || info.PID <= 0 {
		return false
	}
	stat, err := procfs.Host.Stat(info.PID)
	return err == nil && stat.HasEnded()
}

// rankOf asks the launcher's table and the environment of a process for its rank in MPI_COMM_WORLD
// and the size of that. They are unknown of a process that does not run on this machine.
func (s *sources) rankOf(info inferior.Info) (rank, size mqs.Maybe[int32]) {
	if job := s.jobOf(info); job != nil {
		return job.Self.Number, job.Size
	}
	return rank, size
}

// jobOf returns the job in which a process on this machine has a rank, nil if there is none.
func (s *sources) jobOf(info inferior.Info) *launch.Job {
	if info.Kind != "live" || info.PID <= 0 {
		return nil
	}
	if job, err := s.jobs.Find(info.PID); err == nil && job.Self != nil {
		return job
	}
	return nil
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
