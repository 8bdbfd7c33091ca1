//go:build live || matrix || full

package live

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Where is what a debugger looks at.
type Where struct {
	// Name for messages.
	Name string
	// Args are gdb's, Commands come ahead of all others, After behind them.
	Args, Commands, After []string
}

// Process is a running process to attach to.
func Process(pid int) Where {
	return Where{Name: "live", Args: []string{"-p", fmt.Sprint(pid)}}
}

// Core is a core file of a program.
func Core(program, core string) Where {
	return Where{Name: "core", Args: []string{program, core}}
}

// Remote is a running process that gdbserver attaches to, on a pipe.
func Remote(pid int) Where {
	return Where{Name: "remote", Commands: []string{
		"set sysroot /", fmt.Sprintf("target remote | gdbserver --once --attach - %d", pid)}}
}

// Nothing is a debugger without a program.
func Nothing() Where { return Where{Name: "nothing"} }

// Output is what gdb wrote.
type Output struct{ Stdout, Stderr string }

// All is everything, what went to stderr last.
func (o Output) All() string { return o.Stdout + o.Stderr }

// Contains fails the test where gdb's output lacks a text.
func (o Output) Contains(t testing.TB, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(o.All(), text) {
			t.Errorf("gdb does not say %q; it says:\n%s", text, o.All())
		}
	}
}

// Lacks fails the test where gdb's output has a text.
func (o Output) Lacks(t testing.TB, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(o.All(), text) {
			t.Errorf("gdb says %q:\n%s", text, o.All())
		}
	}
}

// patientPrinters has gdb's printers wait for their helper for as long as it takes. On a busy machine they would give up, and show
// handles as gdb does. They ask as soon as `set mpi-queues helper' names the helper.
const patientPrinters = `python __import__("mpi_queues.handle_texts").handle_texts.SECONDS = 600.0`

// arguments are what every gdb of the tests is started with.
func (w *Workspace) arguments(where Where, commands []string) []string {
	args := []string{"-nx", "-iex", "set debuginfod enabled off", "-iex", "set auto-load no", "-iex", "set confirm off"}
	args = append(args, where.Args...)
	for _, c := range where.Commands {
		args = append(args, "-ex", c)
	}
	args = append(args, "-ex", "source "+filepath.Join(w.Root, "gdbinit"), "-ex", patientPrinters, "-ex", "set mpi-queues helper "+w.Helper)
	for _, c := range slices.Concat(commands, where.After) {
		args = append(args, "-ex", c)
	}
	return args
}

// environment is the tests' own, without what would change gdb's or the
// product's behaviour. HOME is an empty folder.
func (w *Workspace) environment(extra ...string) []string {
	var env []string
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		switch name {
		case "HOME", "TERM", "MPI_QUEUES_HELPER", "MPI_QUEUES_PYTHON", "MPI_QUEUES_DEBUG", "DEBUGINFOD_URLS", "NO_COLOR":
		default:
			env = append(env, v)
		}
	}
	return append(append(env, "HOME="+w.Folder, "LC_ALL=C.UTF-8", "TERM=dumb"), extra...)
}

// GDB runs commands in one gdb, which goes on after errors, and returns what it wrote.
func (w *Workspace) GDB(t testing.TB, where Where, commands ...string) Output {
	t.Helper()
	ctx, cancel := patient(t.Context(), 2*Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, w.Debugger, append([]string{"-batch"}, w.arguments(where, commands)...)...)
	cmd.Env = w.environment()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	out := Output{stdout.String(), stderr.String()}
	if ctx.Err() != nil {
		t.Fatalf("gdb (%s) does not end; its output:\n%s", where.Name, out.All())
	}
	// An error of the last command is an exit status of 1.
	if _, exited := err.(*exec.ExitError); err != nil && (!exited || cmd.ProcessState.ExitCode() != 1) {
		t.Fatalf("gdb (%s): %v; its output:\n%s", where.Name, err, out.All())
	}
	return out
}

// ShellError runs the product's program where it is to fail, and returns what it says.
func (w *Workspace) ShellError(t testing.TB, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), w.Helper, args...)
	cmd.Env = w.environment()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if out, err := cmd.Output(); err == nil {
		t.Fatalf("mpi-queues %s does not fail; it says:\n%s%s", strings.Join(args, " "), out, stderr.String())
	}
	return stderr.String()
}

// Shell runs the product's program in a shell's manner and returns its standard output.
func (w *Workspace) Shell(t testing.TB, args ...string) []byte {
	t.Helper()
	out, said, err := w.Try(t, args...)
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	return out
}

// Try does the same where an error may be right. said is all that was written.
func (w *Workspace) Try(t testing.TB, args ...string) (out []byte, said string, err error) {
	t.Helper()
	ctx, cancel := patient(t.Context(), 2*Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, w.Helper, args...)
	cmd.Env = w.environment()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err = cmd.Output()
	if err != nil {
		err = fmt.Errorf("mpi-queues %s: %w", strings.Join(args, " "), err)
	}
	return out, string(out) + stderr.String(), err
}
