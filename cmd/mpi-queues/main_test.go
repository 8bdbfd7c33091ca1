package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// cleanups are run when all tests are done.
var cleanups []func()

func atExit(f func()) { cleanups = append(cleanups, f) }

// tests run the tests, and end with what they leave.
type tests struct{ *testing.M }

func (t tests) Run() int {
	defer func() {
		for _, f := range cleanups {
			f()
		}
	}()
	return t.M.Run()
}

func TestMain(m *testing.M) {
	testscript.Main(tests{m}, map[string]func(){"mpi-queues": main})
}

// TestScripts runs what a shell sees of the program, without gdb and MPI.
func TestScripts(t *testing.T) {
	absolute := func(path string) string {
		path, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
		Setup: func(env *testscript.Env) error {
			env.Setenv("DEMO", absolute("internal/demo/program"))
			env.Setenv("RECORDINGS", absolute("../../tests/recordings"))
			env.Setenv("JOB", absolute("testdata/mpich-job.mpiq"))
			// Where mpi-queues is, and nothing else.
			env.Setenv("BIN", filepath.SplitList(env.Getenv("PATH"))[0])
			env.Setenv("PPID", strconv.Itoa(os.Getpid()))
			return nil
		},
	})
}

// An error quotes what a file is called by whoever has made it.
func TestErrorsArePrintable(t *testing.T) {
	out, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	stderr := os.Stderr
	os.Stderr = out
	complain(errors.New("e\x1b]0;P\x07\u009b\u202e can't be read:\nno"))
	os.Stderr = stderr
	text, err := os.ReadFile(out.Name())
	if want := "mpi-queues: e\uFFFD]0;P\uFFFD\uFFFD\uFFFD can't be read:\nno\n"; err != nil || string(text) != want {
		t.Errorf("%q, not %q (%v)", text, want, err)
	}
}

// exits is a command of the scripts: exits CODE PROGRAM ARGUMENTS...
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGUMENTS...")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit status %d, not %s", code, args[0])
	}
}
