//go:build full

package mutation

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// suites are the packages whose tests are to notice a mutant. Of tests/recordings and tests/verdicts these are the tests that have a
// test for each folder of recordings, by the pattern of their names.
var suites = []struct{ pack, above string }{
	{"mqs/transport/ofi", ""}, {"mqs/transport/psm", ""}, {"mqs/transport/ucx", ""}, {"mqs/transport", ""},
	{"mqs/openmpi/ompi", ""}, {"mqs/openmpi/ob1", ""}, {"mqs/openmpi/tagged", ""}, {"mqs/openmpi", ""},
	{"mqs/mpich/mpir", ""}, {"mqs/mpich/ch3", ""}, {"mqs/mpich/ch4", ""}, {"mqs/mpich/symbolless", ""}, {"mqs/mpich", ""}, {"mqs/callstack", ""},
	{"mqs/waitfor", ""}, {"mqs/read", ""}, {"mqs/recording", ""}, {"mqs/decoders", ""},
	{"tests/recordings", "^(TestReplays|TestHandles)$/"}, {"tests/recordings", "^TestLies$/"}, {"tests/verdicts", "^TestVerdicts$/"},
}

const (
	// patience is how much longer than without a mutant a run may take, and grace is added to it: a mutant that
	// runs on is noticed.
	patience = 20
	grace    = 20 * time.Second
	// memory is how much a run may have of it, in bytes: so is one that takes more and more.
	memory = 6 << 30
)

// suite is a test binary, and its tests.
type suite struct {
	pack, binary, folder string
	above                string // what the names of the tests are below, a pattern with its slash
	tests                []*quickTest
}

// quickTest is a test, and what it does without a mutant.
type quickTest struct {
	name    string
	took    time.Duration
	reaches map[int]bool // mutants
}

// start runs some of the tests, and returns why they fail.
func (s *suite) start(ctx context.Context, tests []*quickTest, env ...string) error {
	var names []string
	for _, q := range tests {
		names = append(names, regexp.QuoteMeta(q.name))
	}
	cmd := exec.CommandContext(ctx, "prlimit", "--as="+strconv.Itoa(memory), s.binary, "-test.short", "-test.failfast",
		"-test.run", s.above+"^("+strings.Join(names, "|")+")$")
	cmd.Dir = s.folder
	cmd.Env = append(append(os.Environ(), "MPI_QUEUES_TEST_WHOLE=1"), env...) // no test leaves to another day what notices a mutant
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out[:min(len(out), 4000)])
	}
	return nil
}

// buildSuites compiles the tests with all mutants, and finds out which of these each test comes to.
func buildSuites(t *testing.T, root, folder, overlay string) (all []*suite) {
	for _, of := range suites {
		pack := of.pack
		s := &suite{pack: pack, binary: filepath.Join(folder, strings.ReplaceAll(pack, "/", "_")+".test"), folder: filepath.Join(root, pack), above: of.above}
		build := exec.Command("go", "test", "-vet=off", "-c", "-overlay", overlay, "-o", s.binary, "./"+pack)
		build.Dir = root
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", pack, err, out)
		}
		if _, err := os.Stat(s.binary); err != nil {
			continue // it has no tests
		}
		reached, took := map[int]bool{}, time.Duration(0)
		for _, name := range s.list(t) {
			q := &quickTest{name: name}
			s.trace(t, q)
			if len(q.reaches) > 0 {
				s.tests, took = append(s.tests, q), took+q.took
			}
			for id := range q.reaches {
				reached[id] = true
			}
		}
		t.Logf("%d tests %sof %s come to %d mutants in %s", len(s.tests), s.above, pack, len(reached), took.Round(time.Millisecond))
		all = append(all, s)
	}
	return all
}

// list returns the names of the tests.
func (s *suite) list(t *testing.T) (names []string) {
	if s.above != "" {
		cases, err := fs.Glob(os.DirFS(s.folder), "*/case.json")
		rows, rowsErr := fs.Glob(os.DirFS(s.folder), "*/row.json") // of tests/verdicts
		if cases = append(cases, rows...); err != nil || rowsErr != nil || len(cases) == 0 {
			t.Fatal(cases, err, rowsErr)
		}
		for _, file := range cases {
			names = append(names, filepath.Dir(file))
		}
		return names
	}
	list := exec.Command(s.binary, "-test.list", "^(Test|Fuzz|Example)")
	list.Dir = s.folder
	out, err := list.Output()
	if err != nil {
		t.Fatalf("%s: %v", s.pack, err)
	}
	return strings.Fields(string(out))
}

// trace finds out what a test does without a mutant.
func (s *suite) trace(t *testing.T, q *quickTest) {
	file := s.binary + ".trace"
	begin := time.Now()
	if err := s.start(t.Context(), []*quickTest{q}, "MUTANT_TRACE="+file); err != nil {
		t.Fatalf("without a mutant, %s of %s: %v", q.name, s.pack, err)
	}
	q.took, q.reaches = time.Since(begin), map[int]bool{}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return
	} else if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		if id, err := strconv.Atoi(strings.TrimSpace(string(line))); err == nil {
			q.reaches[id] = true
		}
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
}

// run is some tests of a suite that come to a mutant, and how long they take without one.
type run struct {
	*suite
	tests []*quickTest
	took  time.Duration
}

// long is what a test may take that is run with the shorter ones.
const long = 300 * time.Millisecond

// reaching are the runs of the tests that come to a mutant, those that take the least time first.
func reaching(m mutant, all []*suite) (runs []run) {
	for _, s := range all {
		short := run{suite: s}
		for _, q := range s.tests {
			switch {
			case !q.reaches[m.id]:
			case q.took > long:
				runs = append(runs, run{s, []*quickTest{q}, q.took})
			default:
				short.tests, short.took = append(short.tests, q), short.took+q.took
			}
		}
		if len(short.tests) > 0 {
			runs = append(runs, short)
		}
	}
	slices.SortStableFunc(runs, func(a, b run) int { return cmp.Compare(a.took, b.took) })
	return runs
}

// isNoticed says whether some test fails with a mutant, of which package.
func isNoticed(ctx context.Context, m mutant, all []*suite) (by string) {
	for _, r := range reaching(m, all) {
		limited, cancel := context.WithTimeout(ctx, patience*r.took+grace)
		err := r.start(limited, r.tests, "MUTANT="+strconv.Itoa(m.id))
		cancel()
		if err != nil {
			return r.pack
		}
	}
	return ""
}
