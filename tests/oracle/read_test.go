//go:build live || matrix || full

package oracle

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// looks is how often a job is looked at of which a process may not have come to the call that it
// is to be in, or have seen the messages to it. In between it has run, each time for twice as many
// ticks: of two threads that spin, one may have the library's lock to itself for long.
const looks = 10

// enoughFailures is how many seeds of a build fail before one is looked at twice only: what is wrong
// with them is not that they have not come to it.
const enoughFailures = 3

// debugger is a gdb that stays attached to all processes of a job while it makes its seeds, and
// another one for core files.
type debugger struct {
	t           *testing.T
	live, cores *live.Session
	job         *live.Job
	folder      string
	attached    bool
}

func newDebugger(t *testing.T, w *live.Workspace, job *live.Job) *debugger {
	t.Helper()
	d := &debugger{t: t, live: w.StartSession(t, live.Nothing()), cores: w.StartSession(t, live.Nothing()), job: job, folder: t.TempDir()}
	for _, s := range []*live.Session{d.live, d.cores} {
		s.Do("set pagination off")
	}
	d.live.Do("set schedule-multiple on")
	d.live.Do("handle SIGSEGV SIGBUS SIGFPE SIGABRT SIGTERM nostop") // a crash of the job's is its own end
	return d
}

// stop stops the processes.
func (d *debugger) stop() {
	d.t.Helper()
	if !d.attached {
		for _, of := range worlds(d.job) {
			d.live.Says(fmt.Sprintf("mpi-attach %d", of[0].PID), fmt.Sprintf("Attached %d rank", len(of)))
		}
		d.attached = true
		return
	}
	d.live.Send("interrupt")
	d.live.Await("received signal SIGINT")
	d.isReady()
}

// worlds are the accounts of the processes of each MPI_COMM_WORLD.
func worlds(job *live.Job) [][]*expect.Account {
	var out [][]*expect.Account
	for _, prefix := range []string{"rank-", "child-"} {
		of := slices.DeleteFunc(slices.Clone(job.Accounts), func(a *expect.Account) bool { return !strings.HasPrefix(a.Name, prefix) })
		if len(of) > 0 {
			out = append(out, of)
		}
	}
	return out
}

// run lets them run on.
func (d *debugger) run() {
	d.t.Helper()
	d.live.Send("continue &")
	d.isReady()
}

// isReady waits for the last prompt: in the background, gdb prints more than one.
func (d *debugger) isReady() {
	d.t.Helper()
	d.live.Send(`echo is ready\n`)
	d.live.Await("\nis ready\r\n" + live.Prompt)
}

// leave lets go of them.
func (d *debugger) leave() {
	d.t.Helper()
	d.live.Says("mpi-detach", "Detached")
	d.attached = false
}

// snapshot is where what a reader shows goes.
func (d *debugger) snapshot(reader string) string { return filepath.Join(d.folder, reader+".json") }

// read returns what a reader shows of processes, by their process ids.
func (d *debugger) read(s *live.Session, reader, of string) map[string]expect.Object {
	d.t.Helper()
	path := d.snapshot(reader)
	if of == "" {
		path = d.snapshot("core")
	}
	_ = os.Remove(path)
	s.Do("set mpi-queues source " + reader)
	said := s.Do("mpi-queues " + of + " -internal -json -output " + path)
	text, err := os.ReadFile(path)
	if err != nil {
		d.t.Fatalf("%v; gdb says:\n%s", err, said)
	}
	document, err := expect.ParseDocument(text)
	if err != nil {
		d.t.Fatalf("%v: %.400s", err, text)
	}
	out := map[string]expect.Object{}
	for _, p := range document.Processes {
		out[show(p["pid"])] = p
	}
	return out
}

// look reads a stopped job, and returns what there is to say of each process by each reader.
func (r *run) look(d *debugger) map[string][][]Event {
	d.t.Helper()
	judged := map[string][][]Event{}
	for _, reader := range r.readers() {
		shown := d.read(d.live, reader, "-all")
		for _, account := range d.job.Accounts {
			process, ok := shown[fmt.Sprint(account.PID)]
			if !ok {
				d.t.Fatalf("process %d of the job is not shown", account.PID)
			}
			if name := process["layout_name"]; name != nil && reader == "native" && r.layout == "" {
				r.layout = show(name)
			}
			judged[reader] = append(judged[reader], Events(account, process))
		}
	}
	return judged
}

