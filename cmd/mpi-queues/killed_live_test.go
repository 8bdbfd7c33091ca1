//go:build live

package main

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

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/demo"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/tracee"
	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
)

// isFree says whether nothing debugs a process or holds it.
func isFree(pid int) bool {
	p, err := tracee.Read(pid)
	return err == nil && p.Tracer == 0 && p.State != 'T' && p.State != 't' && p.State != 'Z'
}

// TestKilledAtRandom ends report and dump by signals at random moments, alone and with all that has their process group: no
// rank stays stopped, none dies, and but for SIGKILL no file is left.
func TestKilledAtRandom(t *testing.T) {
	times := 8
	if os.Getenv("MPI_QUEUES_TEST_WHOLE") != "" {
		times = 60
	}
	j := deadlock(t)
	launcher := strconv.Itoa(j.Launcher.Process.Pid)
	commands := [][]string{{"report", launcher}, append([]string{"dump", "--json"}, arguments(j)...)}
	var whole time.Duration // of a run, about: no verdict depends on it
	for _, args := range commands {
		begin := time.Now()
		s := command(t, args...)
		_ = s.Run()
		whole = max(whole, time.Since(begin))
	}
	signals := []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGKILL}
	cut := 0
	for seed := range times {
		luck := rand.New(rand.NewPCG(uint64(seed), 1))
		sig, isGroup := signals[seed%len(signals)], luck.IntN(2) == 0
		s := command(t, commands[luck.IntN(len(commands))]...)
		s.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(luck.Int64N(int64(whole))))
		pid := s.Process.Pid
		if isGroup {
			pid = -pid
		}
		_ = syscall.Kill(pid, sig)
		_ = s.Wait()
		if s.out.Len() == 0 {
			cut++
		}
		for _, pid := range j.PIDs {
			until(t, "process "+strconv.Itoa(pid)+" to run on after "+sig.String()+" with seed "+strconv.Itoa(seed), func() bool { return isFree(pid) })
		}
		if left, err := os.ReadDir(s.tmp); err != nil || len(left) > 0 && sig != syscall.SIGKILL {
			t.Errorf("seed %d, %s: %v, %v is left behind", seed, sig, err, left)
		}
	}
	if cut == 0 {
		t.Error("no run was cut short")
	}
	t.Logf("%d of %d runs were cut short", cut, times)
	s := command(t, "report", launcher)
	_ = s.Run()
	says(t, &s.out, "Deadlock")
}

// harmless says why a command has no ranks of a user's job to leave stopped. Every other command is interrupted below.
var harmless = map[string]string{
	"connect":   "gdb starts it, and the tests of mpi-attach interrupt that",
	"demo":      "the job is its own",
	"dll-check": "reads made-up processes",
	"dll-host":  "its helper reads for it",
	"gdbinit":   "writes files",
	"helper":    "gdb starts it, and is who stops ranks",
	"jobs":      "lists processes, and starts no gdb",
	"launch":    "becomes the launcher",
	"rank":      "becomes the rank",
	"relay":     "connect starts it",
	"replay":    "reads files",
	"run":       "becomes gdb",
	"supervise": "gdb starts it, and the tests of mpi-run end that",
}

// interrupted is a run that is interrupted.
type interrupted struct {
	name string
	args []string
	// since is a file that the run writes before the moments that count, empty if they count from its start.
	since string
	// done are the files that are there if the run comes to its end.
	done []string
}

// runs returns a run of each command that touches ranks of a job; folder is for its files.
func runs(j *demo.Job, folder string) []interrupted {
	launcher, first := strconv.Itoa(j.Launcher.Process.Pid), strconv.Itoa(j.PIDs[0])
	watch := []string{"watch", "--every", "100ms", "--hang-after", "500ms", "--report", folder, launcher}
	at := func(name string) string { return filepath.Join(folder, name) }
	return []interrupted{
		{name: "report", args: []string{"report", launcher}},
		{name: "report by collectors", args: []string{"report", "--via", "local", launcher}},
		{name: "dump", args: append([]string{"dump"}, arguments(j)...)},
		{name: "watch", args: watch},
		{name: "watch that records", args: watch, since: at("report.txt"), done: []string{at("rank-0.mpiq"), at("rank-1.mpiq")}},
		{name: "collect", args: []string{"collect", "--pid", first}},
	}
}

