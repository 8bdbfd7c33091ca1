//go:build linux

package supervisor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mpi-queues/mpi-queues/bridge"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/acquisition"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/helper"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/pidfd"
	"github.com/mpi-queues/mpi-queues/mqs/launch"
	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
)

// acquired is a job of which the launcher has told, and which waits until the debugger has its ranks.
type acquired struct {
	job     *launch.Job
	starter *launch.Starter
	// ranks are the processes of this machine that do not come to the supervisor by themselves.
	ranks []int
	// resume has the launcher go on.
	resume func()
}

// trace has a gdb like the user's trace the launcher, which is held before its first instruction.
func (s *Supervisor) trace() error {
	gdb := procfs.Host.Path(s.debugger, "exe")
	if path, err := procfs.Host.Program(s.debugger); err == nil && exists(path) {
		gdb = path // beside which it finds its own files
	}
	t, err := acquisition.Trace(gdb, s.folder.Path, s.launcher.pid)
	if err != nil {
		return err
	}
	s.launcher.tracer = t
	go func() {
		for range t.Stops() {
			s.stopped(t)
		}
	}()
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// stopped does what the launcher wants of a debugger that has stopped in MPIR_Breakpoint.
func (s *Supervisor) stopped(t *acquisition.Tracer) {
	starter, err := launch.ReadStarter(s.launcher.pid)
	if err != nil {
		t.Continue()
		return
	}
	switch starter.State {
	case launch.StateAborting:
		s.tellAbort(starter.AbortReason)
	case launch.StateSpawned:
		if s.acquire(t, starter) {
			return
		}
	}
	t.Continue()
}

// tellAbort tells the user, who may be waiting for the ranks in gdb, that the job is being aborted.
func (s *Supervisor) tellAbort(reason string) {
	if reason == "" {
		fmt.Fprintln(s.errs, "[The job is being aborted]")
		return
	}
	fmt.Fprintf(s.errs, "[The job is being aborted: %s]\n", reason)
}

// acquire finds the ranks that the launcher has told of, and says whether it has to wait until the
// debugger has them.
func (s *Supervisor) acquire(t *acquisition.Tracer, starter *launch.Starter) bool {
	job, err := launch.Find(s.launcher.pid)
	if err != nil {
		return false
	}
	a := &acquired{job: job, starter: starter, resume: t.Continue}
	s.awaitPrograms(job)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listed = job
	s.wake()
	var coming []int
	for _, pid := range here(job) {
		switch _, isHeld := s.held[pid]; {
		case isHeld, s.met[pid]: // it stands as it is to stand
		case isComing(pid):
			coming = append(coming, pid) // the launcher, as srun, may have stopped it
		case !s.isPrefixed: // else it has come, or was too late for that
			a.ranks = append(a.ranks, pid)
		}
	}
	if len(a.ranks) == 0 {
		time.AfterFunc(wakePatience, func() { s.wakeComing(coming) })
		return false
	}
	for _, pid := range coming {
		letGo(pid)
	}
	if s.isComplete {
		a.release()
		return false
	}
	if !starter.IsSeparate && slices.Contains(a.ranks, job.Launcher) {
		// The launcher is a rank itself. Two debuggers can't have it.
		a.resume = func() {}
		if err := t.Leave(); err != nil {
			a.ranks = slices.DeleteFunc(a.ranks, func(pid int) bool { return pid == job.Launcher })
		}
	}
	for _, pid := range a.ranks {
		s.held[pid] = pidfd.Open(pid)
	}
	s.acquired = a
	return true
}

// wakePatience is how long a launcher may take to wake ranks that it has stopped for its debugger,
// once that lets it go on. In its MPIR_Breakpoint, srun has the daemons of all its nodes wake the tasks
// that nobody traces (Slurm from 2.2 on: SIG_DEBUG_WAKE, pdebug_wake_process). That would also end the
// hold of a rank that someone else has woken before.
const wakePatience = 5 * time.Second

// wakeComing wakes those ranks that their launcher has not woken.
func (s *Supervisor) wakeComing(coming []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, pid := range coming {
		if !s.met[pid] && isComing(pid) {
			letGo(pid)
		}
	}
}

// here are the process ids of a job's ranks on this machine.
func here(job *launch.Job) []int {
	var out []int
	for _, r := range job.Ranks {
		if r.IsHere() {
			out = append(out, r.PID)
		}
	}
	return out
}

// isComing is true of a process that has yet to come to the supervisor, before it executes its program.
func isComing(pid int) bool { return haveSameProgram("self", strconv.Itoa(pid)) }

// haveSameProgram compares what two processes execute, by their folders in /proc.
func haveSameProgram(a, b string) bool {
	first, err1 := os.Stat(filepath.Join("/proc", a, "exe"))
	second, err2 := os.Stat(filepath.Join("/proc", b, "exe"))
	return errors.Join(err1, err2) == nil && os.SameFile(first, second)
}

// forkPatience is how long a rank may take from its beginning to its program.
const forkPatience = time.Second

// awaitPrograms waits until ranks that have just been forked execute something else than what has forked
// them. A launcher may tell of them before.
func (s *Supervisor) awaitPrograms(job *launch.Job) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(forkPatience); time.Now().Before(deadline); <-tick.C {
		if !slices.ContainsFunc(here(job), func(pid int) bool {
			status, err := procfs.Host.Status(pid)
			return err == nil && pid != job.Launcher && haveSameProgram(strconv.Itoa(pid), strconv.Itoa(status.Parent))
		}) {
			return
		}
	}
}

// areThere says whether all ranks of this machine are held that will be.
func areThere(a *acquired) bool { return !slices.ContainsFunc(here(a.job), isComing) }

// release lets those ranks go on that no debugger has, as their launcher demands, and then the launcher.
func (a *acquired) release() {
	for _, pid := range a.ranks {
		if status, err := procfs.Host.Status(pid); err == nil && status.Tracer == 0 {
			_ = acquisition.OpenGate(pid)
			letGo(pid)
		}
	}
	a.resume()
}

// letGo ends the stop of a process.
func letGo(pid int) {
	p := pidfd.Open(pid) // before it is looked at: the number can become another's
	defer p.Close()
	if stat, err := procfs.Host.Stat(pid); err == nil && stat.State == 'T' {
		p.Signal(unix.SIGCONT)
	}
}

// Release hears that the debugger has attached to the ranks that the launcher has told of.
func (s *Supervisor) Release(context.Context, *bridge.Debugger, bridge.ReleaseParams) (*bridge.ReleaseResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.acquired != nil {
		s.acquired.release()
		s.acquired = nil
	}
	return &bridge.ReleaseResult{}, nil
}

// result is the job as the debugger is told of it.
func (a *acquired) result() (bridge.RanksResult, *bridge.Acquired) {
	out := *helper.RanksOf(a.job)
	out.Self = 0
	return out, &bridge.Acquired{ToMain: a.starter.ToMain}
}
