//go:build live || matrix || full

package live

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/sample"
)

// Launcher is the process id of the job's launcher.
func (j *Job) Launcher() int { return j.launcher.Process.Pid }

// ModeJob is a running job of one mode of a program.
type ModeJob struct {
	*Job
	Mode *expect.Mode

	work  *Workspace
	lines map[string]int
}

// StartMode starts a mode's job with the launcher's flags. Where it hangs it
// need not have come to yet.
func (w *Workspace) StartMode(t testing.TB, m *expect.Mode, flags ...string) *ModeJob {
	t.Helper()
	sample.LogSeed(t)
	lines, err := expect.Marks(filepath.Join(w.Root, "tests", "programs", m.Program+".c"))
	if err != nil {
		t.Fatal(err)
	}
	if m.Name == "gone" {
		flags = slices.Concat(flags, w.MPI.Recovers)
	}
	job := w.Start(t, m.Program, m.Ranks, flags, m.Name)
	t.Cleanup(job.kill)
	return &ModeJob{Job: job, Mode: m, work: w, lines: lines}
}

// kill ends the ranks, before the launcher is told to: Open MPI's is sometimes
// slow to end ranks that are stopped. That of 4.1 may hang inside PMIx if ranks are
// killed while another leaves: then it is killed, too.
func (j *Job) kill() {
	for _, a := range j.Accounts {
		if j.owns(a.PID) {
			_ = syscall.Kill(a.PID, syscall.SIGKILL)
		}
	}
	if !Within(6*time.Second, j.hasEnded) {
		_ = j.launcher.Process.Kill()
	}
}

// Settle asks for reports until one is what the mode's must be, and stops the
// ranks then. It fails the test with the last one's differences.
func (j *ModeJob) Settle(t testing.TB) {
	t.Helper()
	j.SettleBy(t, j.Launcher())
	j.Hold(t)
}

// SettleBy does so by way of a process, and lets the ranks run on. It gives up at a claim that the mode does not allow, when
// the job stays the same, and when [Patience] is over.
func (j *ModeJob) SettleBy(t testing.TB, pid int) {
	t.Helper()
	var s standstill
	arrived := false
	for patience := newPatience(Patience); ; {
		before := j.clocks()
		report, said, err := j.work.askReport(t, strconv.Itoa(pid))
		why := ""
		if err == nil {
			var judged expect.Judgement
			if judged, err = j.Mode.Judge(report, j.lines, arrived); judged == expect.Right {
				return
			} else if judged == expect.Wrong {
				why = "a wrong claim"
			}
			arrived = arrived || j.Mode.HasArrived(report, j.lines)
			if s.add(report, haveRun(before, j.clocks()) && !j.Mode.Polls()) >= enoughEqual {
				why = fmt.Sprintf("%d equal reports", enoughEqual)
			}
		}
		switch {
		case j.hasEnded():
			why = "the job has ended"
		case why == "" && patience.isOver():
			why = "no end"
		}
		if why != "" {
			text, _ := os.ReadFile(j.output)
			t.Errorf("%s: %v\nin:\n%s\nthe job's output:\n%s", why, err, said, text)
			return
		}
	}
}

func (j *Job) clocks() []clock {
	var out []clock
	for _, a := range j.Accounts {
		out = append(out, clock{CPU(a.PID), asleep(a.PID)})
	}
	return out
}

// Hold stops those of the ranks that there are.
func (j *ModeJob) Hold(t testing.TB) {
	t.Helper()
	for _, a := range j.Accounts {
		if err := syscall.Kill(a.PID, syscall.SIGSTOP); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Fatal(err)
		}
	}
}

// Reports fails the test unless `mpi-queues report` says of args what it must.
func (j *ModeJob) Reports(t testing.TB, args ...string) *expect.Report {
	t.Helper()
	report, said, err := j.work.askReport(t, args...)
	j.verify(t, j.Mode, report, said, err)
	return report
}

// Deadlock fails the test unless gdb's command says what it must of each of the times that
// it is attached to the job: more than once only of one that moves.
func (j *ModeJob) Deadlock(t testing.TB, pid, times int) {
	t.Helper()
	folder := t.TempDir()
	var commands []string
	for i := range times {
		commands = append(commands, fmt.Sprintf("mpi-attach %d", pid),
			fmt.Sprintf("mpi-deadlock -all -json -output %s/%d", folder, i), "mpi-detach")
	}
	out := j.work.GDB(t, Nothing(), commands...)
	for i := range times {
		text, err := os.ReadFile(filepath.Join(folder, strconv.Itoa(i)))
		if err != nil {
			t.Errorf("%v; gdb says:\n%s", err, out.All())
			return
		}
		report, err := expect.ParseReport(text)
		j.verify(t, j.Mode.Once(true), report, string(text), err)
	}
}

// DeadlockAgain does the same in one session where the MPI does not count messages, so
// that it takes a second look, after the ranks have run, to tell.
func (j *ModeJob) DeadlockAgain(t testing.TB, pid int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report")
	s := j.work.StartSession(t, Nothing())
	var said string
	var err error
	for patience := newPatience(Patience); !patience.isOver(); {
		s.Says(fmt.Sprintf("mpi-attach %d", pid), "Attached ")
		said = s.Do("mpi-deadlock -all -json -output " + file)
		s.Says("mpi-detach", "Detached ")
		var text []byte
		var report *expect.Report
		if text, err = os.ReadFile(file); err == nil {
			report, err = expect.ParseReport(text)
		}
		if err == nil {
			err = j.check(j.Mode, report)
		}
		if err == nil {
			return
		}
	}
	t.Errorf("%v\nin:\n%s", err, said)
}

// Cores fails the test unless the core files of the ranks, each read by itself
// and merged, give the report that they must, by an MPI that counts messages or one that does not.
func (j *ModeJob) Cores(t testing.TB, counted bool) {
	t.Helper()
	report, said, err := j.work.askReport(t, j.coreSnapshots(t, j.work)...)
	j.verify(t, j.Mode.Once(counted), report, said, err)
}

func (j *ModeJob) verify(t testing.TB, m *expect.Mode, r *expect.Report, said string, err error) {
	t.Helper()
	if err == nil {
		err = j.check(m, r)
	}
	if err != nil {
		t.Errorf("%v\nin:\n%s", err, said)
	}
}

func (j *ModeJob) check(m *expect.Mode, r *expect.Report) error {
	if differences := m.Compare(r, j.lines); len(differences) > 0 {
		return errors.New(strings.Join(differences, "\n"))
	}
	return nil
}
