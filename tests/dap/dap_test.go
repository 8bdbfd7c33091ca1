//go:build matrix

package dap

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
	"github.com/mpi-queues/mpi-queues/tests/internal/result"
)

type arguments map[string]any

// written is what a command of gdb's writes with -output, in the stop that gdb is in.
func written(t *testing.T, e *live.Editor, command string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "output")
	if said := e.Says(command + " -output " + path); said != "" {
		t.Errorf("%s -output says %q", command, said)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// equal fails the test where a body is not what a command writes.
func equal(t *testing.T, what string, body, document []byte) {
	t.Helper()
	var got, want any
	if err := json.Unmarshal(body, &got); err != nil {
		t.Fatalf("%s: %v in %.500q", what, err, body)
	}
	if err := json.Unmarshal(document, &want); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: the body is\n%.3000s\nand the command writes\n%.3000s", what, body, document)
	}
}

// same fails the test where requests and what is typed differ from the commands.
func same(t *testing.T, e *live.Editor) {
	t.Helper()
	equal(t, "mpiQueues", e.Do("mpiQueues", nil), written(t, e, "mpi-queues -json"))
	equal(t, "mpiDeadlock", e.Do("mpiDeadlock", arguments{"scope": "all"}), written(t, e, "mpi-deadlock -all -json"))
	if got, want := body[struct{ SVG string }](t, e.Do("mpiPicture", nil)).SVG, string(written(t, e, "mpi-deadlock -svg")); got != want || !strings.HasPrefix(got, "<svg ") {
		t.Errorf("mpiPicture: the body is\n%.3000s\nand the command writes\n%.3000s", got, want)
	}
	equal(t, "mpiRanks", e.Do("mpiRanks", nil), written(t, e, "mpi-ranks -json"))
	equal(t, "mpiPrint", e.Do("mpiPrint", arguments{"expression": "1 + 1"}), written(t, e, "mpi-print 1 + 1 -json"))
	equal(t, "mpiStacks", e.Do("mpiStacks", arguments{"threads": true}), written(t, e, "mpi-stacks -json -threads"))
	e.Fails("mpiStacks", arguments{"ranks": "3-"}, "Invalid rank: 3-")
	for _, command := range []string{"mpi-queues", "mpi-queues -json", "mpi-queues -limit unlimited", "mpi-deadlock"} {
		if got, want := e.Says(command), string(written(t, e, command)); got != want {
			t.Errorf("the debug console shows of %s\n%.3000s\nand a file\n%.3000s", command, got, want)
		}
	}
}

// record writes down for the matrix that an editor has what the command shows.
func record(t *testing.T) {
	t.Helper()
	work.Record(t, result.Result{MPI: work.MPI.Release(t), Layout: "embedded table", Check: "DAP", Outcome: "same as in gdb"})
}

// receives counts the pending receives of a document's one process.
func receives(t *testing.T, document []byte) (count int) {
	t.Helper()
	d, err := expect.ParseDocument(document)
	if err != nil || len(d.Processes) != 1 {
		t.Fatalf("%v in %.500s", err, document)
	}
	for _, c := range expect.Communicators(d.Processes[0]) {
		operations, _ := expect.Operations(c, "pending_receives")
		count += len(operations)
	}
	return count
}

// agrees fails the test where a document's one process differs from the account.
func agrees(t *testing.T, document []byte, account *expect.Account) {
	t.Helper()
	d, err := expect.ParseDocument(document)
	if err != nil || len(d.Processes) != 1 {
		t.Fatalf("%v in %.500s", err, document)
	}
	live.Report(t, expect.Compare(account, d.Processes[0]))
}

// runs waits until a process is not stopped any more. gdb answers the request to
// continue before it does so, and up to gdb 16 it would not answer one that comes
// in between until the next stop.
func runs(t *testing.T, pid int) {
	t.Helper()
	live.Until(t, "for the process to run", func() bool {
		state := live.State(pid)
		return state != 0 && state != 't'
	})
}

