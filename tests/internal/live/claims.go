//go:build live || matrix || full

package live

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
)

// judged is a job of which something must not be said, and what has been said of it.
type judged struct {
	*Job
	claim *expect.Claim
	work  *Workspace
	said  []string
}

// Stops is how a moving job is stopped: how often, and at which random moments. Of any
// job there are core files if Cores is set.
type Stops struct {
	Times int
	Seed  uint64
	Cores bool
}

// Judge looks at a job in every way, and fails the test where a verdict claims what is not
// so, or where a look has stopped a rank or let a stopped one go on. A job that ends by
// itself must do so, with 0, when it is told to.
func (w *Workspace) Judge(t *testing.T, c *expect.Claim, stops Stops) {
	t.Helper()
	j := &judged{Job: w.Start(t, c.Program, c.Ranks, nil, c.Name), claim: c, work: w}
	t.Cleanup(j.kill)
	if c.Moves {
		j.interrupt(t, stops)
	} else {
		j.settle(t)
		j.look(t, running, false)
		if c.Polls != "" {
			j.polls(t)
		}
		j.once(t)
		j.whole(t, stops.Cores)
	}
	if c.Ends() {
		j.finish(t)
	}
	t.Logf("%s %s: %s", c.Program, c.Name, strings.Join(j.said, ", "))
}

