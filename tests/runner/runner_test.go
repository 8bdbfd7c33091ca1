package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestTurns checks that a week of runs of ci, each with the next day's seed, has all parts.
func TestTurns(t *testing.T) {
	seen := map[string]int{}
	for day := range 7 {
		t.Setenv("MPI_QUEUES_TEST_SEED", []string{"20785", "20786", "20787", "20788", "20789", "20790", "20791"}[day])
		p, err := newPlan([]string{ci})
		if err != nil {
			t.Fatal(err)
		}
		turns := 0
		for _, q := range p.parts {
			seen[q.name]++
			if q.takesTurns {
				turns++
			}
		}
		if turns > perRun {
			t.Errorf("day %d has %d parts that take turns", day, turns)
		}
	}
	for _, q := range parts {
		if q.isIn(ci) && seen[q.name] == 0 {
			t.Errorf("%s is never run", q.name)
		}
		if q.isIn(ci) && !q.takesTurns && seen[q.name] != 7 {
			t.Errorf("%s is run on %d days of 7", q.name, seen[q.name])
		}
	}
}

// TestLiveSamples checks that consecutive seeds choose all live tests, those of each run always.
func TestLiveSamples(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	names, err := liveNames()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for seed := range uint64(oneIn) {
		for _, name := range choose(names, seed) {
			seen[name]++
		}
	}
	for _, name := range names {
		want := 1
		if inEachRun.MatchString(name) {
			want = oneIn
		}
		if seen[name] != want {
			t.Errorf("%s is chosen by %d of %d seeds, want %d", name, seen[name], oneIn, want)
		}
	}
	for _, name := range []string{"TestPrograms", "TestDeadlocks", "TestRunningJobs", "TestReport"} {
		if !slices.Contains(names, name) {
			t.Errorf("%s is not among the live tests", name)
		}
	}
}

