package gdbrun

import (
	"errors"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/tracee"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// list is a turn that keeps what it is told.
type list struct {
	pids []int
	next int
	said []string
}

func (l *list) Next() (tracee.State, bool) {
	if l.next == len(l.pids) {
		return tracee.State{}, false
	}
	l.next++
	return tracee.State{PID: l.pids[l.next-1]}, true
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
	l := &list{pids: []int{7, refusing, 8, deadly, 9, silent, 10, endless, 11}}
	// The time is what a gdb may take that stands still.
	if err := fake(t, "in turn", 3*time.Second).ReadInTurn(t.Context(), read.Filter{}, len(l.pids), l); err != nil {
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
	// The second gdb, of which nothing was read, is that which the deadly process had alone.
	want := []string{"first", "ptrace: Operation not permitted.", "first", died, "second", "gdb has said nothing of it", "second", "late", "third"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A gdb that ends before it asks for a process is tried for each.
func TestReadInTurnByNone(t *testing.T) {
	l := &list{pids: []int{7, 8}}
	if err := fake(t, "never asks", time.Minute).ReadInTurn(t.Context(), read.Filter{}, 2, l); err != nil || len(l.said) != 2 {
		t.Errorf("%v, %q", err, l.said)
	}
	var useless *UselessError
	if err := fake(t, "no such scene", time.Minute).ReadInTurn(t.Context(), read.Filter{}, 2, &list{pids: []int{7}}); !errors.As(err, &useless) {
		t.Error(err)
	}
}
