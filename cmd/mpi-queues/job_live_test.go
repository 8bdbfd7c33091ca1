//go:build live

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/demo"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/tracee"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/launch"
	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
)

// pids are the process ids of a snapshot, in its order, each with its rank.
func pids(t *testing.T, s *mqs.Snapshot) []int {
	t.Helper()
	var out []int
	for _, p := range s.Processes {
		out = append(out, p.PID)
		if !p.GlobalRank.Known {
			t.Errorf("the rank of process %d is not known", p.PID)
		}
	}
	return out
}

// The list of jobs has the processes of one.
func TestJobs(t *testing.T) {
	j := deadlock(t)
	s := command(t, "jobs", "--json")
	s.ends(t, 0)
	var jobs []runningJob
	if err := json.Unmarshal(s.out.Bytes(), &jobs); err != nil {
		t.Fatal(err)
	}
	launcher := j.Launcher.Process.Pid
	i := slices.IndexFunc(jobs, func(job runningJob) bool { return job.Launcher == launcher })
	if i < 0 {
		t.Fatalf("process %d is no launcher in\n%s", launcher, &s.out)
	}
	var got []int
	for rank, r := range jobs[i].Ranks {
		got = append(got, r.PID)
		if *r.Rank != int32(rank) || r.Host != "" || r.Exited {
			t.Errorf("rank %d is %+v", rank, r)
		}
	}
	if !slices.Equal(got, j.PIDs) || *jobs[i].Size != int32(len(j.PIDs)) {
		t.Errorf("it has processes %v, want %v", got, j.PIDs)
	}
	table := command(t, "jobs")
	table.ends(t, 0)
	row := regexp.MustCompile(fmt.Sprintf(`(?m)^mpirun\S* +%d +%d +%d +\S+$`, launcher, len(j.PIDs), j.PIDs[0]))
	if !row.Match(table.out.Bytes()) {
		t.Errorf("no row for process %d:\n%s", launcher, &table.out)
	}
}

