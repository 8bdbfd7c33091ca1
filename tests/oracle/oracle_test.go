//go:build live || matrix || full

package oracle

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// Of each job that a seed makes, all that is shown must be so, and all that is so be shown,
// but for what the table lists.
func TestSeeds(t *testing.T) {
	t.Parallel()
	for _, b := range builds(t) {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			w, err := work.With(b.name, b.mpi)
			if err != nil {
				t.Fatal(err)
			}
			r := newRun(t, w, b)
			r.jobs(t, *first, *seeds, chosen(t))
			r.report(t)
			if len(r.failed) > 0 && *reduce && *items == "" {
				r.reduce(t, r.failed[0])
			}
		})
	}
}

// chosen are the items of the flag.
func chosen(t *testing.T) []int {
	t.Helper()
	var list []int
	for _, word := range strings.FieldsFunc(*items, func(c rune) bool { return c == ',' }) {
		i, err := strconv.Atoi(word)
		if err != nil {
			t.Fatalf("-items %s: %v", *items, err)
		}
		list = append(list, i)
	}
	return list
}

// run is what a build's seeds have shown.
type run struct {
	w      *live.Workspace
	build  build
	key    string           // of the build in the tables
	tables map[string]Table // by reader
	scores map[string]Score // by reader and way
	failed []int            // seeds
	said   map[string]int   // how often a kind of failure was seen
	kind   string           // the first
	layout string           // by which the first process was read
	quiet  bool
}

func newRun(t *testing.T, w *live.Workspace, b build) *run {
	t.Helper()
	file, err := os.Open("known.json")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	table, err := ParseTable(file)
	if err != nil {
		t.Fatal(err)
	}
	key := b.key(t)
	return &run{w: w, build: b, key: key, scores: map[string]Score{}, said: map[string]int{},
		tables: map[string]Table{"native": table.Of(key, "native"), "dll": table.Of(key, "dll")}}
}

// readers are what reads the queues.
func (r *run) readers() []string {
	if r.build.dll {
		return []string{"native", "dll"}
	}
	return []string{"native"}
}

// coreEvery is how many seeds have one core file, of each process in turn.
const coreEvery = 3

// jobs runs some seeds; one that does not end is the last of its job. Each job is a test of its
// own, so that its debuggers end with it.
func (r *run) jobs(t *testing.T, first, count int, items []int) {
	t.Helper()
	for next := first; next < first+count; {
		rest := blockSeeds - (next-1)%blockSeeds
		done := min(*each, rest, first+count-next)
		t.Run(fmt.Sprint(next), func(t *testing.T) { done = r.job(t, next, done, items) })
		next += done
	}
}

// job runs a job of some seeds, or of some items of one, and says how many it has come to.
func (r *run) job(t *testing.T, first, count int, items []int) int {
	t.Helper()
	args := []string{fmt.Sprint(first), fmt.Sprint(count), fmt.Sprint(r.children(first)), "1"}
	if r.build.single {
		args[3] = "0"
	}
	for _, i := range items {
		args = append(args, fmt.Sprint(i))
	}
	job := r.w.Launch(t, "tests/oracle/job/oracle.c", *ranks, r.build.flags, args...)
	d := newDebugger(t, r.w, job)
	for seed := first; seed < first+count; seed++ {
		folder := filepath.Join(job.Folder, fmt.Sprint(seed))
		job.Await(t, folder, *ranks)
		bad := append(r.processes(d), r.verdicts(d)...)
		if seed%coreEvery == 0 {
			bad = append(bad, r.core(d, seed/coreEvery%len(job.Accounts))...)
		}
		if len(bad) > 0 {
			r.failed = append(r.failed, seed)
			r.tell(t, seed, bad)
		}
		if job.Accounts[0].Endless {
			d.leave() // a launcher does not see the end of what a debugger has
			job.Kill(t)
			return seed - first + 1
		}
		if seed == first+count-1 {
			d.leave()
		} else {
			d.run()
		}
		if err := os.WriteFile(filepath.Join(folder, "next"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if status, output := job.End(t); status != 0 {
		t.Errorf("the job ended with %d:\n%s", status, output)
	}
	return count
}

// tell fails the test with what a seed has shown, once for each kind of it.
func (r *run) tell(t *testing.T, seed int, bad []string) {
	t.Helper()
	if !r.quiet {
		t.Fail()
	}
	for _, line := range bad {
		kind, text, _ := strings.Cut(line, "\t")
		if r.kind == "" {
			r.kind = kind
		}
		if r.said[kind]++; r.said[kind] == 1 && !r.quiet {
			t.Logf("seed %d, %s: %s", seed, kind, text)
		}
	}
}

func (r *run) report(t *testing.T) {
	t.Helper()
	for _, name := range sorted(r.scores) {
		t.Logf("%s, %d seeds, %s: %v", r.build.name, *seeds, name, r.scores[name])
		if *results == "" {
			continue
		}
		reader, way, _ := strings.Cut(name, ", ")
		r.build.write(t, Result{Reader: reader, Way: way, Layout: r.layout, Seeds: *seeds, Score: r.scores[name]})
	}
	for _, kind := range sorted(r.said) {
		t.Logf("%d times: %s", r.said[kind], kind)
	}
	for _, reader := range r.readers() {
		if r.build.isMeasured {
			break // nothing was promised of it
		}
		for _, line := range r.tables[reader].Broken() {
			t.Errorf("%s: %s", reader, line)
		}
		for _, line := range r.tables[reader].Shares() {
			t.Logf("%s: known in %s", reader, line)
		}
		for _, line := range r.tables[reader].Unused() {
			t.Logf("%s: nothing needed the entry: %s", reader, line)
		}
	}
	t.Logf("%d of %d seeds failed: %v", len(r.failed), *seeds, r.failed)
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
