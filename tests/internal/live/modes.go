//go:build live || matrix || full

package live

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
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

// SettleBy does so by way of a process, and lets the ranks run on.
func (j *ModeJob) SettleBy(t testing.TB, pid int) {
	t.Helper()
	var said string
	var err error
	for patience := newPatience(Patience); ; {
		var report *expect.Report
		if report, said, err = j.work.askReport(t, strconv.Itoa(pid)); err == nil {
			if err = j.check(j.Mode, report); err == nil {
				return
			}
		}
		if patience.isOver() || j.hasEnded() {
			text, _ := os.ReadFile(j.output)
			t.Errorf("%v\nin:\n%s\nthe job's output (ended: %v):\n%s", err, said, j.hasEnded(), text)
			return
		}
	}
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
