package expect

import (
	"reflect"
	"strings"
	"testing"
)

// TestJudge checks when a report on a job that is still on its way to where it hangs fails a test at once, and when the next
// one is waited for.
func TestJudge(t *testing.T) {
	lines := map[string]int{"tag-recv": 5, "tag": 6}
	const right, cycle = `"verdict": "deadlock"`, `"deadlocks": [{"ranks": [0, 1], "cycle": [`
	for _, c := range []struct {
		name    string
		changes []string
		arrived bool
		want    Judgement
	}{
		{"what must be said", nil, false, Right},
		{"what must be said, again", nil, true, Right},
		{"unknown", []string{right, `"verdict": "unknown"`}, true, NotYet},
		{"undecided", []string{right, `"verdict": "undecided"`}, true, NotYet},
		{"no progress", []string{right, `"verdict": "no progress"`}, true, NotYet},
		{"no deadlock, while ranks are on their way", []string{right, `"verdict": "no deadlock"`}, false, NotYet},
		{"no deadlock of ranks that hang", []string{right, `"verdict": "no deadlock"`}, true, Wrong},
		{"a deadlock of another rank", []string{`"ranks": [0, 1], "cycle"`, `"ranks": [0, 2], "cycle"`}, false, Wrong},
		{"edges that form no cycle", []string{`"waits_for": 0`, `"waits_for": 1`}, false, Wrong},
		{"a deadlock of fewer ranks", []string{`"ranks": [0, 1], "cycle"`, `"ranks": [0], "cycle"`}, false, NotYet},
		{"a deadlock without a near miss that may come", []string{`"kind": "tag"`, `"kind": "source"`}, true, NotYet},
		{"a deadlock at another line", []string{`"line": 6}]`, `"line": 7}]`}, true, NotYet},
		{"a right circle, unless in transit", []string{right, `"verdict": "deadlock unless in transit"`}, true, NotYet},
		{"another circle, unless in transit", []string{right, `"verdict": "deadlock unless in transit"`, `"waits_for": 0`, `"waits_for": 1`}, false, NotYet},
		{"another circle of ranks that hang, unless in transit", []string{right, `"verdict": "deadlock unless in transit"`, `"waits_for": 0`, `"waits_for": 1`}, true, Wrong},
		{"another circle of ranks that poll", []string{right, `"verdict": "deadlock unless polling ends"`, cycle, strings.Replace(cycle, "[0, 1]", "[1, 2]", 1)}, true, Wrong},
	} {
		r, err := ParseReport([]byte(strings.NewReplacer(c.changes...).Replace(aReport)))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Find("mistake", "tag").Judge(r, lines, c.arrived); got != c.want || (err == nil) != (got == Right) {
			t.Errorf("%s: %d, want %d: %v", c.name, got, c.want, err)
		}
	}
}

// TestJudgeWithoutDeadlock checks that a deadlock is never waited away where the mode has none, or only a conditional one.
func TestJudgeWithoutDeadlock(t *testing.T) {
	r, err := ParseReport([]byte(aReport))
	if err != nil {
		t.Fatal(err)
	}
	for _, verdict := range []string{Unknown, NoProgress, UnlessPollingEnds, UnlessThreadActs} {
		m := *Find("mistake", "tag")
		m.Verdict = verdict
		if got, _ := m.Judge(r, nil, false); got != Wrong {
			t.Errorf("a deadlock instead of %q: %d", verdict, got)
		}
	}
}

// TestHasArrived checks that all ranks count as arrived only in their calls, at their lines.
func TestHasArrived(t *testing.T) {
	lines := map[string]int{"tag-recv": 5, "tag": 6}
	for _, c := range []struct {
		replace, by string
		want        bool
	}{
		{"", "", true},
		{`"ranks": "1", "state": "deadlocked", "call": "MPI_Ssend"`, `"ranks": "1", "state": "running", "call": "MPI_Barrier"`, false},
		{`"line": 6, "text"`, `"line": 8, "text"`, false},
		{`{"ranks": "1"`, `{"ranks": "2"`, false},
	} {
		r, err := ParseReport([]byte(strings.Replace(aReport, c.replace, c.by, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if got := Find("mistake", "tag").HasArrived(r, lines); got != c.want {
			t.Errorf("with %s: %v", c.by, got)
		}
	}
}

// TestEssence checks that reports are equal though they were made at different times, and differ where the job has moved.
func TestEssence(t *testing.T) {
	parse := func(changes ...string) Report {
		r, err := ParseReport([]byte(strings.NewReplacer(changes...).Replace(aReport)))
		if err != nil {
			t.Fatal(err)
		}
		return r.Essence()
	}
	if !reflect.DeepEqual(parse(), parse("They wait", "In 7 s, they wait", `"text": "a"`, `"text": "c"`)) {
		t.Error("reports differ in their words")
	}
	if reflect.DeepEqual(parse(), parse(`"line": 6, "text"`, `"line": 8, "text"`)) || reflect.DeepEqual(parse(), parse(`"verdict": "deadlock"`, `"verdict": "unknown"`)) {
		t.Error("another line, or verdict, makes no difference")
	}
}