// A program that the editor starts, with events after each stop while they are wanted.
func TestLaunch(t *testing.T) {
	t.Parallel()
	record(t)
	e := work.Edit(t)
	const nothing = "The program is not being run"
	e.Refuses("mpi-queues", nothing)
	e.Fails("mpiQueues", nil, nothing)
	e.Fails("mpiDeadlock", arguments{"scope": "all"}, nothing)
	e.Fails("mpiPicture", nil, nothing)
	e.Fails("mpiRanks", nil, nothing)
	e.Fails("mpiPrint", arguments{"expression": "1"}, nothing)

	e.Do("mpiQueuesEvents", arguments{"options": arguments{"internal": true}})
	e.Do("setFunctionBreakpoints", arguments{"breakpoints": []arguments{{"name": "main"}, {"name": "look"}}})
	number := e.Send("launch", arguments{"program": work.Program(t, "tests/dap/testdata/singleton.c")})
	e.Do("configurationDone", nil)

	// In main MPI has not begun: that is said once, and by all ways.
	e.Await("stopped")
	var reason struct{ Message string }
	if err := json.Unmarshal(e.Await("mpiQueues"), &reason); err != nil || !strings.Contains(reason.Message, "MPI") {
		t.Errorf("the event of a process without MPI has the message %q (%v)", reason.Message, err)
	}
	if _, failure := e.Answer(number); failure != "" {
		t.Fatalf("launch fails: %s", failure)
	}
	e.Fails("mpiQueues", nil, reason.Message)
	e.Refuses("mpi-queues", reason.Message)

	e.Do("continue", arguments{"threadId": 1})
	e.Await("stopped")
	body := e.Await("mpiQueues")
	equal(t, "the event", body, written(t, e, "mpi-queues -json -internal"))
	if n := receives(t, body); n != 1 {
		t.Errorf("the first stop has %d receives, want 1", n)
	}
	same(t, e)

	e.Do("mpiQueuesEvents", arguments{"enabled": false})
	e.Do("continue", arguments{"threadId": 1})
	e.Await("stopped")
	if n := receives(t, e.Do("mpiQueues", nil)); n != 2 {
		t.Errorf("the second stop has %d receives, want 2", n)
	}
	if e.Has("mpiQueues") {
		t.Error("there is an event, and none was wanted")
	}
	e.Do("continue", arguments{"threadId": 1})
	e.Await("exited")
}

// A rank of a job, whose account its document agrees with, and what goes wrong.
func TestAttach(t *testing.T) {
	t.Parallel()
	record(t)
	job := work.Start(t, "queues", 3, nil)
	account := job.Accounts[0]
	e := work.Edit(t)
	if failure := e.Begin("attach", arguments{"program": job.Program, "pid": account.PID}); failure != "" {
		t.Fatal(failure)
	}
	e.Await("stopped")
	same(t, e)
	agrees(t, e.Do("mpiQueues", nil), account)
	for _, c := range []struct {
		options arguments
		command string
	}{
		{arguments{"comm": "ocean model"}, `-comm "ocean model"`},
		{arguments{"queue": "sends", "internal": false}, "-queue sends"},
		{arguments{"limit": 1}, "-limit 1"},
		{arguments{"limit": "unlimited", "internal": true}, "-limit unlimited -internal"},
	} {
		body := e.Do("mpiQueues", arguments{"scope": "inferior", "options": c.options, "unknown": 1})
		equal(t, c.command, body, written(t, e, "mpi-queues -json "+c.command))
	}

	e.Refuses("mpi-queues -comm", "-comm requires an argument")
	e.Refuses("mpi-queues -output /", "can't be written")
	for _, c := range []struct {
		given arguments
		text  string
	}{
		{arguments{"scope": "job"}, `scope is "job", and must be "inferior" or "all".`},
		{arguments{"scope": 1}, "scope"},
		{arguments{"options": "-all"}, "options"},
		{arguments{"options": arguments{"record": "file"}}, "There is no option record: the options are comm, queue, internal, limit."},
		{arguments{"options": arguments{"comm": 0}}, "options.comm is 0, and must be a string."},
		{arguments{"options": arguments{"queue": "send"}}, `options.queue is "send", and must be one of "sends", "receives", "unexpected".`},
		{arguments{"options": arguments{"internal": 1}}, "options.internal is 1, and must be true or false."},
		{arguments{"options": arguments{"limit": -1}}, "options.limit is -1, and must be a number from 0"},
		{arguments{"options": arguments{"limit": true}}, "options.limit is true, and must be a number from 0"},
	} {
		e.Fails("mpiQueues", c.given, c.text)
		e.Fails("mpiQueuesEvents", c.given, c.text)
	}
	e.Fails("mpiQueues", arguments{"options": arguments{"comm": "nowhere"}}, "nowhere")

	// What is wanted can be said while the process runs; it can't be read then.
	e.Do("continue", arguments{"threadId": 1})
	runs(t, account.PID)
	e.Fails("mpiQueues", nil, "notStopped")
	e.Fails("mpiDeadlock", nil, "notStopped")
	e.Do("mpiQueuesEvents", arguments{"options": arguments{"queue": "receives"}})
	e.Do("pause", arguments{"threadId": 1})
	e.Await("stopped")
	equal(t, "the event", e.Await("mpiQueues"), written(t, e, "mpi-queues -json -queue receives"))
}

// All ranks of a job in one session.
func TestAttachAll(t *testing.T) {
	t.Parallel()
	record(t)
	job := work.Start(t, "queues", 3, nil)
	e := work.Edit(t)
	if failure := e.Begin("attach", arguments{"pid": job.Accounts[1].PID}); failure != "" {
		t.Fatal(failure)
	}
	e.Await("stopped")
	e.Do("mpiQueuesEvents", arguments{"scope": "all"})
	if said := e.Says("mpi-attach"); !strings.Contains(said, "Attached 2 ranks") {
		t.Errorf("mpi-attach says %q", said)
	}
	body := e.Await("mpiQueues")
	equal(t, "the event", body, written(t, e, "mpi-queues -all -json"))
	equal(t, "mpiQueues", e.Do("mpiQueues", arguments{"scope": "all"}), body)
	d, err := expect.ParseDocument(body)
	if err != nil || len(d.Processes) != 3 {
		t.Fatalf("%v in %.500s", err, body)
	}
	same(t, e)
	if e.Has("mpiQueues") {
		t.Error("mpi-attach made several events")
	}
}

