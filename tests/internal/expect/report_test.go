package expect

import (
	"strings"
	"testing"
)

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