// TestDumpJob has a whole job dumped, from whatever process of it.
func TestDumpJob(t *testing.T) {
	j := deadlock(t)
	launcher := j.Launcher.Process.Pid
	mpirun := strconv.Itoa(launcher)
	for _, c := range []struct {
		name string
		args []string
		want []int
	}{
		{"launcher", []string{mpirun}, j.PIDs},
		{"rank", []string{arguments(j)[1]}, j.PIDs[1:2]},
		{"job of a rank", []string{"--job", arguments(j)[1]}, j.PIDs},
		{"launcher and rank", []string{mpirun, arguments(j)[1]}, j.PIDs},
		{"rank and launcher", []string{arguments(j)[1], mpirun}, []int{j.PIDs[1], j.PIDs[0], j.PIDs[2]}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := command(t, append([]string{"dump", "--json"}, c.args...)...)
			s.ends(t, 0)
			runOn(t, append(slices.Clone(j.PIDs), launcher)...)
			if got := pids(t, parse(t, &s.out)); !slices.Equal(got, c.want) {
				t.Errorf("processes %v, want %v", got, c.want)
			}
			if s.err.Len() > 0 {
				t.Errorf("stderr:\n%s", &s.err)
			}
		})
	}
	t.Run("no job", func(t *testing.T) {
		other := exec.Command("sleep", "600")
		if err := other.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _, _ = other.Process.Kill(), other.Wait() }()
		s := command(t, "dump", "--job", strconv.Itoa(other.Process.Pid))
		s.ends(t, 1)
		says(t, &s.err, "(sleep) is neither the launcher of an MPI job nor one of its ranks")
	})
	// The launcher can't notice, so that the rank stays in its table.
	t.Run("exited", func(t *testing.T) {
		stopped := func() bool { p, err := tracee.Read(launcher); return err == nil && p.State == 'T' }
		if err := syscall.Kill(launcher, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		until(t, "the launcher to stop", stopped)
		if err := syscall.Kill(j.PIDs[2], syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		until(t, "the rank to end", func() bool { p, err := tracee.Read(j.PIDs[2]); return err != nil || p.State == 'Z' })
		s := command(t, "dump", mpirun, "--json")
		s.ends(t, 0)
		ended := parse(t, &s.out).Processes[2]
		if ended.PID != j.PIDs[2] || ended.GlobalRank != mqs.Known[int32](2) || ended.WorldSize != mqs.Known[int32](demo.Ranks) ||
			ended.Unavailable != "process "+strconv.Itoa(j.PIDs[2])+" (rank 2) has exited" {
			t.Errorf("%+v", ended)
		}
		if !stopped() {
			t.Error("the launcher runs on")
		}
		s = command(t, "dump", mpirun)
		s.ends(t, 0)
		says(t, &s.out, "Rank 0 of 3", "Rank 2 of 3", "(rank 2) has exited")
		if err := syscall.Kill(launcher, syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
	})
}

// TestSeparateDebugInformation has a program read whose debug information is in
// a file of its own: that is still found, though the C library's is left out.
func TestSeparateDebugInformation(t *testing.T) {
	tools, noGDB, noMPI := demo.FindTools(t.Context())
	if noGDB != nil || noMPI != nil {
		t.Fatal(noGDB, noMPI)
	}
	folder := t.TempDir()
	program, script := filepath.Join(folder, "deadlock"), filepath.Join(folder, "gdb")
	if err := tools.Compile(t.Context(), program, demo.Program); err != nil {
		t.Fatal(err)
	}
	output := func(name string, args ...string) string {
		t.Helper()
		out, err := exec.Command(name, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	_, id, _ := strings.Cut(output("readelf", "-n", program), "Build ID: ")
	id = strings.Fields(id)[0]
	debug := filepath.Join(folder, ".build-id", id[:2], id[2:]+".debug")
	if err := os.MkdirAll(filepath.Dir(debug), 0o755); err != nil {
		t.Fatal(err)
	}
	output("objcopy", "--only-keep-debug", program, debug)
	output("strip", program)
	if err := os.WriteFile(script, []byte("#!/bin/sh\nexec gdb -iex 'set debug-file-directory "+folder+"' \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	j, err := tools.Start(t.Context(), program, demo.Ranks)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(j.Stop)
	for gdb, want := range map[string]bool{script: true, "gdb": false} {
		s := command(t, "dump", "--json", "--gdb", gdb, arguments(j)[0])
		s.ends(t, 0)
		if got := bytes.Contains(s.out.Bytes(), []byte(`"file": "deadlock.c"`)); got != want {
			t.Errorf("%s: the program's debug information is used: %t, want %t\n%s", gdb, got, want, &s.out)
		}
	}
}

// TestFindWrapped finds ranks behind a shell, and a program that nobody launched.
func TestFindWrapped(t *testing.T) {
	tools, noGDB, noMPI := demo.FindTools(t.Context())
	if noGDB != nil || noMPI != nil {
		t.Fatal(noGDB, noMPI)
	}
	folder := t.TempDir()
	program := filepath.Join(folder, "deadlock")
	if err := tools.Compile(t.Context(), program, demo.Program); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(folder, "wrapper")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"+program+" \"$@\"\nexit 0\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	j, err := tools.Start(t.Context(), script, demo.Ranks)
	if err != nil {
		t.Fatal(err)
	}
	// The job's own stop looks for the program by the script's name.
	j.Program = program
	t.Cleanup(j.Stop)
	for rank, pid := range j.PIDs {
		wrapped, err := procfs.Host.Stat(pid)
		if err != nil {
			t.Fatal(err)
		}
		for _, asked := range []int{pid, wrapped.Parent, j.Launcher.Process.Pid} {
			job, err := launch.Find(asked)
			if err != nil {
				t.Fatal(err)
			}
			if job.Launcher != j.Launcher.Process.Pid || job.Size != mqs.Known[int32](demo.Ranks) || len(job.Ranks) != demo.Ranks {
				t.Fatalf("%+v", job)
			}
			if got := job.Ranks[rank]; got != (launch.Rank{Number: mqs.Known(int32(rank)), PID: pid, Executable: program}) {
				t.Errorf("rank %d: %+v", rank, got)
			}
			if asked == job.Launcher != (job.Self == nil) || job.Self != nil && job.Self.PID != pid {
				t.Errorf("rank %d, asked for %d: %+v", rank, asked, job.Self)
			}
		}
	}
	alone := exec.Command(program, t.TempDir())
	alone.Env = tools.Environment()
	if err := alone.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = alone.Process.Kill(), alone.Wait() }()
	until(t, "MPI in a program without a launcher", func() bool {
		job, err := launch.Find(alone.Process.Pid)
		return err == nil && job.Launcher == 0 && job.Size == mqs.Known[int32](1) && job.Self == &job.Ranks[0]
	})
}
