package helper

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/mpi-queues/mpi-queues/bridge"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/tracee"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/document"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/launch"
	"github.com/mpi-queues/mpi-queues/mqs/read"
	"github.com/mpi-queues/mpi-queues/mqs/render"
	"github.com/mpi-queues/mpi-queues/mqs/waitfor"
)

// Read collects what a filter keeps of a debugger's processes, with those beside them that it can't
// read. It tells what it does, a few words for each step, from the one goroutine.
func (h *Helper) Read(ctx context.Context, d *bridge.Debugger, p bridge.QueuesParams, f read.Filter, tell func(step string)) (*mqs.Snapshot, error) {
	from, err := h.sources(d, p.Source, p.Processes...)
	if err != nil {
		return nil, &bridge.UsageError{Err: err}
	}
	return from.readAll(ctx, inferiors(d, p.Processes), p.Obstacles, f, tell)
}

// readAll collects several processes and tells how far it has come.
func (s *sources) readAll(ctx context.Context, processes []inferior.Inferior, beside []bridge.Obstacle, f read.Filter, tell func(step string)) (*mqs.Snapshot, error) {
	return read.Several{Processes: processes, Beside: obstacles(beside), Read: s.read, Progress: func(next int) {
		step := "reading the message queues"
		if len(processes) > 1 {
			step = fmt.Sprintf("%s of process %d of %d", step, next+1, len(processes))
		}
		tell(step)
	}}.Together(ctx, f)
}

// inferiors are a debugger's processes, to be read.
func inferiors(d *bridge.Debugger, processes []bridge.Process) []inferior.Inferior {
	var out []inferior.Inferior
	for _, p := range processes {
		out = append(out, d.Inferior(p))
	}
	return out
}

// obstacles are the processes that the debugger knows it can't read.
func obstacles(list []bridge.Obstacle) []*mqs.Process {
	var out []*mqs.Process
	for _, o := range list {
		p := read.Identity(inferior.Info{Inferior: o.Inferior, PID: o.PID, Executable: o.Executable, Rank: o.Rank})
		p.Unavailable = o.Reason
		out = append(out, p)
	}
	return out
}