// TestInterrupted checks that no command leaves a rank of a user's job stopped or ends it, whenever the command is
// interrupted or its reader goes away. Each is interrupted when it has started a gdb, when gdb has become the tracer of a
// rank, and when gdb has let go of the rank. The seed chooses the signals.
func TestInterrupted(t *testing.T) {
	j := deadlock(t)
	tested := map[string]bool{}
	for _, r := range runs(j, "") {
		tested[r.args[0]] = true
	}
	for _, c := range rootCommand().Commands() {
		if name := c.Name(); tested[name] == (harmless[name] != "") {
			t.Errorf("`mpi-queues %s' belongs either in runs or in harmless", name)
		}
	}
	signals := []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGPIPE, syscall.SIGKILL}
	seed, _ := strconv.Atoi(os.Getenv("MPI_QUEUES_TEST_SEED"))
	cut := 0
	for i := range runs(j, "") {
		for m, moment := range []string{"gdb runs", "traced", "let go"} {
			for n, sig := range signals {
				if os.Getenv("MPI_QUEUES_TEST_WHOLE") == "" && (seed+i+m+n)%len(signals) != 0 {
					continue
				}
				r := runs(j, t.TempDir())[i]
				isGroup := (seed/len(signals)+i+m)%2 == 0
				t.Run(fmt.Sprintf("%s/%s/%s", r.name, moment, sig), func(t *testing.T) {
					if r.interrupt(t, j, m, sig, isGroup) {
						cut++
					}
				})
				if t.Failed() {
					return // the job may be gone
				}
			}
		}
	}
	if cut == 0 {
		t.Error("no run was interrupted before its end")
	}
}

// interrupt starts the run and interrupts it at a moment, with its process group if isGroup. It reports whether the run
// says that it was interrupted.
func (r interrupted) interrupt(t *testing.T, j *demo.Job, moment int, sig syscall.Signal, isGroup bool) bool {
	s := command(t, r.args...)
	s.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if sig == syscall.SIGPIPE {
		s.Stdout, s.Stderr = writer, writer
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	_ = writer.Close()
	isTraced := func() bool { return slices.ContainsFunc(j.PIDs, func(pid int) bool { return !isFree(pid) }) }
	moments := []func() bool{
		func() bool { return r.since == "" || isThere(r.since) },
		func() bool { return slices.ContainsFunc(s.processes(t), isGDB) },
		isTraced,
		func() bool { return !isTraced() },
	}
	for _, hasCome := range moments[:moment+2] {
		for !hasCome() && !tracee.HasEnded(s.Process.Pid) {
			time.Sleep(time.Millisecond)
		}
	}
	_ = reader.Close()
	pid := s.Process.Pid
	if isGroup {
		pid = -pid
	}
	_ = syscall.Kill(pid, sig)
	_ = s.Wait()
	until(t, "the end of the processes that it has started", func() bool { return len(s.processes(t)) == 0 })
	for _, pid := range append(slices.Clone(j.PIDs), j.Launcher.Process.Pid) {
		until(t, fmt.Sprintf("process %d to run on", pid), func() bool { return tracee.HasEnded(pid) || isFree(pid) })
		if tracee.HasEnded(pid) {
			t.Fatalf("process %d of the job has ended", pid)
		}
	}
	code := s.ProcessState.ExitCode()
	if left, err := os.ReadDir(s.tmp); err != nil || len(left) > 0 && code != killed {
		t.Errorf("%v, %v is left behind", err, left)
	}
	isCut := code == exitUnreadable && strings.Contains(s.err.String(), errInterrupted.Error())
	switch {
	case code == exitHang:
		for _, name := range r.done {
			if !isThere(name) {
				t.Errorf("exit status %d without %s:\n%s", code, name, &s.err)
			}
		}
	case code > 0 && !isCut:
		t.Errorf("exit status %d:\n%s", code, &s.err)
	}
	return isCut
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func isGDB(pid int) bool {
	name, _ := procfs.Host.Name(pid)
	return strings.TrimSpace(name) == "gdb"
}

// processes are the run's process and all that it has started, as far as they are there.
func (s *shell) processes(t *testing.T) []int {
	t.Helper()
	all, err := procfs.Host.Processes()
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(pid int) bool {
		variables, _ := procfs.Host.Environment(pid, []string{"TMPDIR"})
		return variables["TMPDIR"] != s.tmp
	})
}