// TestKeys checks which files affect a part: those of its packages with their tables, and no others.
func TestKeys(t *testing.T) {
	root := t.TempDir()
	t.Chdir(root)
	for _, path := range []string{"go.mod", "mqs/a.go", "mqs/read/b.go", "mqs/read/tables/c.json", "mqs/other/d.go", "python/e.py", "README.md", "tests/matrix/results.json"} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile("go.mod", []byte("module example.com/m\ngo 1.24\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{"mqs/a.go": "package mqs\n", "mqs/other/d.go": "package other\n", "mqs/read/b.go": "package read\nimport _ \"example.com/m/mqs\"\n"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	files := newTree([]string{"go.mod", "mqs/a.go", "mqs/read/b.go", "mqs/read/tables/c.json", "mqs/other/d.go", "python/e.py", "README.md", "tests/matrix/results.json"})
	in := &inputs{files: []string{"python", "tests/matrix"}, packages: []string{"./mqs/read"}}
	key := func() string {
		t.Helper()
		k, err := files.key(in)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	before := key()
	for path, affects := range map[string]bool{
		"go.mod": true, "mqs/a.go": true, "mqs/read/b.go": true, "mqs/read/tables/c.json": true, "python/e.py": true,
		"mqs/other/d.go": false, "README.md": false, "tests/matrix/results.json": false,
	} {
		was, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		comment := "\n//\n"
		if err := os.WriteFile(path, append(slices.Clone(was), comment...), 0o644); err != nil {
			t.Fatal(err)
		}
		if (key() != before) != affects {
			t.Errorf("a change of %s: the part is affected: %v, want %v", path, !affects, affects)
		}
		if err := os.WriteFile(path, was, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOmitted checks that a part that has passed is left out until a file that affects it changes, and that a pass of a sample does
// not count for a run in whole.
func TestOmitted(t *testing.T) {
	s := &store{t.TempDir()}
	if err := os.Mkdir(filepath.Join(s.folder, "passed"), 0o755); err != nil {
		t.Fatal(err)
	}
	q := &part{name: "mpich"}
	if err := s.keep(q, pass{Key: "key"}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		key     string
		isWhole bool
		want    bool
	}{{"key", false, true}, {"other", false, false}, {"key", true, false}} {
		if _, ok := s.passed(q, c.key, c.isWhole); ok != c.want {
			t.Errorf("%+v: passed is %v", c, ok)
		}
	}
	if err := s.keep(q, pass{Key: "key", IsWhole: true}); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.passed(q, "key", true); !ok {
		t.Error("a pass in whole is not found")
	}
}

// log is what go test -v prints of two packages, the second one from its cache, and a test binary.
const log = `=== RUN   TestOne
    one_test.go:1: what a passed test says
--- PASS: TestOne (0.50s)
=== RUN   TestTwo
=== RUN   TestTwo/part
    two_test.go:2: what is wrong
    --- FAIL: TestTwo/part (1.50s)
--- FAIL: TestTwo (2.00s)
FAIL
FAIL	github.com/mpi-queues/mpi-queues/mqs/read	2.510s
--- PASS: TestThree (9.00s)
ok  	github.com/mpi-queues/mpi-queues/bridge	(cached)
--- SKIP: TestFour (0.00s)
PASS
`

// TestReadLog checks that each test gets its package and its time, and none if its result was cached.
func TestReadLog(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(file, []byte(log), 0o644); err != nil {
		t.Fatal(err)
	}
	tests, err := readLog(file, "live")
	if err != nil {
		t.Fatal(err)
	}
	want := []test{
		{"mqs/read TestOne", "PASS", 500 * time.Millisecond, true},
		{"mqs/read TestTwo/part", "FAIL", 1500 * time.Millisecond, true},
		{"mqs/read TestTwo", "FAIL", 2 * time.Second, false},
		{"bridge TestThree", "PASS", 0, true},
		{"live TestFour", "SKIP", 0, true},
	}
	if !slices.Equal(tests, want) {
		t.Errorf("got %+v", tests)
	}
	if passed, failed, skipped := counts(tests); passed != 2 || failed != 1 || skipped != 1 {
		t.Errorf("%d passed, %d failed, %d skipped", passed, failed, skipped)
	}
	text, err := failedOutput(file)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text, "passed test says") || !strings.Contains(text, "what is wrong") {
		t.Errorf("of failed tests is shown:\n%s", text)
	}
}

// TestStepEnds checks that a step which takes too long is ended with all that it has started.
func TestStepEnds(t *testing.T) {
	grace = 10 * time.Millisecond
	folder := t.TempDir()
	ready := filepath.Join(folder, "ready")
	st := &step{
		commands: [][]string{{"sh", "-c", "trap '' TERM; sleep 1000 & echo $! >" + ready + "; wait"}},
		limit:    time.Hour,
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for {
			if text, err := os.ReadFile(ready); err == nil && len(text) > 0 {
				cancel()
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	if err := st.run(ctx, filepath.Join(folder, "log"), os.Environ()); err == nil {
		t.Fatal("it is said to have passed")
	}
	text, err := os.ReadFile(ready)
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join("/proc", strings.TrimSpace(string(text)))); os.IsNotExist(err) {
			return
		}
		if stat, err := os.ReadFile(filepath.Join("/proc", strings.TrimSpace(string(text)), "stat")); err == nil && strings.Contains(string(stat), ") Z ") {
			return // nobody has waited for it yet
		}
		time.Sleep(time.Millisecond)
	}
}

// TestStretch checks that limits grow with what else runs on the machine, and are bounded.
func TestStretch(t *testing.T) {
	for load, want := range map[string]float64{
		"0.00 0.10 0.20 1/100 7": 1, "4.00 2.00 1.00 9/100 7": 1, "5 1 1 1/1 1": 4, "8.00 2.00 1.00 9/100 7": 8, "200.1 1 1 1/1 1": mostStretch,
		"": 1, "-1 0 0": 1,
	} {
		if got := stretchOf(load, 2); got != want {
			t.Errorf("%q: %v, want %v", load, got, want)
		}
	}
}

// TestOrder checks that a part starts after what it needs has been made, and not at all if that has failed.
func TestOrder(t *testing.T) {
	p := &plan{stretch: 1, parts: []*part{{name: "a", makes: [][]string{{"tests/mpich/build", "ch3"}}, commands: always([]string{"true"})}}}
	steps := p.steps(&store{t.TempDir()})
	if len(steps) != 2 || steps[0].name != "make-mpich-build-ch3" || steps[1].name != "a" {
		t.Fatalf("steps are %v", steps)
	}
	q := newQueue(steps)
	first := q.next()
	first.err = os.ErrInvalid
	second := make(chan *step)
	go func() { second <- q.next() }()
	q.finish(first)
	if err := (<-second).run(t.Context(), filepath.Join(t.TempDir(), "log"), nil); err == nil || !strings.Contains(err.Error(), "make-mpich-build-ch3") {
		t.Errorf("the part says %v", err)
	}
}
