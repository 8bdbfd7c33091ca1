//go:build matrix

package matrix

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// A deadlock that crosses two of Slurm's nodes, one of which is as another machine, is reported with the same words as
// on one node, whether its launcher, its job or its step is named. So is one with no rank on the launcher's machine.
// Nothing is left on a node.
func TestSlurmReport(t *testing.T) {
	for _, c := range slurm {
		t.Run(c.name, func(t *testing.T) {
			c.mpi.Launcher = []string{"srun", "--mpi=" + c.plugin, "--partition=apart"}
			w, err := work.With("slurm-report-"+c.name, c.mpi)
			if err != nil {
				t.Fatal(err)
			}
			var want string
			report := func(name string, line []string, args func(*slurmJobOf) []string) {
				t.Run(name, func(t *testing.T) {
					job := startInSlurm(t, w, line)
					got := job.deadlocked(t, args(job))
					if want == "" {
						want = got
					}
					if got != want {
						t.Errorf("it says\n%s\nand on one node\n%s", got, want)
					}
					job.nothingIsLeft(t)
				})
			}
			launcher := func(j *slurmJobOf) []string { return []string{strconv.Itoa(j.launcher.Process.Pid)} }
			srun := func(nodes ...string) []string { return slices.Concat(c.mpi.Launcher, nodes, []string{"-n", "3"}) }
			report("one node", srun("-w", "n1", "-N", "1"), launcher)
			if c.name == slurm[0].name {
				report("two nodes", srun("-N", "2"), launcher)
				t.Run("attach", func(t *testing.T) {
					job := startInSlurm(t, w, srun("-N", "2"))
					job.deadlocked(t, launcher(job)) // gdb looks once: all ranks have to be in their calls by then
					got := w.GDB(t, live.Nothing(), fmt.Sprintf("mpi-attach %d", job.launcher.Process.Pid), "mpi-deadlock -all", "mpi-detach", "info connections")
					got.Contains(t, "Attached 3 ranks of srun", strings.TrimSpace(want), "Detached 3 processes, which go on running.", "No connections.")
					job.nothingIsLeft(t)
				})
				report("elsewhere", srun("-w", "n3", "-N", "1"), launcher)
			} else {
				report("allocation", []string{"salloc", "--quiet", "--partition=apart", "-N", "2", "-n", "3", "mpiexec.mpich", "-ppn", "2", "-n", "3"}, func(j *slurmJobOf) []string {
					return []string{strconv.Itoa(procfs.Host.Children(j.launcher.Process.Pid)[0])}
				})
				report("two nodes", srun("-N", "2"), func(j *slurmJobOf) []string { return []string{"--slurm", j.id} })
			}
		})
	}
}

// slurmJobOf is a job of three ranks that are deadlocked. They all receive: over TCP, UCX sends a megabyte without being
// asked for it.
type slurmJobOf struct {
	launcher    *exec.Cmd
	program, id string
	work        *live.Workspace
}

// startInSlurm starts one, which ends with the test.
func startInSlurm(t *testing.T, w *live.Workspace, line []string) *slurmJobOf {
	t.Helper()
	folder, err := os.MkdirTemp(w.Folder, "job-")
	if err != nil {
		t.Fatal(err)
	}
	j := &slurmJobOf{program: w.Program(t, "tests/programs/deadlock.c"), work: w}
	name := filepath.Base(folder)
	j.launcher = exec.Command(line[0], slices.Concat([]string{"--job-name", name}, line[1:], []string{"nice", j.program, folder, "recv-ring"})...)
	var said bytes.Buffer
	j.launcher.Stdout, j.launcher.Stderr = &said, &said
	if err := j.launcher.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = j.launcher.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		_ = exec.Command("scancel", "--signal=KILL", "--name", name).Run()
		<-ended
	})
	live.Until(t, "for the ranks", func() bool {
		select {
		case <-ended:
			t.Fatalf("the job has ended:\n%s", &said)
		default:
		}
		ready, _ := filepath.Glob(filepath.Join(folder, "ready-*"))
		return len(ready) == 3
	})
	out, err := exec.Command("squeue", "--noheader", "--name", name, "--format=%i").Output()
	if err != nil {
		t.Fatal(err)
	}
	j.id = strings.TrimSpace(string(out))
	return j
}

// deadlocked waits for the verdict, and returns the report.
func (j *slurmJobOf) deadlocked(t *testing.T, args []string) (report string) {
	t.Helper()
	live.Until(t, "for the deadlock", func() bool {
		cmd := exec.Command(j.work.Helper, append([]string{"report"}, args...)...)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil || errs.Len() > 0 {
			t.Fatalf("%s: %v\n%s%s", args, err, out, &errs)
		}
		report = string(out)
		return strings.HasPrefix(report, "Deadlock. ")
	})
	return report
}

// nothingIsLeft waits until nothing of the product's is left on a node, and fails the test if a rank does not run on.
// The other node's processes can be seen from here.
func (j *slurmJobOf) nothingIsLeft(t *testing.T) {
	t.Helper()
	live.Until(t, "for the end of the collectors' step", func() bool {
		out, err := exec.Command("squeue", "--steps", "--noheader", "--format=%i").Output()
		return err == nil && strings.TrimSpace(string(out)) == fmt.Sprintf("%s.0", j.id)
	})
	noCollector(t)
	pids, err := procfs.Host.Processes()
	if err != nil {
		t.Fatal(err)
	}
	ranks := 0
	for _, pid := range pids {
		words, err := procfs.Host.CommandLine(pid)
		if err != nil || len(words) == 0 || words[0] != j.program {
			continue
		}
		ranks++
		if s, err := procfs.Host.Stat(pid); err != nil || s.State == 'T' || s.State == 't' {
			t.Errorf("rank %s does not run on: %+v, %v", words, s, err)
		}
	}
	if ranks != 3 {
		t.Errorf("%d ranks are left", ranks)
	}
}