// Deadlock reads processes and says which of them wait for whom.
func (h *Helper) Deadlock(ctx context.Context, d *bridge.Debugger, p bridge.DeadlockParams) error {
	from, err := h.sources(d, p.Source, p.Processes...)
	if err != nil {
		return &bridge.UsageError{Err: err}
	}
	processes := inferiors(d, p.Processes)
	progress := func(message string) { d.Progress(ctx, message) }
	s, err := from.readAll(ctx, processes, p.Obstacles, read.Filter{Internal: true}, progress)
	if err != nil {
		return err
	}
	held := heldOf(ctx, p.Absent)
	for _, r := range p.Absent {
		process := absent(r)
		if e := held[r.PID]; e != nil && r.Host == "" && !r.Exited {
			process.Unavailable = e.Error()
			e.Record(process)
		}
		s.Processes = append(s.Processes, process)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	progress("looking who waits for whom")
	report := h.analyse(s, processes)
	progress("writing")
	out := d.Stream(ctx, "display")
	switch p.Format {
	case "json":
		return document.WriteReport(out, report)
	case "svg":
		return render.ReportSVG(out, report)
	}
	return render.ReportText(out, report, render.Style{On: p.Styled})
}

// analyse takes those for alive that are: there is no second look at cores. What was seen
// before counts if some of the processes have run since.
func (h *Helper) analyse(s *mqs.Snapshot, processes []inferior.Inferior) *waitfor.Report {
	isLive := func(p *mqs.Process) bool {
		return slices.ContainsFunc(processes, func(t inferior.Inferior) bool {
			return t.Info().Kind == "live" && t.Info().PID == p.PID && t.Info().Inferior == p.Inferior
		})
	}
	if !slices.ContainsFunc(s.Processes, isLive) {
		return waitfor.Analyse(s)
	}
	return waitfor.AnalyseLive(s, h.pastOf(s, isLive))
}

// pastOf is what was seen before of those processes of a snapshot that are on this machine, or
// have exited there.
func (h *Helper) pastOf(s *mqs.Snapshot, isLive func(p *mqs.Process) bool) waitfor.Past {
	here, elsewhere := &mqs.Snapshot{}, map[int]bool{}
	for _, p := range s.Processes {
		if isLive(p) || p.Phase == mqs.Exited && p.PID != 0 {
			here.Processes = append(here.Processes, p)
		} else {
			elsewhere[p.PID] = true
		}
	}
	past := h.seen.Past(here, h.seen.Clocks())
	if !slices.Contains(slices.Collect(maps.Values(past.Ran)), true) {
		past.Looks = 0
	}
	for pid := range elsewhere { // where the number may be another process's
		delete(past.Earlier, pid)
		delete(past.Ran, pid)
	}
	return past
}

// absent is a rank that the debugger has no process of.
func absent(r bridge.Rank) *mqs.Process {
	p := &mqs.Process{Image: r.Executable, Unavailable: "it is on " + r.Host + ", not on this machine"}
	if r.Rank != nil {
		p.GlobalRank = mqs.Known(*r.Rank)
		p.Unavailable = fmt.Sprintf("rank %d is on %s, not on this machine", *r.Rank, r.Host)
	}
	if r.Host == "" {
		p.PID = r.PID
		p.Unavailable = fmt.Sprintf("process %d is not attached", r.PID)
	}
	if r.Obstacle != "" {
		p.Unavailable = r.Obstacle
	}
	if r.Exited {
		p.Phase = mqs.Exited
		p.Signal = r.Signal
		if r.ExitCode != nil {
			p.ExitCode = mqs.Known(*r.ExitCode)
		}
		p.Unavailable = fmt.Sprintf("process %d has exited", r.PID)
		if r.PID == 0 && r.Rank != nil {
			p.Unavailable = fmt.Sprintf("rank %d has exited", *r.Rank)
		}
	}
	return p
}

// Ranks finds the job that a process belongs to.
func (h *Helper) Ranks(ctx context.Context, d *bridge.Debugger, p bridge.RanksParams) (*bridge.RanksResult, error) {
	launch.Await(ctx, p.PID)
	job, err := h.finder().Find(p.PID)
	if err != nil && p.Far {
		if far := launch.FindFar(p.PID); far != nil {
			job, err = far, nil
		}
	}
	if err != nil {
		return nil, read.Unreadable("", "%w", err)
	}
	out := RanksOf(job)
	leaveHeld(ctx, out)
	if p.Far && h.Far != nil {
		if err := h.Far(ctx, job, p, out, func(message string) { d.Progress(ctx, message) }); err != nil {
			return nil, read.Unreadable("", "%w", err)
		}
	}
	return out, nil
}

// leaveHeld says of ranks that can't be stopped that a debugger is not to attach to them.
func leaveHeld(ctx context.Context, out *bridge.RanksResult) {
	held := heldOf(ctx, out.Ranks)
	for i := range out.Ranks {
		if r := &out.Ranks[i]; r.Host == "" && !r.Exited && r.Obstacle == "" && held[r.PID] != nil {
			r.Obstacle = held[r.PID].Error()
		}
	}
}

// heldOf returns which ranks of this machine can't be stopped, by process id.
func heldOf(ctx context.Context, ranks []bridge.Rank) map[int]*tracee.HeldError {
	var pids []int
	for _, r := range ranks {
		if r.Host == "" && !r.Exited && r.PID != 0 {
			pids = append(pids, r.PID)
		}
	}
	return tracee.Held(ctx, pids...)
}

// RanksOf is a job as the extension is told of it.
func RanksOf(job *launch.Job) *bridge.RanksResult {
	out := &bridge.RanksResult{Launcher: job.Launcher, Name: job.Name, Size: optional(job.Size), Others: job.Others}
	for _, r := range job.Ranks {
		out.Ranks = append(out.Ranks, bridge.Rank{Rank: optional(r.Number), PID: r.PID, Host: r.Host, Executable: r.Executable, Exited: r.Exited, Obstacle: r.Obstacle})
	}
	if job.Self != nil {
		out.Self = job.Self.PID
	}
	if job.IsAborting {
		out.Aborting = &job.AbortReason
	}
	return out
}

func optional(n mqs.Maybe[int32]) *int32 {
	if !n.Known {
		return nil
	}
	return &n.Value
}
