package verdicts

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/document"
	"github.com/mpi-queues/mpi-queues/mqs/liveness"
	"github.com/mpi-queues/mpi-queues/mqs/waitfor"
	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
)

var (
	update = flag.Bool("update", false, "write the files verdicts.txt")
	asLive = flag.Bool("as-live", false, "fail where a replayed report is not the one that was made live: right after a recording, by the same code")
)

// TestVerdicts checks that the report on each recorded job is what the mode's must be, and the one of the row's verdicts.txt:
// expect allows what a library need not record, and the file has what is known of this very recording.
func TestVerdicts(t *testing.T) {
	rows, err := Rows(".")
	if err != nil || len(rows) == 0 {
		t.Fatal(len(rows), err)
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			replayRow(t, name, row)
		})
	}
}

func replayRow(t *testing.T, name string, row *Row) {
	var parser document.Parser
	var mutex sync.Mutex
	said := map[string]string{}
	t.Cleanup(func() { compareSaid(t, filepath.Join(name, "verdicts.txt"), said) })
	archives, err := filepath.Glob(filepath.Join(name, "*.gz"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range archives {
		if ModeOf(path) == nil {
			t.Errorf("%s is of no mode", path)
		}
	}
	for i := range expect.Modes {
		m := &expect.Modes[i]
		mode := m.Program + " " + m.Name
		path := filepath.Join(name, File(m))
		expected := row.Expected(m)
		_, isLacking := row.Lacking[mode]
		switch _, err := os.Stat(path); {
		case err != nil && expected != nil && !isLacking:
			t.Errorf("%s is not recorded, and row.json does not say why", mode)
			continue
		case err == nil && (expected == nil || isLacking):
			t.Errorf("%s is recorded, although it can't be, or row.json says that it is not", mode)
			continue
		case err != nil:
			continue
		}
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			r, err := Open(path, &parser)
			if err != nil {
				t.Fatal(err)
			}
			checkKeys(t, r)
			checkNeutral(t, r)
			var all []string
			for n, take := range r.Takes {
				report, summary := replayTake(t, take)
				for _, difference := range expected.Compare(report, r.Lines) {
					t.Errorf("take %d: %s", n+1, difference)
				}
				if !slices.Contains(all, summary) {
					all = append(all, summary)
				}
				checkClaims(t, slices.Concat(m.Deadlocks, expected.Deadlocks), take)
			}
			mutex.Lock()
			defer mutex.Unlock()
			said[mode] = strings.Join(all, " | ")
		})
	}
}

