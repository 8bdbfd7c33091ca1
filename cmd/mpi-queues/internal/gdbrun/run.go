package gdbrun

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"github.com/mpi-queues/mpi-queues/bridge"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/child"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/helper"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/tracee"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/dll/wire"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// Task is what one run of gdb is to read: the ranks of a job, or a core file.
type Task struct {
	// Job is a process of the job, 0 for a core file.
	Job int
	// record is the file to record that process into, empty to read its job.
	record string
	// Before is what the processes to attach to are like before gdb; of those that are named in turn, the first.
	Before []tracee.State
	// Program and Core are the paths of a core file and of its program.
	Program, Core string
	// Filter says what is kept of each process.
	Filter read.Filter
}

// AttachError means that gdb could not get at the process; Reason is in gdb's words.
type AttachError struct{ Reason string }

func (e *AttachError) Error() string { return e.Reason }

// UselessError means that a gdb can't do this for any process.
type UselessError struct{ error }

// EndPatience is how long a program that was asked to end may take to do so: a gdb detaches first.
const EndPatience = 5 * time.Second

// Read runs gdb and returns the processes that it has read. When ctx ends, or gdb makes no progress,
// gdb is told to end, and detaches. No process that ran before stays stopped. The errors are
// sentences for the shell's user: an [*AttachError], a [*UselessError], a [*TimeoutError], a [*tracee.HeldError] of a process that
// has not stopped, that of ctx, or why there is nothing to show of the only process.
func (g *GDB) Read(ctx context.Context, t Task) (*mqs.Snapshot, error) {
	s := &server{filter: t.Filter}
	silence, err := g.once(ctx, s, t, maxSteps(len(t.Before)))
	if err != nil {
		return nil, err
	}
	return s.answer.result(silence)
}

// Record runs gdb to record a process, as it is before gdb, into a file, as gdb's command `mpi-queues -internal -record'
// does. It ends gdb, and fails, as [GDB.Read] does.
func (g *GDB) Record(ctx context.Context, before tracee.State, file string) error {
	earlier, _ := os.Stat(file) // nil if there is none
	s := &server{}
	silence, err := g.once(ctx, s, Task{Job: before.PID, record: file, Before: []tracee.State{before}}, maxSteps(1))
	if err != nil {
		return err
	}
	// A recording is whole or not there, and is also made of a process whose queues can't be read.
	if now, statErr := os.Stat(file); statErr == nil && !os.SameFile(earlier, now) {
		return nil
	}
	_, err = s.answer.result(silence)
	return err
}

