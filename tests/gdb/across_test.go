//go:build live

package gdb

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// acrossRanks are those of the program across: all but the last one are in exchange.
const acrossRanks = 4

// startAcross starts a job of the program across, and waits until its ranks are where they stay.
func startAcross(t *testing.T) *live.Job {
	t.Helper()
	job := work.Start(t, "across", acrossRanks, nil)
	for rank := range acrossRanks {
		job.AwaitCall(t, rank)
	}
	return job
}

// acrossLine is the place in the program across of a text that its source has once.
func acrossLine(t *testing.T, text string) string {
	t.Helper()
	source, err := os.ReadFile(filepath.Join(work.Root, "tests", "programs", "across.c"))
	before, _, found := strings.Cut(string(source), text)
	if err != nil || !found {
		t.Fatalf("across.c has no %q (%v)", text, err)
	}
	return fmt.Sprintf("across.c:%d", strings.Count(before, "\n")+1)
}

// toFrame are commands that select the frame of a function: gdb 13.1 crashes at `frame function' with several inferiors.
func toFrame(function string) []string {
	return []string{"python f = gdb.newest_frame()", fmt.Sprintf("python exec(\"while f.name() != '%s': f = f.older()\")", function), "python f.select()"}
}

// answers runs commands in one gdb after others, and returns what gdb writes to each.
func answers(t *testing.T, where live.Where, first []string, commands ...string) []string {
	t.Helper()
	all := append([]string{"set width 0"}, first...)
	for _, c := range commands {
		all = append(all, `echo @@\n`, c)
	}
	out := work.GDB(t, where, append(all, `echo @@\n`)...)
	out.Lacks(t, "Traceback", "failed in itself")
	if out.Stderr != "" {
		t.Logf("gdb complains:\n%s", out.Stderr)
	}
	parts := strings.Split(out.Stdout, "@@\n")
	if len(parts) != len(commands)+2 {
		t.Fatalf("gdb has answered %d of %d commands:\n%s", len(parts)-2, len(commands), out.All())
	}
	return parts[1 : len(commands)+1]
}

// says fails the test where a command's answer is another one.
func says(t *testing.T, command, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s says\n%s\nwant\n%s", command, got, want)
	}
}

// The ranks of an attached job: where they are, what values they have, what their stacks have alike.
func TestAcross(t *testing.T) {
	t.Parallel()
	job := startAcross(t)
	receiving, waiting := acrossLine(t, "MPI_Recv("), acrossLine(t, "sigwait(")
	exchange, compute := acrossLine(t, "result += exchange"), acrossLine(t, "result += compute")
	pid := func(rank int) int { return job.Accounts[rank].PID }
	table := "  rank  inferior  process  state    where\n"
	for rank := range acrossRanks {
		mark, place := " ", "MPI_Recv, called by exchange at "+receiving
		if rank == 1 {
			mark = "*"
		}
		if rank == acrossRanks-1 {
			place = "compute at " + waiting
		}
		table += fmt.Sprintf("%s %d     %d         %-7d  stopped  %s\n", mark, rank, rank+1, pid(rank), place)
	}
	tree := "ranks 0-2 (3 ranks)\n  main at " + exchange + "\n  exchange at " + receiving + "\n  MPI_Recv\n" +
		"rank 3\n  main at " + compute + "\n  compute at " + waiting + "\n  sigwait\n"
	want := []struct{ command, answer string }{
		{"mpi-print tag", "ranks 0-2: 7\nrank 3: not in exchange()\n"},
		{"mpi-print last", "ranks 0-3: 3\n"},
		{"mpi-print *grid", "ranks 0, 2: {width = 64, height = 32, origin = {0, 0}}\nrank 1: {width = 64, height = 32, origin = {0.5, 0}}\nrank 3: not in exchange()\n"},
		{"mpi-print side", "ranks 0, 2: \"west\"\nrank 1: \"east\"\nrank 3: not in exchange()\n"},
		{"with print pretty on -- mpi-print grid[0]", "ranks 0, 2: {\n  width = 64,\n  height = 32,\n  origin = {0, 0}\n}\n" +
			"rank 1: {\n  width = 64,\n  height = 32,\n  origin = {0.5, 0}\n}\nrank 3: not in exchange()\n"},
		{"mpi-print grid->nothing", "ranks 0-2: There is no member named nothing.\nrank 3: not in exchange()\n"},
		{"mpi-ranks", table},
		{"mpi-stacks", tree},
		{"mpi-stacks 0-2", strings.Split(tree, "rank 3")[0]},
		{"mpi-apply 3,0 -q output last", "33"},
		{"mpi-apply 2-3 output last", fmt.Sprintf("\nRank 2 (inferior 3, process %d):\n3\nRank 3 (inferior 4, process %d):\n3", pid(2), pid(3))},
		{"up", "#"},
		{"mpi-print residual", "rank 0: 1\nrank 1: nan(0x8000000000000)\nrank 2: 0.25\nrank 3: 0.125\n" +
			"minimum 0.125 (rank 3), maximum 1 (rank 0), mean 0.4583333333, 1 NaN (rank 1)\n"},
		{"mpi-print/x iteration", "ranks 0-1, 3: 0xc\nrank 2: 0xb\nminimum 0xb (rank 2), maximum 0xc (ranks 0-1, 3), mean 11.75\n"},
		{"mpi-rank", fmt.Sprintf("[Current rank is 1 (inferior 2 [process %d] (%s))]\n", pid(1), job.Program)},
		{"mpi-rank 3", "[Switching to inferior 4 "},
		{"mpi-print iteration", "ranks 0-3: No symbol \"iteration\" in current context.\n"},
	}
	var commands []string
	for _, w := range want {
		commands = append(commands, w.command)
	}
	got := answers(t, live.Nothing(), append([]string{fmt.Sprintf("mpi-attach %d", pid(1))}, toFrame("exchange")...), commands...)
	for i, w := range want {
		if strings.HasPrefix(w.command, "mpi-rank ") || w.command == "up" {
			if !strings.HasPrefix(got[i], w.answer) {
				t.Errorf("%s says %q", w.command, got[i])
			}
			continue
		}
		says(t, w.command, got[i], w.answer)
	}
}

