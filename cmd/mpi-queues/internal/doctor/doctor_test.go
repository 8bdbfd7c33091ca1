package doctor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/gdbrun"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/jobs"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/launch"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// asked is a gdb that answers each process with one error.
type asked struct {
	jobs.GDB
	err error
}

func (a asked) ReadInTurn(_ context.Context, _ read.Filter, _ int, t gdbrun.Turn) error {
	for {
		if _, ok := t.Next(); !ok {
			return nil
		}
		t.Done(nil, a.err)
	}
}

func TestAttach(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		want State
		text string
	}{
		{"a process without MPI", read.Unreadable("", "no MPI library"), Works, "gdb may attach"},
		{"not allowed", &gdbrun.AttachError{Reason: "ptrace: Operation not permitted."}, Fails, "Operation not permitted"},
		{"a gdb that ends", errors.New("gdb did nothing"), Fails, "gdb did nothing"},
		{"nothing said", nil, Fails, "could not read"},
	} {
		if got := Attach(t.Context(), asked{err: c.err}); got.State != c.want || !strings.Contains(got.Text, c.text) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// patience is a second for a gdb that hangs, and else long enough for any machine.
func patience(want string) time.Duration {
	if strings.HasPrefix(want, "did not") {
		return time.Second
	}
	return 10 * time.Minute
}

func TestGDB(t *testing.T) {
	script := func(text string) string {
		path := filepath.Join(t.TempDir(), "gdb")
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct {
		path string
		want State
		text string
	}{
		{script("echo warning >&2; echo warning; echo mpi-queues: gdb 12.1 with Python 3.10.1; echo more"), Works, "is gdb 12.1 with Python 3.10.1"},
		{script("echo mpi-queues: gdb 12.1 with Python 3.10.1; exit 1"), Fails, "no Python"},
		{script("echo Python scripting is not supported in this copy of GDB. >&2; exit 1"), Fails, "has no Python, or is no gdb (Python scripting is not supported"},
		{script("exit 1"), Fails, "can't be run (exit status 1)"},
		{script(""), Fails, "said nothing"},
		{script("yes gdb | tr -d '\\n' | head -c 1000000"), Fails, strings.Repeat("gdb", 10)},
		{script("sleep 1000"), Fails, "did not say its version within 1s"},
		{"/nonexistent/gdb", Fails, "no such file"},
	} {
		if got := GDB(t.Context(), c.path, patience(c.text)); got.State != c.want || !strings.Contains(got.Text, c.text) || len(got.Text) > 5000 {
			t.Errorf("%s: %+v", c.path, got)
		}
	}
}

func TestDescribe(t *testing.T) {
	p := &mqs.Process{PID: 42, Image: "/home/u/ring", GlobalRank: mqs.Known[int32](3), MPI: "MPICH", MPIVersion: "4.0.2", Library: "/lib/libmpich.so.12",
		Transport: "ch4 over UCX", Source: "native", Layout: "table", LayoutName: "MPICH 4.0.2", Notes: []string{"what is sent to itself is unknown"},
		Communicators: []*mqs.Queues{
			{Communicator: mqs.Communicator{Name: mqs.Known("A")}, Queue: [3]*mqs.Queue{{Unavailable: "a list ends nowhere"}, {}, nil}},
		}}
	check(t, describe(p), `
ok  process    rank 3, process 42 (ring)
ok  MPI        MPICH 4.0.2, /lib/libmpich.so.12
ok  queues     read by the embedded table of MPICH 4.0.2, checked against this process
ok  transport  ch4 over UCX, which does not count messages, so a report needs two samples to rule out messages in transit
!   unknown    what is sent to itself is unknown
!   unknown    the pending sends of A: a list ends nowhere
`)
	for k := range 10 {
		p.Notes = append(p.Notes, strings.Repeat("x", k+1))
	}
	if got := describe(p); len(got) != 4+8+1 || !strings.Contains(got[12].Text, "and 4 more: `mpi-queues dump 42'") {
		t.Errorf("many notes: %+v", got)
	}
	check(t, describe(&mqs.Process{PID: 42, Unavailable: "no table fits\nas far as known"}), `
no  queues     process 42: no table fits
               as far as known
`)
	check(t, describe(&mqs.Process{PID: 42, MPI: "Open MPI", Source: "native", Layout: "dwarf", Transport: "pml ob1",
		Communicators: []*mqs.Queues{{Traffic: []mqs.Traffic{}}}}), `
ok  process    process 42
ok  MPI        Open MPI
ok  queues     read by the library's debug information
ok  transport  pml ob1, which counts messages, so a report can prove that none is in transit
`)
}

func check(t *testing.T, findings []Finding, want string) {
	t.Helper()
	var b strings.Builder
	if err := Write(&b, findings...); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != strings.TrimPrefix(want, "\n") {
		t.Errorf("got:\n%swant:%s", got, want)
	}
}

// TestJobOfNobody checks that a process outside any job is a failure, and that there is nothing to read of a process that does not exist.
func TestJobOfNobody(t *testing.T) {
	findings, rank := Job(new(launch.Finder), os.Getppid())
	if !HasFailed(findings) || !strings.Contains(findings[0].Text, "neither the launcher of an MPI job nor one of its ranks") {
		t.Errorf("%+v, process %d", findings, rank)
	}
	if findings, rank := Job(new(launch.Finder), 1<<30); !HasFailed(findings) || rank != 0 {
		t.Errorf("%+v, process %d", findings, rank)
	}
}
