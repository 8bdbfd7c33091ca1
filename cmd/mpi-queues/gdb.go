package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/child"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/extension"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/scratch"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/document"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
)

//go:embed dump.py
var dumpScript []byte

// gdb is a debugger program to run in batch, and the extension, unpacked for it.
type gdb struct {
	path    string
	timeout time.Duration
	// folder is for the extension and what gdb writes.
	folder *scratch.Folder
	// gdbinit, script and self are the paths of the files in it and of this program.
	gdbinit, script, self string
	// settings are what `set mpi-queues' is to be given.
	settings []string
}

// endPatience is how long a gdb that was asked to end may take to detach.
const endPatience = 5 * time.Second

// errNoGDB means that a gdb has to be installed.
var errNoGDB = errors.New("there is no gdb in the folders of PATH")

// findGDB returns the path of the gdb to run: the one that the flag names, or
// $MPI_QUEUES_GDB, or the first in PATH.
func findGDB(flag string) (string, error) {
	for _, named := range []struct{ name, by string }{{flag, "--gdb"}, {os.Getenv("MPI_QUEUES_GDB"), "MPI_QUEUES_GDB in the environment"}} {
		if named.name == "" {
			continue
		}
		path, err := exec.LookPath(named.name)
		if err != nil {
			return "", fmt.Errorf("the gdb %q, named by %s, can't be run (%w): name another", named.name, named.by, cause(err))
		}
		return path, nil
	}
	path, err := exec.LookPath("gdb")
	if err != nil {
		return "", fmt.Errorf("%w: install it, or name one with --gdb PATH", errNoGDB)
	}
	return path, nil
}