// A long answer comes as a whole.
func TestLong(t *testing.T) {
	t.Parallel()
	record(t)
	const long = 20_000
	job := work.Start(t, "many", 2, nil, strconv.Itoa(long))
	e := work.Edit(t)
	if failure := e.Begin("attach", arguments{"pid": job.Accounts[0].PID}); failure != "" {
		t.Fatal(failure)
	}
	e.Await("stopped")
	for _, command := range []string{"mpi-queues -limit unlimited", "mpi-queues -json"} {
		got, want := e.Says(command), written(t, e, command)
		if got != string(want) || bytes.Count(want, []byte("\n")) < long {
			t.Errorf("the debug console shows %d bytes of %s, and a file has %d", len(got), command, len(want))
		}
	}
}

// A request that is given up, at any time from its start to its end, leaves the next one as good as ever. gdb's own
// way of giving up locks gdb where it comes while memory is read: see interrupts.interrupt.
func TestGivenUp(t *testing.T) {
	t.Parallel()
	record(t)
	const many, times = 2000, 100
	job := work.Start(t, "many", 2, nil, strconv.Itoa(many))
	e := work.Edit(t)
	if failure := e.Begin("attach", arguments{"pid": job.Accounts[0].PID}); failure != "" {
		t.Fatal(failure)
	}
	e.Await("stopped")
	e.Do("mpiQueues", nil)
	begin := time.Now()
	e.Do("mpiQueues", nil)
	whole := time.Since(begin)
	for i := range times {
		number := e.Send("mpiQueues", nil)
		time.Sleep(whole * time.Duration(i) / times)
		e.Do("cancel", arguments{"requestId": number})
		if _, failure := e.Answer(number); failure != "" && failure != "cancelled" {
			t.Errorf("given up, mpiQueues fails with %q", failure)
		}
		if n := receives(t, e.Do("mpiQueues", nil)); n != many {
			t.Errorf("mpiQueues has %d receives, want %d", n, many)
		}
	}
}

// TestLostRequest checks that a request whose Python frames gdb has dropped does not lock the requests after it: an
// editor's gdb has no prompt before which that could be mended.
func TestLostRequest(t *testing.T) {
	record(t)
	job := work.Start(t, "queues", 3, nil)
	e := work.Edit(t)
	if failure := e.Begin("attach", arguments{"pid": job.Accounts[0].PID}); failure != "" {
		t.Fatal(failure)
	}
	e.Await("stopped")
	agrees(t, e.Do("mpiQueues", nil), job.Accounts[0])
	e.Says("python from mpi_queues.link import LINK; LINK._is_busy = True")
	agrees(t, e.Do("mpiQueues", nil), job.Accounts[0])
}

// A core file, by the request that any gdb has, and by gdb's own, which gdb 16 lacks.
func TestCore(t *testing.T) {
	t.Parallel()
	record(t)
	job := work.Start(t, "queues", 3, nil)
	account := job.Accounts[0]
	core := filepath.Join(t.TempDir(), "core")
	work.GDB(t, live.Process(account.PID), "generate-core-file "+core)
	odd := filepath.Join(t.TempDir(), `a "core" of rank 0`)
	if err := os.Link(core, odd); err != nil {
		t.Fatal(err)
	}

	e := work.Edit(t)
	e.Fails("mpiCore", arguments{"coreFile": odd + "x"}, "No such file")
	e.Do("mpiQueuesEvents", nil)
	thread := body[selection](t, e.Do("mpiCore", arguments{"program": job.Program, "coreFile": odd})).ThreadID
	if thread == nil {
		t.Fatal("the core file has no thread")
	}
	if found := mains(t, e); len(found) != 1 || found[0].ID != *thread || !strings.HasPrefix(found[0].Name, "rank 0") {
		t.Errorf("the core file's first threads are %v", found)
	}
	same(t, e)
	agrees(t, e.Do("mpiQueues", nil), account)
	if got := inMain(t, e, *thread, "rank"); got != "0" {
		t.Errorf("the core file's variable rank is %s", got)
	}

	own := work.Edit(t)
	own.Do("mpiQueuesEvents", nil)
	failure := own.Begin("attach", arguments{"program": job.Program, "coreFile": core})
	if strings.Contains(failure, "requires either 'pid' or 'target'") {
		return
	}
	if failure != "" {
		t.Fatal(failure)
	}
	equal(t, "the event", own.Await("mpiQueues"), written(t, own, "mpi-queues -json"))
	same(t, own)
	agrees(t, own.Do("mpiQueues", nil), account)
}
