package gdbrun

import (
	"errors"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/tracee"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// list is a turn that keeps what it is told.
type list struct {
	of   []tracee.State
	next int
	said []string
}

// listing is a turn of processes of which nothing but their ids is known.
func listing(pids ...int) *list {
	l := &list{}
	for _, pid := range pids {
		l.of = append(l.of, tracee.State{PID: pid})
	}
	return l
}

func (l *list) Next() (tracee.State, bool) {
	if l.next == len(l.of) {
		return tracee.State{}, false
	}
	l.next++
	return l.of[l.next-1], true
}

func (l *list) Done(s *mqs.Snapshot, err error) {
	text := ""
	var late *TimeoutError
	switch {
	case errors.As(err, &late):
		text = "late"
	case err != nil:
		text = err.Error()
	default:
		text = s.Processes[0].Unavailable
	}
	l.said = append(l.said, text)
}

// One gdb reads all that it can. One that it ends at, or stands still at, costs the others nothing.
func TestReadInTurn(t *testing.T) {
	l := listing(7, refusing, 8, deadlyAhead, 9, deadly, 9, silent, 10, endless, 11)
	// The time is what a gdb may take that stands still.
	if err := fake(t, "in turn", 3*time.Second).ReadInTurn(t.Context(), read.Filter{}, len(l.of), l); err != nil {
		t.Fatal(err)
	}
	const died = "did nothing (signal: killed)"
	gdbs, got := []string{}, []string{}
	for _, said := range l.said {
		if by := regexp.MustCompile("^read by .*").FindString(said); by != "" {
			if !slices.Contains(gdbs, by) {
				gdbs = append(gdbs, by)
			}
			said = []string{"first", "second", "third", "fourth"}[slices.Index(gdbs, by)]
		}
		if len(said) > len(died) && said[len(said)-len(died):] == died {
			said = died
		}
		got = append(got, said)
	}
	// The gdbs of which nothing was read are those that the deadly processes had alone.
	want := []string{"first", "ptrace: Operation not permitted.", "first", "second", "second", died, "third", "gdb has said nothing of it", "third", "late", "fourth"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A gdb that ends before it asks for a process is tried for each.
func TestReadInTurnByNone(t *testing.T) {
	l := listing(7, 8)
	if err := fake(t, "never asks", time.Minute).ReadInTurn(t.Context(), read.Filter{}, 2, l); err != nil || len(l.said) != 2 {
		t.Errorf("%v, %q", err, l.said)
	}
	var useless *UselessError
	if err := fake(t, "no such scene", time.Minute).ReadInTurn(t.Context(), read.Filter{}, 2, listing(7)); !errors.As(err, &useless) {
		t.Error(err)
	}
}

// stopped is the environment variable with the process that a gdb leaves stopped.
const stopped = "MPI_QUEUES_TEST_STOPPED"

// The first process runs on, also if gdb has stopped it and has not asked for it.
func TestReadInTurnLetsRun(t *testing.T) {
	cmd := exec.Command("sleep", "3600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	t.Setenv(stopped, strconv.Itoa(cmd.Process.Pid))
	before, err := tracee.Read(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := fake(t, "stops one", time.Minute).ReadInTurn(t.Context(), read.Filter{}, 1, &list{of: []tracee.State{before}}); err != nil {
		t.Fatal(err)
	}
	if now, err := tracee.Read(cmd.Process.Pid); err != nil || now.State == 'T' {
		t.Errorf("its state is %c (%v)", now.State, err)
	}
}
