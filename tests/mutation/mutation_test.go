//go:build full

package mutation

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

var (
	sample = flag.Int("mutants", 400, "how many mutants are tried, drawn at random")
	seed   = flag.Uint64("seed", 1, "of the drawing")
	ids    = flag.String("ids", "", "the numbers of those that are tried, with commas between them, and no others")
	only   = flag.String("only", "", "the beginning of the paths of the files whose mutants are tried")
)

// Of a hundred mutants the tests are to notice as many as target, which is said, and must notice as many as least: that is
// raised as they get better.
const (
	target = 85
	least  = 70
)

// mutated are the packages whose operators are changed.
var mutated = []string{"mqs/openmpi", "mqs/mpich", "mqs/transport", "mqs/waitfor"}

// suites are the packages whose tests are to notice it, those that take the least time first, and the tests of them that are
// run if not all are.
var suites = []struct{ pack, run string }{
	{"mqs/transport/ucx", ""}, {"mqs/transport", ""},
	{"mqs/openmpi/ompi", ""}, {"mqs/openmpi/ob1", ""}, {"mqs/openmpi/tagged", ""}, {"mqs/openmpi", ""},
	{"mqs/mpich/mpir", ""}, {"mqs/mpich/ch3", ""}, {"mqs/mpich/ch4", ""}, {"mqs/mpich/symbolless", ""}, {"mqs/mpich", ""},
	{"mqs/waitfor", ""},
	{"mqs/read", ""}, {"mqs/recording", ""}, {"mqs/decoders", ""}, {"tests/recordings", "TestReplays|TestHandles"},
}

// patience is how much longer than without a mutant a run may take, and grace is added to it: a mutant that
// runs on is noticed.
const (
	patience = 20
	grace    = 20 * time.Second
	// memory is how much a run may have of it, in bytes: so is one that takes more and more.
	memory = 6 << 30
)

// suite is a test binary, and what it does without a mutant.
type suite struct {
	name, binary, folder, run string
	took                      time.Duration
	reaches                   map[int]bool // mutants
}

// start runs the tests with a mutant, and returns why they fail.
func (s *suite) start(ctx context.Context, env ...string) error {
	args := []string{"--as=" + strconv.Itoa(memory), s.binary, "-test.short", "-test.failfast"}
	if s.run != "" {
		args = append(args, "-test.run", s.run)
	}
	cmd := exec.CommandContext(ctx, "prlimit", args...)
	cmd.Dir = s.folder
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out[:min(len(out), 4000)])
	}
	return nil
}

// buildSuites compiles the tests with all mutants, and finds out which of these they come to.
func buildSuites(t *testing.T, root, folder, overlay string) (all []*suite) {
	for _, p := range suites {
		s := &suite{name: p.pack, binary: filepath.Join(folder, strings.ReplaceAll(p.pack, "/", "_")+".test"), folder: filepath.Join(root, p.pack), run: p.run, reaches: map[int]bool{}}
		build := exec.Command("go", "test", "-vet=off", "-c", "-overlay", overlay, "-o", s.binary, "./"+p.pack)
		build.Dir = root
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", p.pack, err, out)
		}
		if _, err := os.Stat(s.binary); err != nil {
			continue // it has no tests
		}
		trace := s.binary + ".trace"
		if err := s.start(t.Context(), "MUTANT_TRACE="+trace); err != nil {
			t.Fatalf("without a mutant, %s: %v", p.pack, err)
		}
		begin := time.Now()
		if err := s.start(t.Context()); err != nil {
			t.Fatalf("without a mutant, %s: %v", p.pack, err)
		}
		s.took = time.Since(begin)
		text, err := os.ReadFile(trace)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			if id, err := strconv.Atoi(strings.TrimSpace(string(line))); err == nil {
				s.reaches[id] = true
			}
		}
		t.Logf("%s comes to %d mutants in %s", p.pack, len(s.reaches), s.took.Round(time.Millisecond))
		all = append(all, s)
	}
	return all
}

// isNoticed says whether some tests fail with a mutant, by which of them.
func isNoticed(ctx context.Context, m mutant, all []*suite) (by string) {
	for _, s := range all {
		if !s.reaches[m.id] {
			continue
		}
		limited, cancel := context.WithTimeout(ctx, patience*s.took+grace)
		err := s.start(limited, "MUTANT="+strconv.Itoa(m.id))
		cancel()
		if err != nil {
			return s.name
		}
	}
	return ""
}

// TestMutants changes operators of the decoders and of package waitfor, one at a time: the quick tests notice.
func TestMutants(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	overlay, mutants, err := overlay(root, folder, mutated)
	if err != nil {
		t.Fatal(err)
	}
	all := buildSuites(t, root, folder, overlay)
	t.Logf("%d mutants in all", len(mutants))
	mutants = slices.DeleteFunc(mutants, func(m mutant) bool {
		return !strings.HasPrefix(m.where, *only) || *ids != "" && !slices.Contains(strings.Split(*ids, ","), strconv.Itoa(m.id))
	})
	luck := rand.New(rand.NewPCG(*seed, 1))
	luck.Shuffle(len(mutants), func(i, j int) { mutants[i], mutants[j] = mutants[j], mutants[i] })
	mutants = mutants[:min(len(mutants), *sample)]
	noticed := map[string][2]int{} // by package: how many of how many
	total := 0
	for i, m := range mutants {
		if i%20 == 0 {
			t.Logf("%d of %d", i, len(mutants))
		}
		n := noticed[m.pack]
		n[1]++
		if by := isNoticed(t.Context(), m, all); by != "" {
			n[0]++
			total++
		} else {
			t.Logf("survives: %s", m)
		}
		noticed[m.pack] = n
	}
	for pack, n := range noticed {
		t.Logf("%s: %d of %d are noticed", pack, n[0], n[1])
	}
	score := 100 * float64(total) / float64(max(1, len(mutants)))
	t.Logf("%d of %d mutants are noticed: %.1f %%; the target of %d %% is %s", total, len(mutants), score, target,
		map[bool]string{true: "met", false: "missed"}[score >= target])
	if score < least {
		t.Errorf("that is less than %d %%", least)
	}
}
