//go:build live

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/demo"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/tracee"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/document"
)

// patience is how long a condition may take to come true. It ends what hangs.
const patience = 10 * time.Minute

// built is this program as its users have it: the test's own binary can't be the helper.
var built = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "mpi-queues-test-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "mpi-queues")
	if out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	atExit(func() { _ = os.RemoveAll(folder) })
	return path, nil
})

// shell is one run of the program.
type shell struct {
	*exec.Cmd
	out, err bytes.Buffer
	// tmp is a folder of its own for what should not remain.
	tmp string
}

// command prepares a run of the program.
func command(t *testing.T, args ...string) *shell {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	s := &shell{Cmd: exec.Command(path, args...), tmp: t.TempDir()}
	s.Stdout, s.Stderr = &s.out, &s.err
	s.Env = append(os.Environ(), "NO_COLOR=1", "MPI_QUEUES_GDB=", "TMPDIR="+s.tmp)
	return s
}

// killed is the exit code of a program that was killed.
const killed = -1

// ends runs the program, which must exit with a code and leave no files.
func (s *shell) ends(t *testing.T, code int) {
	t.Helper()
	if s.Process == nil {
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
	}
	_ = s.Wait()
	if got := s.ProcessState.ExitCode(); got != code {
		t.Fatalf("%v: exit status %d, want %d\nstdout:\n%s\nstderr:\n%s", s.Args[1:], got, code, &s.out, &s.err)
	}
	left, err := os.ReadDir(s.tmp)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) > 0 && code != killed {
		t.Errorf("%v: %s is left behind", s.Args[1:], left[0].Name())
	}
}

// says fails the test where the text lacks a part.
func says(t *testing.T, text *bytes.Buffer, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !bytes.Contains(text.Bytes(), []byte(part)) {
			t.Errorf("%q is missing in:\n%s", part, text)
		}
	}
}

// until polls a condition until it is true.
func until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); !condition(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("waited %s in vain for %s", patience, what)
		}
	}
}

func parse(t *testing.T, text *bytes.Buffer) *mqs.Snapshot {
	t.Helper()
	s, err := document.Parse(text.Bytes())
	if err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	return s
}

// deadlock starts the demo's program and returns the processes of its ranks,
// which hang. Without gdb or Open MPI the test fails.
func deadlock(t *testing.T) *demo.Job {
	t.Helper()
	return deadlockOf(t, filepath.Join(t.TempDir(), "deadlock"))
}

// deadlockOf is deadlock, with the path of the program to make.
func deadlockOf(t *testing.T, program string) *demo.Job {
	t.Helper()
	ctx := context.Background()
	tools, noGDB, noMPI := demo.FindTools(ctx)
	if noGDB != nil || noMPI != nil {
		t.Fatal(noGDB, noMPI)
	}
	if err := tools.Compile(ctx, program, demo.Program); err != nil {
		t.Fatal(err)
	}
	j, err := tools.Start(ctx, program, demo.Ranks)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(j.Stop)
	until(t, "the deadlock", func() bool {
		s := command(t, slices.Concat([]string{"dump", "--json"}, arguments(j))...)
		s.ends(t, 0)
		return demo.Hangs(parse(t, &s.out))
	})
	return j
}

func arguments(j *demo.Job) []string {
	var args []string
	for _, pid := range j.PIDs {
		args = append(args, strconv.Itoa(pid))
	}
	return args
}

// runOn fails the test where a process is stopped or has a debugger.
func runOn(t *testing.T, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		p, err := tracee.Read(pid)
		if err != nil {
			t.Fatal(err)
		}
		if p.Tracer != 0 || p.State == 'T' || p.State == 't' || p.State == 'Z' {
			t.Errorf("process %d does not run on: state %c, tracer %d", pid, p.State, p.Tracer)
		}
	}
}
