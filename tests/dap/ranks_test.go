//go:build matrix

package dap

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// attachAll has an editor debug all ranks of a job.
func attachAll(t *testing.T, job *live.Job) *live.Editor {
	t.Helper()
	e := work.Edit(t)
	if failure := e.Begin("attach", arguments{"pid": job.Accounts[0].PID}); failure != "" {
		t.Fatal(failure)
	}
	e.Await("stopped")
	e.Says("mpi-attach")
	for range job.Accounts[1:] {
		e.Await("stopped")
	}
	return e
}

type thread struct {
	ID   int
	Name string
}

// mains are the first threads of the ranks, by their order in gdb's list.
func mains(t *testing.T, e *live.Editor) (found []thread) {
	t.Helper()
	for _, one := range body[struct{ Threads []thread }](t, e.Do("threads", nil)).Threads {
		if !strings.Contains(one.Name, "thread ") {
			found = append(found, one)
		}
	}
	return found
}

type selection struct{ ThreadID *int }

// inMain is what gdb says of the variable of a thread's frame that is in main.
func inMain(t *testing.T, e *live.Editor, id int, name string) string {
	t.Helper()
	frames := body[struct {
		StackFrames []struct {
			ID   int
			Name string
		}
	}](t, e.Do("stackTrace", arguments{"threadId": id})).StackFrames
	for _, frame := range frames {
		if frame.Name == "main" {
			return body[struct{ Result string }](t, e.Do("evaluate", arguments{"expression": name, "frameId": frame.ID, "context": "watch"})).Result
		}
	}
	t.Fatalf("thread %d has no frame of main: %v", id, frames)
	return ""
}

// All ranks are in gdb's list of threads, and each has its own stack.
func TestThreadsOfAllRanks(t *testing.T) {
	t.Parallel()
	record(t)
	job := work.Start(t, "queues", 3, nil)
	e := attachAll(t, job)
	found := mains(t, e)
	if len(found) != 3 {
		t.Fatalf("the ranks' first threads are %v", found)
	}
	// Those of other ranks come between, so that a number is never taken for the selected one's.
	for _, rank := range []int{2, 0, 1, 0, 2} {
		if name := fmt.Sprintf("rank %d · ", rank); !strings.HasPrefix(found[rank].Name, name) {
			t.Errorf("the thread of rank %d is called %q", rank, found[rank].Name)
		}
		if got := inMain(t, e, found[rank].ID, "rank"); got != fmt.Sprint(rank) {
			t.Errorf("in the stack of rank %d the variable rank is %s", rank, got)
		}
	}
	e.Fails("stackTrace", arguments{"threadId": 999}, "There is no thread 999.")
}

// A rank is selected by request, and by what is typed.
func TestSelect(t *testing.T) {
	t.Parallel()
	record(t)
	job := work.Start(t, "queues", 3, nil)
	e := attachAll(t, job)
	found := mains(t, e)
	is := func(text json.RawMessage, want *int) {
		t.Helper()
		got := body[selection](t, text).ThreadID
		if (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("%s has another thread than %v", text, want)
		}
	}
	is(e.Do("mpiSelect", arguments{"rank": 2}), &found[2].ID)
	is(e.Do("mpiSelect", nil), &found[2].ID)
	is(e.Do("mpiSelect", arguments{"inferior": 1}), &found[0].ID)
	e.Fails("mpiSelect", arguments{"rank": 3}, "Unknown rank 3.")
	e.Fails("mpiSelect", arguments{"inferior": 9}, "There is no inferior 9")

	typed := func(command string) json.RawMessage {
		e.Do("mpiExecute", arguments{"expression": command, "number": 7})
		return e.Await("mpiExecuted")
	}
	is(typed("mpi-rank 1"), &found[1].ID)
	is(typed("print 1 + 1"), nil)
	for command, want := range map[string]string{
		"print 1 + 1": `"result": "$`, "mpi-rank": "[Current rank is 1 ", "nonsense": `"message": "Undefined command`, "mpi-rank 3": "Unknown rank 3.",
	} {
		if text := string(typed(command)); !strings.Contains(text, want) || !strings.Contains(text, `"number": 7`) {
			t.Errorf("what %s comes to is %s, which lacks %s", command, text, want)
		}
	}
}

// The ranks go on together, and can be stopped while they do.
func TestResume(t *testing.T) {
	t.Parallel()
	record(t)
	job := work.Start(t, "queues", 3, nil)
	e := attachAll(t, job)
	found := mains(t, e)
	pause := func() {
		t.Helper()
		for _, account := range job.Accounts {
			runs(t, account.PID)
		}
		e.Fails("mpiQueues", nil, "notStopped")
		e.Do("pause", arguments{"threadId": found[0].ID})
		e.Await("stopped")
	}
	e.Do("mpiResume", arguments{"threadId": found[1].ID})
	pause()
	e.Do("mpiExecute", arguments{"expression": "mpi-continue", "number": 1})
	pause()
	e.Await("mpiExecuted")

	e.Do("mpiResume", arguments{"threadId": 999})
	why := body[struct{ Reason string }](t, e.Await("stopped")).Reason
	if why != "error" {
		t.Errorf("where there is no such thread, the stop has the reason %q", why)
	}
}