// acrossDocument is what the commands' JSON has that the tests look at.
type acrossDocument struct {
	Ranks []struct {
		Rank, Inferior  *int
		State, Function string
		Call, Reason    *string
	}
	Values []struct {
		Ranks, Value string
		Number       *float64
	}
	Frames []struct {
		Caller             *int
		Ranks              string
		Threads, Innermost int
		Function           *string
		MPICall            bool `json:"mpi_call"`
	}
}

func parseAcross(t *testing.T, text string) (d acrossDocument) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return d
}

// Cores of ranks are ranks, as their MPI library knows, and JSON has what the text has.
func TestAcrossCores(t *testing.T) {
	t.Parallel()
	job := startAcross(t)
	var first []string
	for i, rank := range []int{3, 1} {
		core := filepath.Join(t.TempDir(), "core")
		work.GDB(t, live.Process(job.Accounts[rank].PID), "generate-core-file "+core)
		if i > 0 {
			first = append(first, "add-inferior -no-connection", fmt.Sprintf("inferior %d", i+1))
		}
		first = append(first, "file "+job.Program, "core-file "+core)
	}
	got := answers(t, live.Nothing(), first, "mpi-ranks -json", "mpi-print -json last", "mpi-stacks -json", "mpi-rank 3", "mpi-ranks")
	ranks := parseAcross(t, got[0]).Ranks
	if len(ranks) != 2 || *ranks[0].Rank != 1 || *ranks[0].Inferior != 2 || ranks[0].State != "core" || *ranks[0].Call != "MPI_Recv" || ranks[0].Function != "exchange" ||
		*ranks[1].Rank != 3 || *ranks[1].Inferior != 1 || ranks[1].Call != nil || ranks[1].Function != "compute" {
		t.Errorf("mpi-ranks -json says\n%s", got[0])
	}
	if v := parseAcross(t, got[1]).Values; len(v) != 1 || v[0].Ranks != "1,3" || v[0].Value != "3" || *v[0].Number != 3 {
		t.Errorf("mpi-print -json says\n%s", got[1])
	}
	frames := parseAcross(t, got[2]).Frames
	if len(frames) != 6 || frames[0].Ranks != "1" || frames[0].Caller != nil || *frames[2].Caller != 1 || !frames[2].MPICall || *frames[2].Function != "MPI_Recv" || frames[2].Innermost != 1 {
		t.Errorf("mpi-stacks -json says\n%s", got[2])
	}
	if !regexp.MustCompile(`(?m)^  1 .*\n\* 3 `).MatchString(got[4]) {
		t.Errorf("after mpi-rank 3, mpi-ranks says\n%s", got[4])
	}
}