// replayTake makes the report of a take anew, and a line that sums it up.
func replayTake(t *testing.T, take Take) (_ *expect.Report, summary string) {
	t.Helper()
	r, err := liveness.Replay(take.Samples)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := document.WriteReport(&text, r); err != nil {
		t.Fatal(err)
	}
	if *asLive && !bytes.Equal(text.Bytes(), take.Report) {
		t.Errorf("the replay says\n%sand the live report said\n%s", text.Bytes(), take.Report)
	}
	report, err := expect.ParseReport(text.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return report, summaryOf(report)
}

// checkClaims checks that no deadlock is claimed that is none: of each sample by itself, as by mpi-deadlock, of all of them, as if
// the ranks were on several machines, and as if no rank had run between them.
func checkClaims(t *testing.T, rings []expect.Ring, take Take) {
	t.Helper()
	for i, s := range take.Samples {
		checkClaim(t, rings, fmt.Sprintf("sample %d by itself", i), waitfor.Analyse(s.Snapshot))
	}
	r, err := liveness.ReplayFar(take.Samples)
	if err != nil {
		t.Fatal(err)
	}
	checkClaim(t, rings, "on several machines", r)
	r, err = liveness.Replay(frozen(take.Samples))
	if err != nil {
		t.Fatal(err)
	}
	isOfSeveral := slices.ContainsFunc(r.Deadlocks, func(d waitfor.Deadlock) bool { return len(d.Ranks) > 1 })
	if r.Verdict == waitfor.Deadlocked && isOfSeveral && !haveMoved(take.Samples) {
		t.Errorf("without any process having run between the samples: %s", r.Why)
	}
}

// frozen returns samples of a job whose processes have not run between them: what waits may have been sent what it waits for.
func frozen(samples []liveness.Sample) []liveness.Sample {
	out := slices.Clone(samples)
	for i := range out {
		out[i].Stopped, out[i].Left = samples[0].Left, samples[0].Left
	}
	return out
}

func checkClaim(t *testing.T, rings []expect.Ring, way string, r *waitfor.Report) {
	t.Helper()
	if r.Verdict != waitfor.Deadlocked {
		return
	}
	for _, d := range r.Deadlocks {
		isOne := slices.ContainsFunc(rings, func(ring expect.Ring) bool {
			return slices.EqualFunc(d.Ranks, ring.Ranks, func(a int32, b int) bool { return int(a) == b })
		})
		if !isOne {
			t.Errorf("%s: %v are called deadlocked: %s", way, d.Ranks, r.Why)
		}
	}
}

// checkKeys checks that the document of the first sample has no key that is not read any more: a renamed key would be unknown, and
// less would be known of the recorded jobs.
func checkKeys(t *testing.T, r *Recording) {
	t.Helper()
	var now bytes.Buffer
	if err := document.Write(&now, r.Takes[0].Samples[0].Snapshot); err != nil {
		t.Fatal(err)
	}
	read := keysOf(now.Bytes())
	for key := range keysOf(r.files["1/00.json"]) {
		if !read[key] {
			t.Errorf("the documents have a key %q, which is not read any more: rename it in the archives, too", key)
		}
	}
}

// keysOf returns the keys of a document.
func keysOf(text []byte) map[string]bool {
	keys := map[string]bool{}
	for {
		end := bytes.Index(text, []byte(`": `))
		if end < 0 {
			return keys
		}
		key := text[bytes.LastIndexByte(text[:end], '"')+1 : end]
		if !keys[string(key)] {
			keys[string(key)] = true
		}
		text = text[end+3:]
	}
}

// checkNeutral checks that a recording has no path of a home folder: tests/verdicts/record replaces them.
func checkNeutral(t *testing.T, r *Recording) {
	t.Helper()
	for name, text := range r.files {
		for _, home := range []string{"/root/", "/home/"} {
			if bytes.Contains(text, []byte(home)) {
				t.Errorf("%s has a path below %s", name, home)
			}
		}
	}
}

// haveMoved says whether a process has moved between two samples, and so has run.
func haveMoved(samples []liveness.Sample) bool {
	before := map[int]*mqs.Process{}
	for _, s := range samples {
		for _, p := range s.Processes {
			if then := before[p.PID]; then != nil && waitfor.HasMoved(p, then) {
				return true
			}
			before[p.PID] = p
		}
	}
	return false
}

// summaryOf is what a report claims, in a line: its verdict, its circles, the states of ranks, and its near misses with their culprits.
func summaryOf(r *expect.Report) string {
	parts := []string{r.Verdict}
	for _, d := range r.Deadlocks {
		circle := ""
		for _, w := range d.Cycle {
			circle += fmt.Sprintf("%d>", w.Rank)
		}
		if n := len(d.Cycle); n > 0 {
			circle += fmt.Sprint(d.Cycle[n-1].WaitsFor)
		}
		parts = append(parts, fmt.Sprintf("of %v by %s", d.Ranks, circle))
	}
	for _, g := range r.Groups {
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("%s %s %s", g.Ranks, g.State, g.Call)))
	}
	for _, n := range r.NearMisses {
		miss := fmt.Sprintf("%s %v", n.Kind, n.Ranks)
		if n.Mismatch != "" || len(n.Culprits) > 0 {
			miss += fmt.Sprintf(" %s by %v", n.Mismatch, n.Culprits)
		}
		parts = append(parts, miss)
	}
	return strings.Join(parts, "; ")
}

// compareSaid holds the summaries of a row against the file that has them, which -update writes.
func compareSaid(t *testing.T, path string, said map[string]string) {
	t.Helper()
	old := map[string]string{}
	text, err := os.ReadFile(path)
	if err != nil && !*update {
		t.Error(err)
	}
	for line := range strings.Lines(string(text)) {
		if mode, rest, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ": "); ok {
			old[mode] = rest
		}
	}
	var out strings.Builder
	for i := range expect.Modes {
		mode := expect.Modes[i].Program + " " + expect.Modes[i].Name
		now, isReplayed := said[mode]
		if !isReplayed { // -run has left it out, or it is not recorded
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), File(&expect.Modes[i]))); err != nil {
				continue
			}
			now = old[mode]
		}
		fmt.Fprintf(&out, "%s: %s\n", mode, now)
		if was := old[mode]; was != now && !*update {
			t.Errorf("%s: the report says\n  %s\nand %s has\n  %s", mode, now, path, was)
		}
	}
	if *update && out.String() != string(text) {
		if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
			t.Error(err)
		}
	}
}
