//go:build live

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A report on a running job, from any of its ranks; and on what dump has written.
func TestReport(t *testing.T) {
	j := deadlock(t)
	s := command(t, "report", "--json", strconv.Itoa(j.PIDs[1]))
	s.ends(t, 0)
	runOn(t, j.PIDs...)
	var r struct {
		Verdict   string `json:"verdict"`
		Deadlocks []struct {
			Cycle []struct {
				Rank     int    `json:"rank"`
				WaitsFor int    `json:"waits_for"`
				Call     string `json:"call"`
			} `json:"cycle"`
		} `json:"deadlocks"`
		NearMisses []struct {
			Kind string `json:"kind"`
		} `json:"near_misses"`
		MissingRanks []int `json:"missing_ranks"`
	}
	if err := json.Unmarshal(s.out.Bytes(), &r); err != nil {
		t.Fatalf("%v in %s", err, &s.out)
	}
	if r.Verdict != "deadlock" || len(r.Deadlocks) != 1 || len(r.MissingRanks) != 0 || len(r.NearMisses) == 0 || r.NearMisses[0].Kind != "tag" {
		t.Fatalf("the report is\n%s", &s.out)
	}
	if w := r.Deadlocks[0].Cycle[0]; w.Rank != 0 || w.WaitsFor != 1 || w.Call != "MPI_Recv" {
		t.Errorf("the cycle begins with %+v", w)
	}

	s = command(t, "report", "--stacks", "--looks", "2", "--every", "10ms", strconv.Itoa(j.PIDs[0]))
	s.ends(t, 0)
	runOn(t, j.PIDs...)
	says(t, &s.out, "Deadlock. ", "\nStacks in 2 looks\n  ranks 0, 2 (2 ranks), all in every look\n", "\n    MPI_Recv\n    (for instance rank 0)\n  rank 1, in every look\n")
	command(t, "report", "--looks", "2", strconv.Itoa(j.PIDs[0])).ends(t, 2)

	file := filepath.Join(t.TempDir(), "job.json")
	command(t, append([]string{"dump", "--json", "--internal", "--stacks", "--output", file}, arguments(j)...)...).ends(t, 0)
	command(t, append([]string{"dump", "--stacks"}, arguments(j)...)...).ends(t, 2)
	s = command(t, "report", "--stacks", file)
	s.ends(t, 0)
	says(t, &s.out, "\nStacks\n  ranks 0, 2 (2 ranks)\n", "\n    MPI_Recv\n    (for instance rank 0)\n  rank 1\n")
	says(t, &s.out, "Deadlock. ", "rank 0 waits for rank 1: receive from rank 1, tag 7", "Near misses")
}

// TestOddNames checks that a job is read whose program has a name that is not in the locale's character set, nor UTF-8.
func TestOddNames(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "ü")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	j := deadlockOf(t, filepath.Join(folder, "dead\xfflock"))
	rank := strconv.Itoa(j.PIDs[0])
	for _, locale := range []string{"C", "C.UTF-8"} {
		for args, said := range map[string]string{"report": "Deadlock. ", "dump --job": "Rank 0 of 3, process " + rank + ", dead\ufffdlock"} {
			s := command(t, append(strings.Fields(args), rank)...)
			s.Env = append(s.Env, "LC_ALL="+locale)
			s.ends(t, 0)
			says(t, &s.out, said)
			runOn(t, j.PIDs...)
		}
	}
}

// A report on the core files of a job, whatever order they come in, and on some of them.
func TestReportOfCores(t *testing.T) {
	j := deadlock(t)
	folder := t.TempDir()
	var cores []string
	for _, pid := range j.PIDs {
		cores = append(cores, saveCore(t, pid, filepath.Join(folder, "core."+strconv.Itoa(pid))))
	}
	runOn(t, j.PIDs...)
	s := command(t, "report", "--stacks", "--core", j.Program, cores[2], cores[0], cores[1])
	s.ends(t, 0)
	says(t, &s.out, "\nStacks\n  ranks 0, 2 (2 ranks)\n", "Deadlock. ", "rank 0 waits for rank 1: receive from rank 1, tag 7", "Near misses")
	broken := filepath.Join(folder, "broken")
	if err := os.WriteFile(broken, []byte("no core"), 0o600); err != nil {
		t.Fatal(err)
	}
	s = command(t, "report", "--core", j.Program, cores[0], broken)
	s.ends(t, 0)
	says(t, &s.out, "broken can't be read: ", "it is no ELF file")
	s = command(t, "report", "--core", j.Program, broken)
	s.ends(t, 1)
	says(t, &s.err, "broken can't be read: ")
	command(t, "report", "--core", j.Program).ends(t, 2)
}

// TestDoctor checks what is said of a machine on which everything works, of a job, and of a rank that is being debugged.
func TestDoctor(t *testing.T) {
	job := deadlock(t)
	launcher := strconv.Itoa(job.Launcher.Process.Pid)
	for _, c := range []struct {
		args []string
		want []string
	}{
		{nil, []string{"ok  gdb ", "ok  attach     gdb may attach to your processes"}},
		{[]string{launcher}, []string{"ok  gdb ", "3 ranks, all on this machine", "ok  process    rank 0, process " + strconv.Itoa(job.PIDs[0]), "ok  MPI        Open MPI ",
			"ok  queues     read by ", "ok  transport  pml ob1, which counts messages, so"}},
		{[]string{strconv.Itoa(job.PIDs[1])}, []string{"ok  process    rank 1, process " + strconv.Itoa(job.PIDs[1])}},
	} {
		s := command(t, append([]string{"doctor"}, c.args...)...)
		s.ends(t, 0)
		for _, want := range c.want {
			if !strings.Contains(s.out.String(), want) {
				t.Errorf("%v: no %q in\n%s", c.args, want, &s.out)
			}
		}
	}
	runOn(t, job.PIDs...)
	other := exec.Command("cat")
	stdin, err := other.StdinPipe()
	if err == nil {
		err = other.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = stdin.Close()
		_ = other.Wait()
	}()
	s := command(t, "doctor", strconv.Itoa(other.Process.Pid))
	s.ends(t, exitUnreadable)
	if text := s.out.String(); !strings.Contains(text, "\nno  job ") || strings.Contains(text, " queues ") {
		t.Errorf("a process without MPI:\n%s", text)
	}
}
