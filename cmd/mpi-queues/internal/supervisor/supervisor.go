//go:build linux

// Package supervisor starts a job for a debugger, and sees that nothing of it is left when the debugger
// ends: it is a process of its own, between gdb and the job's launcher, and outlives gdb's helper.
//
// Each rank is started through `mpi-queues rank', which meets the supervisor before it executes its
// program, and is stopped before the program's first instruction. There gdb attaches to it.
package supervisor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/mpi-queues/mpi-queues/bridge"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/commandline"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/gate"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/helper"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/hold"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/pidfd"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/scratch"
	"github.com/mpi-queues/mpi-queues/mqs/launch"
	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
)

// Supervisor starts one job.
type Supervisor struct {
	version  string
	debugger int
	// out and errs are the job's output, where the debugger's own goes.
	out, errs *os.File

	folder   *scratch.Folder
	listener *gate.Listener
	// program is a path of this program that needs no quotes.
	program  string
	launcher *launcher

	mu sync.Mutex
	// met are the processes that have come to be held, or are held.
	met map[int]bool
	// held are the ranks that have been stopped before their programs began, by process id.
	held map[int]*pidfd.Process
	came chan struct{} // after one more is there, or has failed
	// told are those that the debugger has been told of, and late those that are held and of which it has
	// yet to be told, in the order in which they came: spawned processes, and ranks that took long.
	told map[int]bool
	late []int
	// isAnnounced is true from when the debugger is first woken for them to when it asks for them.
	isAnnounced bool
	// hasLetGo is true if a rank runs on without the debugger.
	hasLetGo bool
	// isComplete is true once the debugger has been told of the ranks.
	isComplete bool
	// isPrefixed is true if all ranks are started through `mpi-queues rank', by the command line.
	isPrefixed bool
	// listed is the job as the launcher has told of it, nil if it has not, and acquired the same if ranks
	// of it have to be attached to.
	listed   *launch.Job
	acquired *acquired
	// notes are for the user.
	notes []string
}

// New returns a supervisor of a version of this program for a debugger, by its process id.
// [Supervisor.Close] ends its job.
func New(version string, debugger int, out, errs *os.File) *Supervisor {
	return &Supervisor{version: version, debugger: debugger, out: out, errs: errs, met: map[int]bool{}, held: map[int]*pidfd.Process{}, told: map[int]bool{}, came: make(chan struct{}, 1)}
}

// Server answers what gdb's extension asks for.
func (s *Supervisor) Server(log zerolog.Logger) *bridge.Server {
	b := bridge.NewServer(s.version, log)
	bridge.Register(b, bridge.MethodRun, s.Run)
	bridge.Register(b, bridge.MethodRelease, s.Release)
	bridge.Register(b, bridge.MethodLate, s.Late)
	bridge.Register(b, bridge.MethodWait, s.Wait)
	bridge.RegisterNotification(b, bridge.MethodExited, s.Exited)
	bridge.RegisterNotification(b, bridge.MethodLeft, s.Left)
	return b
}

// Run starts the job, and returns when all its ranks wait or the launcher has ended.
func (s *Supervisor) Run(ctx context.Context, d *bridge.Debugger, p bridge.RunParams) (*bridge.RunResult, error) {
	if s.launcher != nil {
		return nil, &bridge.UsageError{Err: errors.New("a job was started already")}
	}
	if err := s.prepare(); err != nil {
		return nil, &bridge.UsageError{Err: fmt.Errorf("the job can't be started: %w", err)}
	}
	// Not by the environment alone: a launcher may keep that from its ranks (srun --export=NONE).
	prefix := s.program + " rank --" + gate.Flag + "=" + s.listener.Path + " --"
	command, err := commandline.Prefixed(ctx, p.Command, prefix)
	if err != nil {
		return nil, &bridge.UsageError{Err: err}
	}
	s.isPrefixed = command != p.Command
	go s.accept()
	if err := s.launch(command, prefix, p); err != nil {
		return nil, &bridge.UsageError{Err: err}
	}
	result, err := s.await(ctx, d, time.Duration(p.Seconds)*time.Second)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.isComplete = true
	s.tell(result.Job.Ranks)
	// Nobody traces what a script has started, nor a rank without a launcher.
	result.IsTold = s.launcher.tracer != nil && result.Job.Launcher == s.launcher.pid && !s.met[s.launcher.pid]
	s.mu.Unlock()
	return result, nil
}

// prepare makes the folder in which ranks meet the supervisor.
func (s *Supervisor) prepare() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if s.folder, err = scratch.New(); err != nil {
		return err
	}
	if s.program, err = commandline.Unquoted(self, s.folder.Path); err != nil {
		return err
	}
	s.listener, err = gate.Listen(s.folder.Path, s.debugger)
	return err
}

// accept holds the ranks that come, side by side.
func (s *Supervisor) accept() {
	for {
		r, err := s.listener.Accept()
		if err != nil {
			return
		}
		go s.hold(r)
	}
}