// once runs gdb for a server. It returns why gdb has said nothing, if it has not, and fails if ctx ends or
// gdb can't be tried.
func (g *GDB) once(ctx context.Context, s *server, t Task, steps int) (silence, err error) {
	if err := checkFiles(len(t.Before)); err != nil {
		return nil, err
	}
	log, err := os.CreateTemp(g.folder.Path, "log-")
	if err != nil {
		return nil, err
	}
	defer func() {
		_ = log.Close()
		_ = os.Remove(log.Name())
	}()
	shown := newProgressLine(os.Stderr)
	within, tell, stop := limited(ctx, newAlarm(g.timeout), steps, shown.show)
	defer stop()
	within, giveUp := context.WithCancelCause(within)
	defer giveUp(nil)
	s.giveUp, s.task = giveUp, t
	s.Helper, s.settings, s.tell = helper.New(g.version, helper.Log(zerolog.Disabled), g.jobs), g.settings, tell
	defer s.Close()
	state, ended := g.execute(within, t, s, log)
	isTold := within.Err() != nil
	giveUp(nil) // which changes nothing if there is a cause already
	stop()
	shown.erase()
	for _, before := range slices.Concat(t.Before, s.attached) {
		before.LetRun(state, isTold)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var late *TimeoutError
	var held *tracee.HeldError
	switch cause := context.Cause(within); {
	case errors.As(cause, &held):
		return held, nil
	case s.unanswering != nil:
		return s.unanswering, nil
	case errors.As(cause, &late):
		return late, nil
	}
	return g.silence(ended, log.Name()), nil
}

// request is what the script is told to do.
type request struct {
	Job    int    `json:"job"`
	InTurn bool   `json:"in_turn"`
	Ahead  bool   `json:"ahead"`
	Record string `json:"record"`
}

// execute runs gdb to its end, and serves its extension. The state is nil if it never ran.
func (g *GDB) execute(ctx context.Context, t Task, s *server, log *os.File) (*os.ProcessState, error) {
	text, err := json.Marshal(request{t.Job, s.turn != nil, s.ahead, t.record})
	if err != nil {
		return nil, err
	}
	ours, theirs, err := wire.SocketPair()
	if err != nil {
		return nil, err
	}
	args := []string{"-nx", "-batch", "-iex", "set confirm off", "-iex", "set pagination off",
		// No script that the process or its files name: who runs this may be root.
		"-iex", "set auto-load no", "-iex", "set auto-load libthread-db on"}
	if t.Core != "" {
		args = append(args, "--core="+t.Core, t.Program)
	}
	cmd := exec.CommandContext(ctx, g.path, append(args, "-x", g.gdbinit, "-x", g.script)...)
	// The next gdb is spared compiling the extension, whatever the user's Python is to do.
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=", "DEBUGINFOD_URLS=", "MPI_QUEUES_ATTACH="+string(text))
	// Standard input comes through whatever starts gdb, also what closes other files, as sudo does.
	// The extension keeps it from what gdb starts in turn.
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, log, log
	cmd.SysProcAttr = child.OwnSession()
	cmd.Cancel = func() error {
		var held *tracee.HeldError
		if errors.As(context.Cause(ctx), &held) { // gdb waits for it in the kernel, and takes no other signal
			return cmd.Process.Kill()
		}
		s.findUnanswering(ctx, cmd.Process.Pid)
		return cmd.Process.Signal(syscall.SIGTERM)
	}
	cmd.WaitDelay = EndPatience
	// The kernel ends gdb when the thread that started it is gone.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err = cmd.Start()
	_ = theirs.Close() // so that gdb's end of it ends it
	if err != nil {
		_ = ours.Close()
		return nil, err
	}
	setLimit(cmd.Process.Pid) // it reads nothing before it is served
	go s.watch(ctx, cmd.Process.Pid)
	served := make(chan struct{})
	go func() {
		defer close(served)
		s.serve(ctx, ours)
	}()
	err = cmd.Wait()
	_ = ours.Close()
	<-served
	return cmd.ProcessState, err
}

// serve serves gdb's extension until it closes its end.
func (s *server) serve(ctx context.Context, stream net.Conn) {
	b := bridge.NewServer(s.Version(), helper.Log(zerolog.Disabled))
	bridge.RegisterDisplay(b, bridge.MethodQueues, s.Queues)
	bridge.Register(b, bridge.MethodStatus, s.Status)
	bridge.Register(b, bridge.MethodNext, s.Next)
	bridge.Register(b, bridge.MethodRanks, s.Ranks)
	bridge.RegisterNotification(b, bridge.MethodExited, s.Exited)
	// What ends it shows in how gdb ends.
	_ = b.Serve(ctx, stream)
}

// silence is why a gdb gave no answer: what the extension says of it, or how
// it ended and what it said last. Any other process would not fare better with
// one that says nothing of itself, but for one that was killed.
func (g *GDB) silence(ended error, log string) error {
	text, err := os.ReadFile(log)
	if err != nil {
		return err
	}
	last := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "mpi-queues") {
			return &UselessError{fmt.Errorf("the gdb %s won't do: %s (--gdb PATH names it)", g.path, printable.Line(line))}
		}
		if line != "" {
			last = printable.Line(line)
		}
	}
	switch {
	// What gdb says gets lost then, and Python's compiled files break off.
	case !bySignal(ended) && g.folder.IsFull():
		return &UselessError{fmt.Errorf("the gdb %s did nothing (%s: %w): name another temporary folder with TMPDIR", g.path, g.folder.Path, syscall.ENOSPC)}
	case last == "" && ended == nil:
		return &UselessError{fmt.Errorf("the gdb %s did nothing: name another with --gdb PATH", g.path)}
	case last == "" && !bySignal(ended):
		return &UselessError{fmt.Errorf("the gdb %s did nothing (%w): name another with --gdb PATH", g.path, cause(ended))}
	case last == "":
		return fmt.Errorf("the gdb %s did nothing (%w)", g.path, cause(ended))
	case ended == nil:
		return fmt.Errorf("gdb: %s", last)
	}
	return fmt.Errorf("gdb: %s (%w)", last, cause(ended))
}

// bySignal is true of a program that a signal has ended.
func bySignal(ended error) bool {
	var e *exec.ExitError
	return errors.As(ended, &e) && !e.Exited()
}
