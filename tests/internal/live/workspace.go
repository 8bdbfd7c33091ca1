//go:build live || matrix || full

// Package live runs MPI jobs and debuggers for tests.
package live

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// Workspace is what the tests of one run share: the product and the programs,
// each built once.
type Workspace struct {
	// Root is the project's folder, Folder a temporary one.
	Root, Folder string
	// Helper is the product's program.
	Helper string
	// Debugger is the name or path of the gdb to run.
	Debugger string
	// MPI is what programs are compiled and started with.
	MPI MPI

	mu    sync.Mutex
	built map[string]func() (string, error)
}

// New makes a workspace for this machine's gdb and Open MPI and builds the
// product into it. [Workspace.Close] removes it.
//
// In the environment, MPI_QUEUES_TEST_HELPER names a product that is ready, for
// where there is no Go, and MPI_QUEUES_TEST_GDB another debugger.
func New() (*Workspace, error) {
	defaultSignals()
	root, err := projectRoot()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "mpi-queues-live-")
	if err != nil {
		return nil, err
	}
	w := &Workspace{
		Root: root, Folder: folder, Helper: os.Getenv("MPI_QUEUES_TEST_HELPER"),
		Debugger: cmp.Or(os.Getenv("MPI_QUEUES_TEST_GDB"), "gdb"), MPI: OpenMPI, built: map[string]func() (string, error){},
	}
	if w.Helper != "" {
		return w, nil
	}
	w.Helper = filepath.Join(folder, "bin", "mpi-queues")
	build := exec.Command("go", "build", "-o", w.Helper, "./cmd/mpi-queues")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		w.Close()
		return nil, fmt.Errorf("go build: %w\n%s", err, out)
	}
	return w, nil
}

// defaultSignals gives what the tests start the default signals, also where the tests
// themselves were started with some of them ignored, as nohup and a shell's & do.
func defaultSignals() {
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGQUIT, syscall.SIGHUP} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s) // what is caught is not ignored by children
		}
	}
}

// With returns a workspace in a folder of this one, for another MPI.
func (w *Workspace) With(name string, mpi MPI) (*Workspace, error) {
	folder := filepath.Join(w.Folder, name)
	return &Workspace{
		Root: w.Root, Folder: folder, Helper: w.Helper, Debugger: w.Debugger, MPI: mpi, built: map[string]func() (string, error){},
	}, os.Mkdir(folder, 0o755)
}

// Close removes the workspace's folder.
func (w *Workspace) Close() { _ = os.RemoveAll(w.Folder) }

func projectRoot() (string, error) {
	dir, err := os.Getwd()
	for ; err == nil && dir != "/"; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
	}
	return "", fmt.Errorf("no go.mod above the working directory (%w)", err)
}

// Program returns the path of a test program, built when it is first asked for.
// source is a file's path in the project.
func (w *Workspace) Program(t testing.TB, source string) string {
	t.Helper()
	w.mu.Lock()
	build, ok := w.built[source]
	if !ok {
		build = sync.OnceValues(func() (string, error) { return w.compile(source) })
		w.built[source] = build
	}
	w.mu.Unlock()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func (w *Workspace) compile(source string) (string, error) {
	programs := filepath.Join(w.Root, "tests", "programs")
	path := filepath.Join(w.Folder, "programs", strings.TrimSuffix(filepath.Base(source), filepath.Ext(source)))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	args := []string{"-g", "-O0", "-pthread", "-I", programs, "-o", path}
	sources, text, err := parts(filepath.Join(w.Root, source))
	if err != nil {
		return "", err
	}
	args = append(args, sources...)
	if strings.Contains(text, "<omp.h>") {
		args = append(args, "-fopenmp")
	}
	libraries, err := w.libraries(text, programs)
	if err != nil {
		return "", err
	}
	args = append(args, libraries...)
	compiler := "gcc"
	if filepath.Ext(source) == ".F90" {
		compiler = w.MPI.Fortran // which compiles C too
	} else if accounts := strings.Contains(text, `"expect.h"`); accounts || strings.Contains(text, "<mpi.h>") {
		compiler = w.MPI.Compiler
		if accounts {
			args = append(args, filepath.Join(programs, "expect.c"), filepath.Join(programs, "expect_json.c"))
		}
	}
	if out, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", compiler, source, err, out)
	}
	return path, nil
}

// libraries compiles the shared libraries that a comment "libraries: NAME=SOURCE..." of a program names, and returns
// what links the program with them.
func (w *Workspace) libraries(text, programs string) ([]string, error) {
	var link []string
	for line := range strings.Lines(text) {
		_, names, _ := strings.Cut(line, " libraries: ")
		for _, entry := range strings.Fields(names) {
			name, source, _ := strings.Cut(entry, "=")
			path := filepath.Join(w.Folder, "programs", name)
			compiler := "gcc"
			if text, err := os.ReadFile(filepath.Join(programs, source)); err == nil && strings.Contains(string(text), "<mpi.h>") {
				compiler = w.MPI.Compiler
			}
			if out, err := exec.Command(compiler, "-g", "-O0", "-shared", "-fPIC", "-Wl,-soname,"+name, "-o", path, filepath.Join(programs, source)).CombinedOutput(); err != nil {
				return nil, fmt.Errorf("%s %s: %w\n%s", compiler, source, err, out)
			}
			link = append(link, path, "-Wl,-rpath,"+filepath.Dir(path))
		}
	}
	return link, nil
}

// parts are the sources of a program: one, and those beside it that a comment
// "parts: NAME..." in it names; and their text.
func parts(source string) (sources []string, text string, err error) {
	sources = []string{source}
	for i := 0; i < len(sources); i++ {
		part, err := os.ReadFile(sources[i])
		if err != nil {
			return nil, "", err
		}
		text += string(part)
		for line := range strings.Lines(string(part)) {
			if _, names, ok := strings.Cut(line, " parts: "); ok && i == 0 {
				for _, name := range strings.Fields(names) {
					sources = append(sources, filepath.Join(filepath.Dir(source), name))
				}
			}
		}
	}
	return sources, text, nil
}

// Exists tells whether there is a file.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
