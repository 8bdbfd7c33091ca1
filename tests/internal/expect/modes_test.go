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
	for _, program := range []string{"deadlock", "collective", "mistake", "moving"} {
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

func TestCompareReport(t *testing.T) {
	lines := map[string]int{"tag-recv": 5, "tag": 6}
	for _, c := range []struct{ replace, by, says string }{
		{"", "", ""},
		{`"verdict": "deadlock"`, `"verdict": "unknown"`, "the verdict is"},
		{`"ranks": [0, 1], "cycle"`, `"ranks": [0, 2], "cycle"`, "are deadlocked"},
		{`"waits_for": 0`, `"waits_for": 1`, "no circle"},
		{`"line": 6}]`, `"line": 7}]`, "is at"},
		{`"state": "deadlocked", "call": "MPI_Ssend"`, `"state": "stuck", "call": "MPI_Ssend"`, `is "stuck"`},
		{`"communicator": "MPI_COMM_WORLD", "file": "/a/mistake.c", "line": 6`, `"communicator": null, "file": "/a/mistake.c", "line": 6`, "the communicator is"},
		{`{"ranks": "1"`, `{"ranks": "0-1"`, "in two groups"},
		{`"kind": "tag"`, `"kind": "source"`, "is not there"},
		{`"kind": "tag"`, `"kind": "source"`, "a near miss that is none"},
		{`"missing_ranks": []`, `"missing_ranks": [2]`, "are missing"},
	} {
		r, err := ParseReport([]byte(strings.Replace(aReport, c.replace, c.by, 1)))
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(Find("mistake", "tag").Compare(r, lines), "\n")
		if c.says == "" && got != "" || !strings.Contains(got, c.says) {
			t.Errorf("with %s: %q, want %q", c.by, got, c.says)
		}
	}
}
