package expect

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The table and the programs are of the same modes, ranks and marks.
func TestModesAreTheProgramsOnes(t *testing.T) {
	entry := regexp.MustCompile(`(?m)^ +\{"([a-z-]+)", (\d), [a-z_]+(?:, true)?\},$`)
	var listed, used []string
	marked := map[string]bool{}
	for _, program := range []string{"deadlock", "collective", "mistake", "moving", "mismatch", "nonblocking", "threads", "polling", "ends", "onesided", "files"} {
		path := filepath.Join("..", "..", "programs", program+".c")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range entry.FindAllStringSubmatch(string(text), -1) {
			listed = append(listed, fmt.Sprint(program, " ", m[1], " ", m[2]))
		}
		marks, err := Marks(path)
		if err != nil {
			t.Fatal(err)
		}
		for mark := range marks {
			marked[program+" "+mark] = false
		}
	}
	for _, m := range Modes {
		used = append(used, fmt.Sprint(m.Program, " ", m.Name, " ", m.Ranks))
		var ranks []int
		for _, p := range m.Places {
			ranks = append(ranks, Ranks(p.Ranks)...)
			if _, ok := marked[m.Program+" "+p.Mark]; !ok && p.Call != "" {
				t.Errorf("%s has no mark @%s", m.Program, p.Mark)
			}
			marked[m.Program+" "+p.Mark] = true
		}
		slices.Sort(ranks)
		if got := slices.Compact(ranks); m.Verdict != Moves && len(got) != m.Ranks {
			t.Errorf("%s %s has places for the ranks %v", m.Program, m.Name, got)
		}
	}
	if !slices.Equal(listed, used) {
		t.Errorf("the programs have the modes\n  %s\nand the table\n  %s", strings.Join(listed, "\n  "), strings.Join(used, "\n  "))
	}
}

const aReport = `{"schema": 1, "verdict": "deadlock", "why": "They wait for each other.",
 "deadlocks": [{"ranks": [0, 1], "cycle": [
  {"rank": 0, "waits_for": 1, "operation": "receive from rank 1", "call": "MPI_Recv", "file": "/a/mistake.c", "line": 5},
  {"rank": 1, "waits_for": 0, "operation": "send to rank 0", "call": "MPI_Ssend", "file": "/a/mistake.c", "line": 6}]}],
 "groups": [
  {"ranks": "0", "state": "deadlocked", "call": "MPI_Recv", "communicator": "MPI_COMM_WORLD", "file": "/a/mistake.c", "line": 5, "text": "a"},
  {"ranks": "1", "state": "deadlocked", "call": "MPI_Ssend", "communicator": "MPI_COMM_WORLD", "file": "/a/mistake.c", "line": 6, "text": "b"}],
 "near_misses": [{"kind": "tag", "text": "Ranks 0 and 1 differ.", "ranks": [0, 1]}],
 "missing_ranks": []}`