// cause strips an error of exec's from the name that the sentence around it says.
func cause(err error) error {
	var e *exec.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

// newGDB unpacks the extension for a gdb. Whether that can run it is seen when it
// does. [gdb.close] removes what it leaves.
func newGDB(path string, timeout time.Duration, settings ...string) (*gdb, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	folder, err := scratch.New()
	if err != nil {
		return nil, err
	}
	g := &gdb{path: path, timeout: timeout, folder: folder, script: filepath.Join(folder.Path, "dump.py"), self: self, settings: settings}
	g.gdbinit, err = extension.Unpack(folder.Path)
	if err == nil {
		err = os.WriteFile(g.script, dumpScript, 0o644)
	}
	if err != nil {
		g.close()
		return nil, fmt.Errorf("gdb's extension can't be unpacked into %s, since %w: name another temporary folder with TMPDIR", folder.Path, err)
	}
	return g, nil
}

func (g *gdb) close() { g.folder.Remove() }

// request and reply are what dump.py reads and writes.
type request struct {
	PID int `json:"pid"`
	// Job is true if all processes of the job are meant that PID belongs to.
	Job bool `json:"job"`
	// Settings are what `set mpi-queues' is given before.
	Settings []string `json:"settings"`
	Command  string   `json:"command"`
	Reply    string   `json:"reply"`
	// Progress is the descriptor for lines that say how far it is.
	Progress int `json:"progress"`
}

// progressFD is where gdb has the first of its extra files.
const progressFD = 3

type reply struct {
	Step   string `json:"step"`
	Reason string `json:"reason"`
}

// attachError means that gdb could not get at the process; Reason is in gdb's words.
type attachError struct{ Reason string }

func (e *attachError) Error() string { return e.Reason }

// read runs gdb and returns the process that it saw.
func (g *gdb) read(ctx context.Context, i inquiry) (*mqs.Process, error) {
	s, err := g.readAll(ctx, i)
	if err == nil && len(s.Processes) != 1 {
		err = fmt.Errorf("gdb showed %d processes, not one", len(s.Processes))
	}
	if err != nil {
		return nil, err
	}
	return s.Processes[0], nil
}

// readAll runs gdb and returns all that it saw.
func (g *gdb) readAll(ctx context.Context, i inquiry) (*mqs.Snapshot, error) {
	text, err := g.run(ctx, i)
	if err != nil {
		return nil, err
	}
	s, err := document.Parse(text)
	if err == nil {
		forShell(s)
	}
	return s, err
}

// run runs gdb and returns what the command mpi-queues wrote.
func (g *gdb) run(ctx context.Context, i inquiry) ([]byte, error) {
	folder, err := os.MkdirTemp(g.folder.Path, "run-")
	if err != nil {
		return nil, err
	}
	output := filepath.Join(folder, "queues.json")
	r := request{PID: i.pid, Job: i.job != nil, Settings: g.settings, Command: "mpi-queues -json -output " + quote(output), Reply: filepath.Join(folder, "reply.json"), Progress: progressFD}
	for _, o := range i.options {
		r.Command += " " + quote(o)
	}
	log, err := os.Create(filepath.Join(folder, "log"))
	if err != nil {
		return nil, err
	}
	ended := g.execute(ctx, i, r, log)
	if err := errors.Join(ctx.Err(), log.Close()); err != nil {
		return nil, err
	}
	var answer reply
	if text, err := os.ReadFile(r.Reply); err == nil {
		if err := json.Unmarshal(text, &answer); err != nil {
			return nil, err
		}
	}
	var late *timeoutError
	switch {
	case answer.Step == "done":
		return os.ReadFile(output)
	case errors.As(ended, &late):
		return nil, late
	case answer.Step == "attach":
		return nil, &attachError{asFlags(answer.Reason)}
	case answer.Step == "read":
		return nil, errors.New(asFlags(answer.Reason))
	}
	return nil, g.silence(ended, log.Name())
}

// execute runs gdb to its end. When ctx ends, or gdb makes no progress, it is told to
// end, and detaches. No process that ran before stays stopped.
func (g *gdb) execute(ctx context.Context, i inquiry, r request, log *os.File) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	progress, tell, err := os.Pipe()
	if err != nil {
		return err
	}
	defer func() { _ = progress.Close() }()
	defer func() { _ = tell.Close() }()
	shown := newProgressLine(os.Stderr)
	ctx, cancel := limited(ctx, newAlarm(g.timeout), maxSteps(len(i.job)), progress, shown.show)
	defer cancel()
	args := []string{"-nx", "-batch", "-iex", "set confirm off", "-iex", "set pagination off",
		// No script that the process or its files name: who runs this may be root.
		"-iex", "set auto-load no", "-iex", "set auto-load libthread-db on"}
	if i.core != "" {
		args = append(args, "--core="+i.core, i.program)
	}
	cmd := exec.CommandContext(ctx, g.path, append(args, "-x", g.gdbinit, "-x", g.script)...)
	// The next gdb is spared compiling the extension, whatever the user's Python is to do.
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=", "DEBUGINFOD_URLS=", "MPI_QUEUES_HELPER="+g.self, "MPI_QUEUES_DUMP="+string(text))
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{tell} // progressFD
	cmd.SysProcAttr = child.OwnSession()
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = endPatience
	// The kernel ends gdb when the thread that started it is gone.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err = cmd.Run()
	isTold := ctx.Err() != nil
	cancel()
	shown.erase()
	for _, before := range append(i.job, i.before) {
		if before.PID != 0 {
			before.LetRun(cmd.ProcessState, isTold)
		}
	}
	var late *timeoutError
	if errors.As(context.Cause(ctx), &late) {
		return late
	}
	return err
}

// uselessError means that a gdb can't do this for any process.
type uselessError struct{ error }

// silence is why a gdb gave no answer: what the extension says of it, or how
// it ended and what it said last. Any other process would not fare better with
// one that says nothing of itself, but for one that was killed.
func (g *gdb) silence(ended error, log string) error {
	text, err := os.ReadFile(log)
	if err != nil {
		return err
	}
	last := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "mpi-queues") {
			return &uselessError{fmt.Errorf("the gdb %s won't do: %s (--gdb PATH names it)", g.path, printable.Line(line))}
		}
		if line != "" {
			last = printable.Line(line)
		}
	}
	switch {
	case last == "" && ended == nil:
		return &uselessError{fmt.Errorf("the gdb %s did nothing: name another with --gdb PATH", g.path)}
	case last == "" && !bySignal(ended):
		return &uselessError{fmt.Errorf("the gdb %s did nothing (%w): name another with --gdb PATH", g.path, cause(ended))}
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

// quote makes a word of gdb's command line of any text.
func quote(text string) string {
	var b strings.Builder
	for _, r := range text {
		if strings.ContainsRune(" \t\\'\"", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
