//go:build live || matrix || full

package oracle

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// looks is how often a process is looked at that may not have come to the call that it is to
// be in, or have seen the messages to it: it has run in between.
const looks = 8

// debugger is one gdb for all the seeds of a job.
type debugger struct {
	t       *testing.T
	session *live.Session
	job     *live.Job
	folder  string
}

func newDebugger(t *testing.T, w *live.Workspace, job *live.Job) *debugger {
	t.Helper()
	d := &debugger{t, w.Sit(t, live.Nothing()), job, t.TempDir()}
	d.session.Do("set pagination off")
	return d
}

// snapshot is where the snapshot of a process goes.
func (d *debugger) snapshot(account *expect.Account, reader string) string {
	return filepath.Join(d.folder, account.Name+"-"+reader+".json")
}

// read has the process read that gdb is at, which is the account's.
func (d *debugger) read(account *expect.Account, reader string) expect.Object {
	d.t.Helper()
	path := d.snapshot(account, reader)
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		d.t.Fatal(err)
	}
	d.session.Do("set mpi-queues source " + reader)
	said := d.session.Do("mpi-queues -internal -json -output " + path)
	text, err := os.ReadFile(path)
	if err != nil {
		d.t.Fatalf("%v; gdb says:\n%s", err, said)
	}
	document, err := expect.ParseDocument(text)
	if err != nil || len(document.Processes) != 1 {
		d.t.Fatalf("%v: %.400s", err, text)
	}
	return document.Processes[0]
}

// process reads a process of a job in all ways, and returns what is not as it must be: lines
// of a kind of failure and, behind a tab, what it is.
func (r *run) process(d *debugger, account *expect.Account, core bool) []string {
	d.t.Helper()
	dump := filepath.Join(d.folder, "core")
	var bad []string
	for look := 1; ; look++ {
		judged := map[string][]Event{}
		d.session.Do(fmt.Sprintf("attach %d", account.PID))
		for _, reader := range r.readers() {
			judged[reader] = Events(account, d.read(account, reader))
		}
		if len(account.Calls) > 0 && look < looks && !r.settled(judged["native"]) {
			before := live.CPU(account.PID)
			d.session.Do("detach")
			live.Until(d.t, "for a rank to run", func() bool { return live.CPU(account.PID) != before })
			continue
		}
		for _, reader := range r.readers() {
			bad = append(bad, r.judge(account, reader, "live", judged[reader])...)
		}
		break
	}
	if core {
		d.session.Do("generate-core-file " + dump)
	}
	d.session.Do("detach")
	if core {
		d.session.Do("file " + d.job.Program)
		d.session.Do("core-file " + dump)
		for _, reader := range r.readers() {
			bad = append(bad, r.judge(account, reader, "core", Events(account, d.read(account, reader)))...)
		}
		d.session.Do("core-file")
		d.session.Do("file")
		if err := os.Remove(dump); err != nil && !errors.Is(err, os.ErrNotExist) {
			d.t.Fatal(err)
		}
	}
	return bad
}

// verdict judges what a report says of the snapshots of a job's processes.
func (r *run) verdict(d *debugger) []string {
	d.t.Helper()
	args := []string{"report", "--json"}
	for _, account := range d.job.Accounts {
		args = append(args, d.snapshot(account, "native"))
	}
	text, said, err := r.w.Try(d.t, args...)
	if err != nil {
		d.t.Fatalf("%v\n%s", err, said)
	}
	report, err := expect.ParseReport(text)
	if err != nil {
		d.t.Fatal(err)
	}
	return r.judge(&expect.Account{Name: "the job"}, "native", "verdict", []Event{Verdict(d.job.Accounts, report)})
}

// settled says whether a process has come to where it is to be: that a value is not known
// does not speak against it. It counts nothing.
func (r *run) settled(events []Event) bool {
	table := r.tables["native"].Of(r.build.name, "native")
	return !slices.ContainsFunc(events, func(e Event) bool {
		return (e.Kind != Unknown || e.Field == "call") && !table.Allows(e)
	})
}

// judge counts events and returns those that the table does not allow.
func (r *run) judge(account *expect.Account, reader, way string, events []Event) []string {
	name := reader + ", " + way
	if r.scores[name] == nil {
		r.scores[name] = Score{}
	}
	var bad []string
	for _, e := range events {
		r.scores[name][e.Kind]++
		if !r.tables[reader].Allows(e) {
			bad = append(bad, fmt.Sprintf("%s, %s %s %s\t%s: %v", name, e.Kind, e.Queue, e.Field, account.Name, e))
		}
	}
	return bad
}
