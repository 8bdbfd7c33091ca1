package result

import (
	"path/filepath"
	"slices"
	"testing"
)

var (
	openMPI = Result{MPI: "Open MPI 5", Build: "stripped", Debugger: "gdb 2", Layout: "table", Check: "live", Outcome: "equal", Date: "2026-11-27"}
	mpich   = Result{MPI: "MPICH 4", Build: "stripped", Debugger: "gdb 2", Layout: "–", Check: "live", Outcome: "says why not"}
)

// TestTable checks that results of one row share it, that a failure is shown, and that checks which were not made are dashes.
func TestTable(t *testing.T) {
	dll := openMPI
	dll.Check, dll.Outcome, dll.Date = "own DLL", "known differences", "2026-11-28"
	failed := dll
	failed.Failed = true
	want := `| MPI | build | debugger | read by | live | core file | gdbserver | its own DLL | its own tests | DAP | last run |
|---|---|---|---|---|---|---|---|---|---|---|
| MPICH 4 | stripped | gdb 2 | – | says why not | – | – | – | – | – | – |
| Open MPI 5 | stripped | gdb 2 | table | equal | – | – | FAILED; known differences | – | – | 2026-11-28 |
`
	if got := Table([]Result{openMPI, dll, openMPI, failed, mpich, {Part: "live", Tests: 7}}); got != want {
		t.Errorf("got:\n%s", got)
	}
}

// TestKeep checks that a run of a part replaces the results of that part and of no other.
func TestKeep(t *testing.T) {
	file := filepath.Join(t.TempDir(), "results.json")
	for _, run := range []struct {
		part, date string
		tests      int
		results    []Result
	}{
		{"live", "2026-11-01", 5, []Result{openMPI, mpich}},
		{"stock", "2026-11-02", 6, []Result{mpich, mpich}},
		{"live", "2026-11-03", 7, []Result{openMPI}},
		{"fuzz", "2026-11-03", 8, nil},
	} {
		if err := Keep(file, run.part, run.date, "abc", run.tests, run.results); err != nil {
			t.Fatal(err)
		}
	}
	first, second := openMPI, mpich
	first.Part, first.Date, first.Commit = "live", "2026-11-03", "abc"
	second.Part, second.Date, second.Commit = "stock", "2026-11-02", "abc"
	got, err := Kept(file)
	want := []Result{
		{Part: "fuzz", Date: "2026-11-03", Commit: "abc", Tests: 8}, {Part: "live", Date: "2026-11-03", Commit: "abc", Tests: 7}, first,
		{Part: "stock", Date: "2026-11-02", Commit: "abc", Tests: 6}, second,
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	const table = `| part | tests that passed | last run | commit |
|---|---|---|---|
| fuzz | 8 | 2026-11-03 | abc |
| live | 7 | 2026-11-03 | abc |
| stock | 6 | 2026-11-02 | abc |
`
	if got := Parts(got); got != table {
		t.Errorf("the table is:\n%s", got)
	}
}

// TestDifferences checks that a row with another outcome or layout is reported, and one with other versions or of which nothing is
// kept is not.
func TestDifferences(t *testing.T) {
	kept := Result{MPI: "Open MPI 6.0.0rc2", Build: "Debian forky/sid", Debugger: "gdb 18.1, Python 3.14", Check: "live", Outcome: "equal", Part: "forky"}
	for _, c := range []struct {
		change func(*Result)
		isNew  bool
	}{
		{func(*Result) {}, false},
		{func(r *Result) { r.MPI, r.Debugger = "Open MPI 6.0.1", "gdb 18.2, Python 3.14" }, false},
		{func(r *Result) { r.Outcome = "known differences" }, true},
		{func(r *Result) { r.Layout = "DWARF" }, true},
		{func(r *Result) { r.Build = "Ubuntu" }, false},
		{func(r *Result) { r.Check = "core" }, false},
	} {
		got := kept
		c.change(&got)
		if differences := Differences([]Result{kept}, "forky", []Result{got, got}); len(differences) != map[bool]int{true: 1}[c.isNew] {
			t.Errorf("%+v: %q", got, differences)
		}
	}
	other := kept
	other.Outcome = "known differences"
	if len(Differences([]Result{kept}, "trixie", []Result{other})) != 0 {
		t.Error("a result of another part counts")
	}
}
