//go:build live

package gdb

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// All ranks become inferiors by the launcher's process id and by that of any
// rank, and are shown together as each by itself.
func TestJob(t *testing.T) {
	t.Parallel()
	job := work.Start(t, "groups", 4, nil)
	for name, pid := range map[string]int{"launcher": job.Launcher(), "rank": job.Accounts[2].PID} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			file := func(name string) string { return filepath.Join(folder, name) }
			commands := []string{fmt.Sprintf("mpi-attach %d", pid), "info inferiors", "thread",
				"mpi-queues -all -json -output " + file("all") + " -record " + file("recording")}
			for i := range job.Accounts {
				commands = append(commands, fmt.Sprintf("inferior %d", i+1), fmt.Sprintf("mpi-queues -json -output %s-%d", file("rank"), i))
			}
			out := work.GDB(t, live.Nothing(), append(commands, "mpi-deadlock -all", "mpi-detach", "info inferiors", "mpi-queues -all")...)
			selected := 1
			if name == "rank" {
				selected = 3
			}
			out.Contains(t, "Attached 4 ranks of ", fmt.Sprintf(" (process %d): inferiors 1-4 are ranks 0-3.\n", job.Launcher()),
				fmt.Sprintf("[Current thread is %d.1 ", selected), "Detached 4 processes, which go on running.\n",
				"Undecided.", "The program is not being run")
			out.Lacks(t, "Traceback", "stopped.")
			all := document4(t, out, file("all"))
			replayed, err := expect.ParseDocument(work.Shell(t, "replay", "--json", file("recording")))
			if err != nil || len(replayed.Processes) != 4 {
				t.Fatalf("the recording: %v", err)
			}
			for i, account := range job.Accounts {
				live.Report(t, expect.Compare(account, all[i]))
				live.Report(t, expect.Compare(account, replayed.Processes[i]))
				text, err := os.ReadFile(fmt.Sprintf("%s-%d", file("rank"), i))
				if err != nil {
					t.Fatal(err)
				}
				if one := (&live.Reading{JSON: text}).Process(t); fmt.Sprint(one) != fmt.Sprint(all[i]) {
					t.Errorf("rank %d by itself is\n%v\nand among all\n%v", i, one, all[i])
				}
			}
		})
	}
}

// document4 reads a document of four processes.
func document4(t *testing.T, out live.Output, path string) []expect.Object {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; gdb says:\n%s", err, out.All())
	}
	d, err := expect.ParseDocument(text)
	if err != nil || len(d.Processes) != 4 {
		t.Fatalf("%v; the document is\n%s", err, text)
	}
	return d.Processes
}

// ends fails the test unless a job of the program ring comes to its normal end.
func ends(t *testing.T, job *live.Job) {
	t.Helper()
	if status, output := job.End(t); status != 0 {
		t.Errorf("the job ends with status %d:\n%s", status, output)
	}
	for i := range job.Accounts {
		if !live.Exists(filepath.Join(job.Folder, fmt.Sprintf("done-%d", i))) {
			t.Errorf("rank %d has not come to its end", i)
		}
	}
}

// A job that was attached, shown and let go of many times runs on, and is right.
func TestJobManyTimes(t *testing.T) {
	t.Parallel()
	times := 45
	if testing.Short() {
		times = 9
	}
	job := work.Start(t, "ring", 4, nil, "quiet")
	attach := fmt.Sprintf("mpi-attach %d", job.Launcher())
	s := work.StartSession(t, live.Nothing())
	s.Do("set confirm on")
	for i := range times {
		if i%9 == 5 { // also where the user has let them go on meanwhile
			s.Do(attach)
			s.Do("set schedule-multiple on")
			s.Do("continue &")
			s.Says("mpi-queues -all", "is running")
			s.Says("mpi-detach", "Detached 4 processes")
			s.Do("set schedule-multiple off")
			continue
		}
		s.Says(attach, "Attached 4 ranks of ")
		if out := s.Says("mpi-queues -all -comm idle", "Rank 3 of 4"); strings.Count(out, "irecv") != 4 {
			t.Fatalf("time %d:\n%s", i, out)
		}
		s.Says("mpi-detach", "Detached 4 processes, which go on running.")
	}
	if out := s.Do("info inferiors"); len(regexp.MustCompile(`(?m)^[* ] \d+ `).FindAllString(out, -1)) != 1 {
		t.Errorf("inferiors remain:\n%s", out)
	}
	for range 5 {
		// Without mpi-detach, too: gdb lets go of its processes when it ends.
		out := work.GDB(t, live.Nothing(), attach, "mpi-deadlock -all")
		out.Contains(t, "Attached 4 ranks", "ranks 0-3")
		out.Lacks(t, "Deadlock.", "Traceback")
	}
	ends(t, job)
}

// Those that wait for each other are found, and those that run are said to.
func TestDeadlockCommand(t *testing.T) {
	t.Parallel()
	job := work.Start(t, "blocked", 3, nil, "recv")
	for _, account := range job.Accounts {
		await(t, account)
	}
	file := filepath.Join(t.TempDir(), "json")
	attach := fmt.Sprintf("mpi-attach %d", job.Accounts[0].PID)
	out := work.GDB(t, live.Nothing(), attach, "mpi-deadlock -all", "mpi-deadlock -all -json -output "+file,
		"inferior 2", "continue &", "mpi-deadlock -all", "mpi-detach", "mpi-deadlock")
	out.Contains(t, "Deadlock. ", "ranks 0-2: MPI_Recv on MPI_COMM_WORLD at blocked.c:", "is running", "Unknown. ",
		"Detached 3 processes", "The program is not being run")
	out.Lacks(t, "Traceback")
	if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), `"verdict": "deadlock"`) && !strings.Contains(string(text), `"verdict":"deadlock"`) {
		t.Errorf("%v\n%s", err, text)
	}
}