// Processes that were attached by hand, in the non-stop mode: those that run are said to.
func TestAcrossNonStop(t *testing.T) {
	t.Parallel()
	job := startAcross(t)
	s := work.StartSession(t, live.Nothing())
	s.Do("set non-stop on")
	for i := range 3 {
		if i > 0 {
			s.Do("add-inferior -no-connection")
			s.Do(fmt.Sprintf("inferior %d", i+1))
		}
		s.Do(fmt.Sprintf("attach %d", job.Accounts[i].PID))
	}
	row := func(rank int, state string) *regexp.Regexp {
		return regexp.MustCompile(fmt.Sprintf(`(?m)^[ *] %d +%d +%d +%s`, rank, rank+1, job.Accounts[rank].PID, state))
	}
	// gdb tells of the stop of each thread by itself.
	until := func(what string, rows ...*regexp.Regexp) (out string) {
		t.Helper()
		live.Until(t, what, func() bool {
			out = s.Do("mpi-ranks")
			for _, r := range rows {
				if !r.MatchString(out) {
					return false
				}
			}
			return true
		})
		return out
	}
	until("all ranks to be stopped", row(0, "stopped  MPI_Recv"), row(1, "stopped  MPI_Recv"), row(2, "stopped  MPI_Recv"))
	s.Do("inferior 2")
	s.Do("continue -a &")
	s.Do("inferior 1")
	s.Do("interrupt")
	until("rank 0 to be stopped and the others to run", row(0, "stopped  MPI_Recv"), row(1, "running"), row(2, "running"))
	s.Says("mpi-print last", "rank 0: 3", "ranks 1-2: running")
	s.Says("mpi-stacks", "rank 0\n", "  MPI_Recv\n", "ranks 1-2: running")
	s.Says("mpi-apply all -q bt 1", "#0  ", "running.")
	s.Says("mpi-rank 1", "[Switching to inferior 2 ", "(running)")
	s.Says("mpi-ranks", "* 1 ")
	s.Says("mpi-print last", "rank 0: 3", "ranks 1-2: running")
}

// What ranks have stopped for, and how they have ended.
func TestAcrossStates(t *testing.T) {
	t.Parallel()
	job := startAcross(t)
	s := work.StartSession(t, live.Nothing())
	s.Says(fmt.Sprintf("mpi-attach %d", job.Accounts[0].PID), "Attached 4 ranks")
	s.Do("set schedule-multiple on")
	s.Do("break " + acrossLine(t, "return signal + grid"))
	if err := syscall.Kill(job.Accounts[3].PID, syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	s.Says("continue", "hit Breakpoint 1")
	s.Says("mpi-ranks", "* 3     4         ", "  breakpoint 1  compute at ", "  stopped       MPI_Recv, called by exchange at ")
	s.Says("mpi-print signal", "rank 3: 10\n", "ranks 0-2: not in compute()")
	s.Says("mpi-rank 2", "[Switching to inferior 3 ")
	s.Says("detach")
	s.Says("mpi-ranks", "  2     -         ", "  not attached\n")
	s.Says("mpi-rank 2", "Rank 2 is not attached.")
	s.Says("mpi-rank 3", "[Switching to inferior 4 ")
	// The launcher may end the others now.
	live.Kill(t, job.Accounts[1].PID)
	live.Until(t, "rank 1 to end", func() bool { return live.HasEnded(job.Accounts[1].PID) })
	s.Says("mpi-ranks", "  1     2         ", "  exited\n")
	s.Says("mpi-print last", "ranks 0, 3: 3", "rank 1: exited")
	s.Says("mpi-stacks", "rank 1: exited")
	s.Says("mpi-rank 1", "Rank 1 has exited, which gdb has not seen yet.")
	s.Says("inferior 2")
	s.Do("set schedule-multiple off")
	s.Do("delete")
	s.Says("continue", "Program terminated with signal SIGKILL")
	s.Says("mpi-ranks", "* 1     2         ", "  killed by SIGKILL\n")
	s.Says("mpi-rank", "[Current rank is 1, which has exited (inferior 2)]")
	s.Says("mpi-stacks", "rank 1: killed by SIGKILL")
}

// Ctrl-C ends a command for all ranks, within one and between two.
func TestAcrossInterrupted(t *testing.T) {
	t.Parallel()
	job := startAcross(t)
	s := work.StartSession(t, live.Nothing())
	s.Says(fmt.Sprintf("mpi-attach %d", job.Accounts[0].PID), "Attached 4 ranks")
	s.Send(`mpi-apply all -q continue`)
	live.Until(t, "rank 0 to run", func() bool { return live.State(job.Accounts[0].PID) != 't' })
	s.Type("\x03")
	if out := s.Await(live.Prompt); !strings.Contains(out, "SIGINT") || !strings.Contains(out, "Quit") {
		t.Errorf("Ctrl-C while rank 0 runs: gdb says\n%s", out)
	}
	s.Says("mpi-rank", "[Current rank is 0 ")
	s.Says("mpi-ranks", "SIGINT")
	s.Send("mpi-apply all -q python print('begun'); [None for _ in iter(int, 1)]")
	s.Await("begun\r\n")
	s.Type("\x03")
	if out := s.Await(live.Prompt); strings.Contains(out, "begun") || !strings.Contains(out, "Quit") && !strings.Contains(out, "KeyboardInterrupt") {
		t.Errorf("Ctrl-C within a command: gdb says\n%s", out)
	}
	s.Says("mpi-rank", "[Current rank is 0 ")
}
