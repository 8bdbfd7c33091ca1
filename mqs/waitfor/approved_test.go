package waitfor

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// What is said of each made-up job stands in testdata/reports, a file for each test: all of it, as somebody has read it and
// found it right. A change of a word, a rank or a count is seen there, and is looked at before -update writes it.

var update = flag.Bool("update", false, "write what is said now of the made-up jobs")

// approvals are the reports of one test.
type approvals struct {
	want, got map[string]string
	asked     map[string]int // how often, in one run of the test
}

var approved = struct {
	sync.Mutex
	tests map[string]*approvals
}{tests: map[string]*approvals{}}

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if *update {
		for test, a := range approved.tests {
			if err := a.write(test); err != nil {
				fmt.Fprintln(os.Stderr, err)
				code = 1
			}
		}
	}
	os.Exit(code)
}

// approve holds a report against the one that was found right, by the names of the test and of the case. Of one name there are
// as many as the test asks for, in their order.
func approve(t *testing.T, name string, r *Report) *Report {
	t.Helper()
	approved.Lock()
	defer approved.Unlock()
	test, of, _ := strings.Cut(t.Name(), "/")
	name = strings.TrimSpace(of + " " + name)
	a := approved.tests[test]
	if a == nil {
		a = readApprovals(t, test)
		approved.tests[test] = a
	}
	if a.asked[name]++; a.asked[name] == 1 {
		t.Cleanup(func() { delete(a.asked, name) })
	}
	place := name
	if n := a.asked[name]; n > 1 {
		place = strings.TrimSpace(fmt.Sprintf("%s %d", name, n))
	}
	a.got[place] = described(r)
	if got, want := a.got[place], a.want[place]; got != want && !*update {
		t.Errorf("what is said is\n%snot\n%s", got, want)
	}
	return r
}

func approvalsOf(test string) string { return filepath.Join("testdata", "reports", test+".txt") }

const heading = "=== "

func readApprovals(t *testing.T, test string) *approvals {
	t.Helper()
	a := &approvals{want: map[string]string{}, got: map[string]string{}, asked: map[string]int{}}
	text, err := os.ReadFile(approvalsOf(test))
	if err != nil && !*update {
		t.Fatal(err)
	}
	for _, part := range strings.Split(string(text), "\n"+heading) {
		name, rest, _ := strings.Cut(strings.TrimPrefix(part, heading), "\n")
		a.want[strings.TrimSpace(name)] = strings.TrimRight(rest, "\n") + "\n"
	}
	return a
}

func (a *approvals) write(test string) error {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(a.got)) {
		fmt.Fprintf(&b, "%s%s\n%s\n", heading, name, a.got[name])
	}
	if err := os.MkdirAll(filepath.Dir(approvalsOf(test)), 0o755); err != nil {
		return err
	}
	return os.WriteFile(approvalsOf(test), []byte(b.String()), 0o644)
}

// described is all of a report, for people to read.
func described(r *Report) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("%s: %s", r.Verdict, r.Why)
	if r.Moving {
		line("another look may show more")
	}
	for _, g := range r.Groups {
		line("%s %s: %s", Ranges(g.Ranks), g.State, g.Text)
	}
	for _, e := range r.Edges {
		words := fmt.Sprintf("%s for %s: %s", Ranges(r.Groups[e.From].Ranks), Ranges(r.Groups[e.To].Ranks), e.Text)
		if e.Class.Known {
			words += fmt.Sprintf(" (%s)", e.Class.Value)
		}
		if e.Count != 1 {
			words += fmt.Sprintf(", %d pairs", e.Count)
		}
		if e.InCycle {
			words += ", in a cycle"
		}
		line("wait %s", words)
	}
	for _, d := range r.Deadlocks {
		line("deadlock of %s", Ranges(d.Ranks))
		for _, w := range d.Cycle {
			class := "a call"
			if w.Class.Known {
				class = w.Class.Value.String()
			}
			line("  %d for %d: %s (%s), %s of %s at %s:%d", w.Rank, w.For, w.Operation, class, w.Call, w.Function, w.File, w.Line)
		}
	}
	for _, m := range r.NearMisses {
		line("%s %s: %s", m.Kind, Ranges(m.Ranks), m.Text)
	}
	for _, m := range r.Missing {
		line("missing %d: %s", m.Rank, m.Why)
	}
	for _, n := range r.Notes {
		line("note: %s", n)
	}
	if n := 0; r.WorldSize.Known {
		for _, g := range r.Groups {
			n += len(g.Ranks)
		}
		if int(r.WorldSize.Value) != n {
			line("%d ranks in all", r.WorldSize.Value)
		}
	} else {
		line("how many ranks there are is not known")
	}
	return b.String()
}