// JudgeWithout looks at a job that hangs and whose program has been removed, or has been
// built anew from another source.
func (w *Workspace) JudgeWithout(t *testing.T, rebuilt bool) {
	t.Helper()
	c := &expect.Claim{Program: "deadlock", Name: "recv-ring", Ranks: 3}
	other := w.Program(t, "tests/programs/moving.c")
	own, err := w.With(strings.ReplaceAll(t.Name(), "/", "-"), w.MPI)
	if err != nil {
		t.Fatal(err)
	}
	j := &judged{Job: own.Start(t, c.Program, c.Ranks, nil, c.Name), claim: c, work: w}
	t.Cleanup(j.kill)
	j.until(t, "the ranks to be deadlocked", func() bool {
		report, _, err := w.askReport(t, strconv.Itoa(j.Launcher()))
		return err == nil && report.Verdict == expect.Deadlock
	})
	if err := os.Remove(j.Program); err != nil {
		t.Fatal(err)
	}
	if rebuilt {
		text, err := os.ReadFile(other)
		if err == nil {
			err = os.WriteFile(j.Program, text, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	j.look(t, running, false)
	j.once(t)
	j.whole(t, false)
	t.Logf("%s", strings.Join(j.said, ", "))
}

// settle waits until the ranks are where they wait.
func (j *judged) settle(t testing.TB) {
	t.Helper()
	for _, rank := range j.claim.Waits {
		j.AwaitCall(t, rank)
		if rank == 0 && j.claim.Held {
			j.signal(t, syscall.SIGSTOP, j.Accounts[:1])
			j.touch(t, "go")
		}
	}
}

// inSleep is how many times in a row a rank is seen to sleep that sleeps in its call.
const inSleep = 50

// AwaitCall waits until a rank that has said that it will wait does so. It fails the test
// if the job ends.
func (j *Job) AwaitCall(t testing.TB, rank int) {
	t.Helper()
	said := filepath.Join(j.Folder, "waiting-"+strconv.Itoa(rank))
	j.until(t, fmt.Sprintf("rank %d to wait", rank), func() bool { return Exists(said) })
	j.awaitTicks(t, j.Accounts[rank].PID)
}

// awaitTicks waits until a rank has looked for messages for some time, or sleeps for longer than
// a file makes it wait.
func (j *Job) awaitTicks(t testing.TB, pid int) {
	t.Helper()
	from, slept := CPU(pid), 0
	j.until(t, "a rank to look for messages", func() bool {
		slept++
		if !asleep(pid) {
			slept = 0
		}
		return CPU(pid) >= from+inCall || slept >= inSleep
	})
}

// until waits for a condition that the job brings about before it ends.
func (j *Job) until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	Until(t, what, func() bool { return j.hasEnded() || ok() })
	if j.hasEnded() {
		text, _ := os.ReadFile(j.output)
		t.Fatalf("waiting for %s: the job has ended; its output:\n%s", what, text)
	}
}

// asleep says whether no thread of a process has anything to run.
func asleep(pid int) bool {
	threads := procfs.Host.Threads(pid)
	for _, id := range threads {
		if State(id) != 'S' {
			return false
		}
	}
	return len(threads) > 0
}

// interrupt stops a job that moves again and again.
func (j *judged) interrupt(t testing.TB, stops Stops) {
	t.Helper()
	random := rand.New(rand.NewPCG(stops.Seed, 0))
	j.look(t, running, true)
	for i := range stops.Times {
		time.Sleep(time.Duration(random.IntN(int(20 * time.Millisecond))))
		j.whole(t, stops.Cores && i == 0)
		j.signal(t, syscall.SIGCONT, j.Accounts)
	}
}

// whole looks at the job while all of its ranks are stopped.
func (j *judged) whole(t testing.TB, cores bool) {
	t.Helper()
	j.signal(t, syscall.SIGSTOP, j.Accounts)
	j.look(t, "stopped", false)
	if cores {
		j.ask(t, "cores", false, j.coreSnapshots(t, j.work)...)
	}
}

// running is the way of a look in the messages of a test: nothing but the look stops the job.
const running = "running"

// look asks for a report on the running job, or on the stopped one.
func (j *judged) look(t testing.TB, way string, seenToMove bool) {
	t.Helper()
	j.unchanged(t, func() { j.ask(t, way, seenToMove, strconv.Itoa(j.Launcher())) })
}

// once asks for a report on a snapshot of the running job.
func (j *judged) once(t testing.TB) {
	t.Helper()
	snapshot := filepath.Join(t.TempDir(), "snapshot.json")
	j.unchanged(t, func() {
		j.work.Shell(t, "dump", "--json", "--internal", "--output", snapshot, strconv.Itoa(j.Launcher()))
	})
	j.ask(t, "one look", false, snapshot)
}

// ask holds a report's verdict against the claim.
func (j *judged) ask(t testing.TB, way string, seenToMove bool, args ...string) {
	t.Helper()
	report, said, err := j.work.askReport(t, args...)
	if err != nil {
		t.Errorf("%s: %v\n%s", way, err, said)
		return
	}
	j.said = append(j.said, fmt.Sprintf("%s: %q", way, report.Verdict))
	if !j.claim.Allows(report.Verdict, seenToMove) {
		t.Errorf("%s: the verdict on %s %s is %q:\n%s", way, j.claim.Program, j.claim.Name, report.Verdict, said)
	}
}

// polls waits for a report that says in which call rank 0 polls: one that has found another rank
// on its way through its call may not say so.
func (j *judged) polls(t testing.TB) {
	t.Helper()
	var said string
	if !Soon(func() bool {
		var report *expect.Report
		var err error
		report, said, err = j.work.askReport(t, strconv.Itoa(j.Launcher()))
		return err == nil && (report.Verdict == expect.NoProgress || report.Verdict == expect.HeldUp || report.Verdict == expect.UnlessPollingEnds) && strings.Contains(report.Why, " poll") && strings.Contains(report.Why, j.claim.Polls)
	}) {
		t.Errorf("no report says that rank 0 polls in %s:\n%s", j.claim.Polls, said)
	}
}

// unchanged fails the test if the ranks that are stopped afterwards are not those that were. One
// that was stopped before a debugger let go of it stops anew once it is given a processor.
func (j *judged) unchanged(t testing.TB, look func()) {
	t.Helper()
	before := j.stopped()
	look()
	if !Soon(func() bool { return slices.Equal(before, j.stopped()) }) {
		t.Errorf("before the look, the stopped ranks were %v; after it, %v", before, j.stopped())
	}
}

// stopped are the ranks that a signal or a debugger has stopped.
func (j *Job) stopped() []int {
	var out []int
	for rank, a := range j.Accounts {
		if state := State(a.PID); state == 'T' || state == 't' {
			out = append(out, rank)
		}
	}
	return out
}

// State is the letter of a process's or a thread's state, or 0 if there is none.
func State(pid int) byte {
	stat, err := procfs.Host.Stat(pid)
	if err != nil {
		return 0
	}
	return stat.State
}

// HasEnded is true of a process all of whose threads have ended. Its main thread may be the first.
func HasEnded(pid int) bool {
	for _, thread := range procfs.Host.Threads(pid) {
		if stat, err := procfs.Host.Stat(thread); err == nil && !stat.HasEnded() {
			return false
		}
	}
	return true
}

// signal sends a signal to ranks, and waits until those that it stops have stopped.
func (j *Job) signal(t testing.TB, s syscall.Signal, ranks []*expect.Account) {
	t.Helper()
	for _, a := range ranks {
		if err := syscall.Kill(a.PID, s); err != nil {
			t.Fatal(err)
		}
	}
	for _, a := range ranks {
		Until(t, "a rank to take a signal", func() bool { return (State(a.PID) == 'T') == (s == syscall.SIGSTOP) })
	}
}

func (j *Job) touch(t testing.TB, name string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(j.Folder, name), nil, 0o644); err != nil {
		t.Fatal(err)
	}
}

// finish lets the job end by itself.
func (j *judged) finish(t testing.TB) {
	t.Helper()
	j.touch(t, "stop")
	j.signal(t, syscall.SIGCONT, j.Accounts)
	if status, output := j.End(t); status != 0 {
		t.Errorf("the job ends with %d:\n%s", status, output)
	}
}

// coreSnapshots are snapshots of core files of the ranks.
func (j *Job) coreSnapshots(t testing.TB, w *Workspace) []string {
	t.Helper()
	var snapshots []string
	for _, a := range j.Accounts {
		core := filepath.Join(t.TempDir(), "core")
		w.GDB(t, Process(a.PID), "generate-core-file "+core)
		snapshot := filepath.Join(filepath.Dir(core), a.Name+".json")
		w.Shell(t, "dump", "--core", "--json", "--internal", "--output", snapshot, j.Program, core)
		_ = os.Remove(core)
		snapshots = append(snapshots, snapshot)
	}
	return snapshots
}

// askReport runs `mpi-queues report --json`.
func (w *Workspace) askReport(t testing.TB, args ...string) (*expect.Report, string, error) {
	t.Helper()
	out, said, err := w.Try(t, append([]string{"report", "--json"}, args...)...)
	if err != nil {
		return nil, said, err
	}
	report, err := expect.ParseReport(out)
	return report, said, err
}