// processes stops a job, reads its processes, and returns what is not as it must be: lines
// of a kind of failure and, behind a tab, what it is.
func (r *run) processes(d *debugger) []string {
	d.t.Helper()
	var judged map[string][][]Event
	for look := 1; ; look++ {
		d.stop()
		judged = r.look(d)
		at := r.unsettled(judged["native"], d.job.Accounts)
		if at < 0 || look == looks || look == 2 && len(r.failed) >= enoughFailures {
			break
		}
		pid := d.job.Accounts[at].PID
		until := live.CPU(pid) + 1<<(look-1)
		d.run()
		live.Until(d.t, "for a rank to run", func() bool { return live.CPU(pid) >= until })
	}
	var bad []string
	for reader, processes := range judged {
		for i, account := range d.job.Accounts {
			bad = append(bad, r.judge(account, reader, "live", processes[i])...)
		}
	}
	return bad
}

// core reads a core file of one of a job's stopped processes.
func (r *run) core(d *debugger, number int) []string {
	d.t.Helper()
	dump, account := filepath.Join(d.folder, "core"), d.job.Accounts[number]
	d.live.Do(fmt.Sprintf("inferior %d", number+1))
	d.live.Says("generate-core-file "+dump, "Saved corefile")
	d.cores.Do("file " + d.job.Program)
	d.cores.Do("core-file " + dump)
	var bad []string
	for _, reader := range r.readers() {
		for _, process := range d.read(d.cores, reader, "") {
			bad = append(bad, r.judge(account, reader, "core", Events(account, process))...)
		}
	}
	d.cores.Do("core-file")
	d.cores.Do("file")
	if err := os.Remove(dump); err != nil {
		d.t.Fatal(err)
	}
	return bad
}

// verdicts judges what reports say of the snapshot of a job, of each MPI_COMM_WORLD by itself:
// of the other one nothing is known then.
func (r *run) verdicts(d *debugger) []string {
	d.t.Helper()
	var events []Event
	all := worlds(d.job)
	for _, of := range all {
		text, said, err := r.w.Try(d.t, "report", "--json", d.part(of))
		if err != nil {
			d.t.Fatalf("%v\n%s", err, said)
		}
		report, err := expect.ParseReport(text)
		if err != nil {
			d.t.Fatal(err)
		}
		e := Verdict(of, report)
		e.Want["part"] = len(all) > 1
		events = append(events, e)
	}
	return r.judge(&expect.Account{Name: "the job"}, "native", "verdict", events)
}

// part is where what the native reader shows of some of the processes goes.
func (d *debugger) part(of []*expect.Account) string {
	d.t.Helper()
	text, err := os.ReadFile(d.snapshot("native"))
	if err != nil {
		d.t.Fatal(err)
	}
	document, err := expect.ParseDocument(text)
	if err != nil {
		d.t.Fatal(err)
	}
	document.Processes = slices.DeleteFunc(document.Processes, func(p expect.Object) bool {
		return !slices.ContainsFunc(of, func(a *expect.Account) bool { return fmt.Sprint(a.PID) == show(p["pid"]) })
	})
	if text, err = json.Marshal(document); err != nil {
		d.t.Fatal(err)
	}
	path := d.snapshot("part")
	if err := os.WriteFile(path, text, 0o644); err != nil {
		d.t.Fatal(err)
	}
	return path
}

// unsettled is the first process that may not have come to the call where it is to be, or -1: that a
// value of an operation is not known does not speak for it. It counts nothing.
func (r *run) unsettled(judged [][]Event, accounts []*expect.Account) int {
	table := r.tables["native"].Of(r.key, "native")
	for i, events := range judged {
		if len(accounts[i].Calls) > 0 && slices.ContainsFunc(events, func(e Event) bool {
			return (e.Kind != Unknown || e.Comm == nil) && !table.Allows(e)
		}) {
			return i
		}
	}
	return -1
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
		kind := fmt.Sprintf("%s, %s %s %s", name, e.Kind, e.Queue, e.Field)
		switch isAllowed := r.tables[reader].Allows(e); {
		case r.build.isMeasured && e.Kind != Wrong && e.Kind != Extra:
			if e.Kind != Right {
				r.said[kind]++
			}
		case !isAllowed:
			bad = append(bad, fmt.Sprintf("%s\t%s: %v", kind, account.Name, e))
		}
	}
	return bad
}