func (s *Supervisor) hold(r *gate.Rank) {
	p := pidfd.Open(r.PID) // before its number can become another's
	s.mu.Lock()
	s.met[r.PID] = true
	launcher := s.launcher
	s.mu.Unlock()
	if launcher != nil && r.PID == launcher.pid && launcher.tracer != nil {
		launcher.tracer.Close() // it is the only rank itself, and two debuggers can't have it
	}
	err := hold.Executed(r.PID, r.Go)
	r.Close()
	s.mu.Lock()
	isLate := err == nil && s.isComplete
	if err != nil {
		delete(s.met, r.PID) // it has said what was wrong with its program, or starts by itself
		p.Close()
	} else {
		s.held[r.PID] = p
	}
	if isLate {
		s.late = append(s.late, r.PID)
	}
	s.mu.Unlock()
	if isLate {
		s.announce(r.PID)
	}
	s.wake()
}

// wake has await look again.
func (s *Supervisor) wake() {
	select {
	case s.came <- struct{}{}:
	default:
	}
}

// await waits until all ranks are held.
func (s *Supervisor) await(ctx context.Context, d *bridge.Debugger, within time.Duration) (*bridge.RunResult, error) {
	late := time.NewTimer(within)
	defer late.Stop()
	rest := time.NewTimer(restPatience)
	defer rest.Stop()
	result := &bridge.RunResult{Notes: s.notes}
	size := 0
	for isLate := false; ; {
		isSettled := false
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-s.launcher.ended:
			result.End = s.launcher.end()
		case <-late.C:
			isLate = true
		case <-rest.C:
			isSettled = true
		case <-s.came:
			rest.Reset(restPatience)
		}
		held, acquired := s.heldRanks()
		if acquired != nil && (result.End != nil || isLate || areThere(acquired)) {
			result.Job, result.Acquired = acquired.result()
			return result, nil
		}
		if size == 0 && len(held) > 0 {
			size = sizeOf(held[0])
		}
		if size > 0 {
			d.Progress(ctx, fmt.Sprintf("%d of %d ranks have come", len(held), size))
		}
		if result.End != nil || isLate || acquired == nil && s.areAllHere(held, size, isSettled) {
			result.Job = s.job(held)
			if isLate && size > len(held) {
				result.Notes = append(result.Notes, fmt.Sprintf("Only %d of the job's %d ranks have come to the debugger within %v. "+
					"Those that come later are attached to then.", len(held), size, within))
			}
			return result, nil
		}
	}
}

// heldRanks are the process ids of the ranks that are held, in no order, and the job that the launcher has
// told of, nil if it has not.
func (s *Supervisor) heldRanks() ([]int, *acquired) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pids := make([]int, 0, len(s.held))
	for pid := range s.held {
		pids = append(pids, pid)
	}
	return pids, s.acquired
}

// ranksOf is what the debugger is told of a job. Those of its ranks that are not held are not to be
// attached to: one that is late is on its way to be held. [Supervisor.mu] is held.
func (s *Supervisor) ranksOf(job *launch.Job) bridge.RanksResult {
	out := *helper.RanksOf(job)
	out.Self = 0
	for i, r := range job.Ranks {
		if r.IsHere() && s.held[r.PID] == nil {
			out.Ranks[i].Obstacle = "it is not held for the debugger"
		}
	}
	return out
}

// tell remembers that the debugger is told of ranks. [Supervisor.mu] is held.
func (s *Supervisor) tell(ranks []bridge.Rank) {
	for _, r := range ranks {
		if s.held[r.PID] != nil {
			s.told[r.PID] = true
		}
	}
}

// isBelow says whether a process is another one, or has been started by it.
func isBelow(pid, ancestor int) bool {
	for range 1000 {
		if pid == ancestor {
			return true
		}
		stat, err := procfs.Host.Stat(pid)
		if err != nil || stat.Parent == 0 {
			return false
		}
		pid = stat.Parent
	}
	return false
}

// Wait waits for the end of the launcher.
func (s *Supervisor) Wait(ctx context.Context, _ *bridge.Debugger, p bridge.WaitParams) (*bridge.WaitResult, error) {
	if s.launcher == nil {
		return nil, &bridge.UsageError{Err: errors.New("no job was started")}
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(time.Duration(p.Seconds) * time.Second):
		return &bridge.WaitResult{}, nil
	case <-s.launcher.ended:
		return &bridge.WaitResult{End: s.launcher.end()}, nil
	}
}

// Exited hears that a rank has ended.
func (s *Supervisor) Exited(_ context.Context, p bridge.ExitedParams) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(p.PID)
}

// Left hears that the debugger has let go of a rank, which runs on.
func (s *Supervisor) Left(_ context.Context, p bridge.ExitedParams) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hasLetGo = true
	s.forget(p.PID)
}

// forget has a rank be none that is debugged. [Supervisor.mu] is held.
func (s *Supervisor) forget(pid int) {
	delete(s.met, pid)
	if rank, known := s.held[pid]; known {
		rank.Close()
		delete(s.held, pid)
	}
}
