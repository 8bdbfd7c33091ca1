//go:build live || matrix || full

package live

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/result"
)

// Program is a program of tests/programs that writes an account of each of its processes, with arguments.
type Program struct {
	Name  string
	Ranks int
	Args  []string
}

func (p Program) String() string { return strings.Join(append([]string{p.Name}, p.Args...), " ") }

// Is reports whether the program, with its arguments, is one of those named: "queues", "blocked recv".
func (p Program) Is(names ...string) bool { return slices.Contains(names, p.String()) }

// Programs are all programs that a row may run.
var Programs = []Program{
	{"queues", 3, nil},
	{"requests", 2, nil},
	{"spawn", 2, nil},
	{"groups", 4, nil},
	{"sessions", 3, nil},
	{"blocked", 3, []string{"recv"}},
	{"blocked", 3, []string{"send"}},
	{"blocked", 3, []string{"ssend"}},
	{"blocked", 3, []string{"barrier"}},
	{"blocked", 3, []string{"waitall"}},
	{"lifecycle", 2, []string{"threads"}},
	{"many", 2, []string{"100"}},
	{"many", 2, []string{"100", "wild"}},
	{"many", 2, []string{"100", "specific"}},
}

// Row is one way in which messages travel, and what is read there: an MPI, how its launcher is made to use that way, and what
// must be shown of each process.
type Row struct {
	// Workspace has the MPI.
	*Workspace
	// Name is the name of a subtest around the row's programs. Without a name they are not grouped.
	Name string
	// Flags are the launcher's.
	Flags []string
	// Library decides how much of the accounts is kept.
	Library expect.Library
	// Result is written down for each way to read a process, which is its Check.
	Result result.Result
	// Shown are values of each process's document.
	Shown map[string]any
	// ByServer has processes read through gdbserver, too; OnlyLive has no core files read.
	ByServer, OnlyLive bool
	// CoreDiffers is true if a core file does not show all that the live process does.
	CoreDiffers bool
	// InNamespace is true if jobs are in a mount namespace of their own: gdb names the program of a live one "target:PATH".
	InNamespace bool
	// Runs chooses programs.
	Runs func(p Program) bool
	// Check, if it is not nil, looks further at what was read of a process.
	Check func(t *testing.T, r *RowReading)
}

// Only returns the row with those of its programs alone that are chosen.
func (r Row) Only(chosen func(p Program) bool) Row {
	runs := r.Runs
	r.Runs = func(p Program) bool { return runs(p) && chosen(p) }
	return r
}

// overTransport reports whether a program is one of those that rows run whose messages a network library carries.
func overTransport(p Program) bool {
	return p.Name != "spawn" && p.Name != "sessions" && p.Name != "lifecycle"
}

// RowReading is what was read of a process of a row's job in one way.
type RowReading struct {
	*Reading
	Program Program
	Job     *Job
	Account *expect.Account
	Process expect.Object
	// Live is what was read of the running process, nil if this is it.
	Live *RowReading
}

// EachProgram runs the row's programs, and holds each of their processes against its account, field by field, as far as the
// row's library keeps it, in each of the row's ways to read one.
func EachProgram(t *testing.T, r Row) {
	t.Helper()
	if r.Name != "" {
		t.Run(r.Name, func(t *testing.T) {
			t.Parallel()
			r.each(t)
		})
		return
	}
	r.each(t)
}

func (r Row) each(t *testing.T) {
	for _, p := range Programs {
		if !r.Runs(p) {
			continue
		}
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			job := r.Start(t, p.Name, p.Ranks, r.Flags, p.Args...)
			for _, account := range job.Accounts {
				t.Run(account.Name, func(t *testing.T) { r.readEveryWay(t, p, job, account) })
			}
		})
	}
}

func (r Row) ways(job *Job, account *expect.Account, core string) []Where {
	switch {
	case r.OnlyLive:
		return []Where{Process(account.PID)}
	case r.ByServer:
		return job.Ways(account, core, Remote(account.PID))
	}
	return job.Ways(account, core)
}

func (r Row) readEveryWay(t *testing.T, p Program, job *Job, account *expect.Account) {
	core := filepath.Join(t.TempDir(), "core")
	var first *RowReading
	for _, where := range r.ways(job, account, core) {
		t.Run(where.Name, func(t *testing.T) {
			shown := r.Result
			shown.Check = where.Name
			r.Record(t, shown)
			got := &RowReading{Program: p, Job: job, Account: account, Live: first}
			got.Reading = r.ReadOf(t, job, where, func(process expect.Object) []string {
				if settles(p.Name) {
					InOrderOfTags(process)
				}
				got.Process = process
				return r.Library.Fidelity().Compare(account, process)
			})
			r.check(t, got)
			if first == nil {
				first = got
			}
		})
	}
	_ = os.Remove(core)
}

// check looks at what a reading shows besides the account.
func (r Row) check(t *testing.T, got *RowReading) {
	t.Helper()
	image := got.Job.Program
	if r.InNamespace && got.Live == nil {
		image = "target:" + image
	}
	for key, want := range map[string]any{"mpi": r.Library.MPI, "source": "native", "image": image} {
		if got.Process[key] != want {
			t.Errorf("%s is %v, want %v", key, got.Process[key], want)
		}
	}
	for key, want := range r.Shown {
		if got.Process[key] != want {
			t.Errorf("%s is %v, want %v", key, got.Process[key], want)
		}
	}
	if r.Check != nil {
		r.Check(t, got)
	}
	if got.Live == nil || r.CoreDiffers {
		return
	}
	if text, alive := lasting(string(got.Text)), lasting(string(got.Live.Text)); text != alive {
		t.Errorf("the text differs from that of the live process:\n%s\nlive:\n%s", text, alive)
	}
}

// lasting leaves out the numbers of threads, which gdbserver gives in an order of its own, and what
// one does outside MPI, which changes between two reads.
func lasting(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "Thread "); ok {
			_, rest, _ = strings.Cut(rest, " ")
			line = "Thread " + rest
		}
		if where, _, outside := strings.Cut(line, ", outside MPI"); outside {
			line = where + ", outside MPI\n"
		}
		b.WriteString(line)
	}
	return b.String()
}

// InOrderOfTags sorts the receives of two threads, which are in no certain order.
func InOrderOfTags(process expect.Object) {
	for _, c := range expect.Communicators(process) {
		if ops, _ := c["pending_receives"].([]any); len(ops) == 2 {
			tag := func(i int) string { return fmt.Sprint(ops[i].(map[string]any)["desired_tag"]) }
			if tag(0) > tag(1) {
				ops[0], ops[1] = ops[1], ops[0]
			}
		}
	}
}
