//go:build matrix || full

package suite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// No program of the suite is called deadlocked, whenever it is looked at; it runs as before
// after each look, and ends with 0.
func TestSuite(t *testing.T) {
	seed := soak.seed
	if text := os.Getenv("MPI_QUEUES_TEST_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	if seed == 0 {
		seed = rand.Uint64N(1e9)
	}
	t.Logf("the same again: MPI_QUEUES_TEST_SEED=%d", seed)
	for _, mpi := range []struct {
		name string
		live.MPI
	}{{"Open MPI", live.OpenMPI}, {"MPICH", live.StockMPICH}} {
		t.Run(mpi.name, func(t *testing.T) {
			t.Parallel()
			s := &looker{
				mpi: mpi.MPI, tools: toolchain{t.TempDir(), mpi.Compiler}, random: rand.New(rand.NewPCG(seed, 0)),
				verdicts: map[string]map[string]int{}, schemas: schemas(t),
			}
			if err := s.tools.prepare(); err != nil {
				t.Fatal(err)
			}
			defer func() { t.Log("\n" + s.table(mpi.name)) }()
			s.all(t)
		})
	}
}

// looker looks at programs with one MPI.
type looker struct {
	mpi    live.MPI
	tools  toolchain
	random *rand.Rand
	// verdicts are counted by the way of the look, and the programs that are of no use by the reason.
	verdicts              map[string]map[string]int
	looked                int
	unbuilt, unfit, leaky []string
	// schemas are those of snapshots and of reports.
	schemas [2]*jsonschema.Schema
}

// The ways to look.
const (
	running = "running"
	oneLook = "one look"
	stopped = "stopped"
)

var ways = []string{running, oneLook, stopped}

// all looks at as many programs as are planned, in random order.
func (s *looker) all(t *testing.T) {
	list := programs(t)
	s.random.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
	for _, p := range list {
		if s.looked == soak.programs {
			return
		}
		// The dice are thrown before the program shows what it is good for.
		order, slow, moments := s.random.Perm(len(ways)), s.random.IntN(2) == 0, s.moments()
		name := p.folder + " " + p.name
		path, err := s.tools.build(p)
		if err != nil {
			s.unbuilt = append(s.unbuilt, name)
			continue
		}
		t.Run(name, func(t *testing.T) { s.program(t, p, path, order, slow, moments) })
		_ = os.Remove(path)
	}
	t.Errorf("of all programs, only %d can be looked at", s.looked)
}

// moments are how long the ranks run before each look.
func (s *looker) moments() []time.Duration {
	out := make([]time.Duration, len(ways))
	for i := range out {
		out[i] = time.Duration(s.random.Int64N(int64(100 * time.Millisecond)))
	}
	return out
}

// program looks at one program in all ways, if it ends well when it is left alone, and when it is long.
func (s *looker) program(t *testing.T, p program, path string, order []int, slow bool, moments []time.Duration) {
	name := p.folder + " " + p.name
	long := manner{preload: s.tools.path("again.so"), slow: slow}
	try := long
	try.most = 3
	for _, m := range []manner{{}, try} {
		if err := start(t, s.mpi, p, path, m).end(short); err != nil {
			s.unfit = append(s.unfit, name)
			return
		}
	}
	j := start(t, s.mpi, p, path, long)
	if !j.await(t, p.ranks) {
		s.unfit = append(s.unfit, name)
		return
	}
	s.looked++
	for i, way := range order {
		time.Sleep(moments[i])
		s.look(t, j, ways[way])
	}
	if err := os.WriteFile(filepath.Join(j.folder, "stop"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	err := j.end(patience)
	if err == nil {
		return
	}
	// What it leaks may be too much in the end, without anyone's looking too.
	alone := long
	alone.most = j.calls() + 2
	if other := start(t, s.mpi, p, path, alone).end(patience); other == nil {
		t.Errorf("after the looks, %v", err)
		return
	}
	s.leaky = append(s.leaky, name)
}

// look looks once. A job that ends meanwhile, as only one that fails does, has no verdict.
func (s *looker) look(t *testing.T, j *job, way string) {
	t.Helper()
	snapshot := filepath.Join(t.TempDir(), "snapshot.json")
	launcher := strconv.Itoa(j.launcher.Process.Pid)
	ask := []string{launcher}
	var said string
	var err error
	switch way {
	case oneLook:
		_, said, err = work.Try(t, "dump", "--json", "--internal", "--output", snapshot, launcher)
		ask[0] = snapshot
	case stopped:
		err = j.signal(syscall.SIGSTOP)
	}
	var report []byte
	if err == nil {
		report, said, err = work.Try(t, append([]string{"report", "--json"}, ask...)...)
	}
	want := 0
	if way == stopped {
		want = len(j.ranks)
	}
	// What was stopped before stops anew once it is given a processor.
	if !live.Soon(func() bool { return j.hasEnded() || len(j.stopped()) == want }) {
		t.Errorf("%s: of the processes %v, %v are stopped after the look, want %d", way, j.ranks, j.stopped(), want)
	}
	if way == stopped || j.hasEnded() {
		_ = j.signal(syscall.SIGCONT)
	}
	verdict := "ended"
	switch {
	case err == nil:
		verdict = s.judge(t, way, report, snapshot)
	case !j.ends():
		verdict = "error"
		t.Errorf("%s: %v\n%s", way, err, said)
	}
	for _, bad := range []string{"Traceback", "Python Exception", "panic:", "failed on this process"} {
		if strings.Contains(said, bad) {
			t.Errorf("%s: it says %q:\n%s", way, bad, said)
		}
	}
	t.Logf("%s: %s", way, verdict)
	if s.verdicts[way] == nil {
		s.verdicts[way] = map[string]int{}
	}
	s.verdicts[way][verdict]++
	if verdict == expect.Deadlock {
		s.keep(t, j, way, report, snapshot)
	}
}

// ends says whether the job is about to end, or has done so: a rank is gone.
func (j *job) ends() bool {
	return j.hasEnded() || slices.ContainsFunc(j.ranks, func(pid int) bool {
		state := live.State(pid)
		return state == 0 || state == 'Z'
	})
}

// judge holds a report against its schema and the verdict against what the program is.
func (s *looker) judge(t *testing.T, way string, report []byte, snapshot string) string {
	t.Helper()
	s.valid(t, s.schemas[1], report)
	if way == oneLook {
		text, err := os.ReadFile(snapshot)
		if err != nil {
			t.Fatal(err)
		}
		s.valid(t, s.schemas[0], text)
	}
	r, err := expect.ParseReport(report)
	if err != nil {
		t.Error(err)
		return "error"
	}
	right := expect.Claim{Program: "right"}
	if !right.Allows(r.Verdict, way == running) {
		t.Errorf("%s: the verdict is %q: %s", way, r.Verdict, r.Why)
	}
	return r.Verdict
}

func (s *looker) valid(t *testing.T, schema *jsonschema.Schema, text []byte) {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err == nil {
		err = schema.Validate(document)
	}
	if err != nil {
		t.Errorf("%v\nin:\n%.2000s", err, text)
	}
}

// keep writes down what there is to find out with why a verdict is wrong.
func (s *looker) keep(t *testing.T, j *job, way string, report []byte, snapshot string) {
	t.Helper()
	folder, err := os.MkdirTemp("", "mpi-queues-suite-")
	if err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(snapshot)
	if way != oneLook {
		text, _, _ = work.Try(t, "dump", "--json", "--internal", strconv.Itoa(j.launcher.Process.Pid))
	}
	for name, content := range map[string][]byte{"report.json": report, "snapshot.json": text} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o644); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%s has the report, and a snapshot of the job (%s)", folder, way)
}

// schemas are those of the product's documents.
func schemas(t *testing.T) (out [2]*jsonschema.Schema) {
	t.Helper()
	for i, name := range []string{"schema.json", "report-schema.json"} {
		text, err := os.ReadFile(filepath.Join(work.Root, "mqs", "render", name))
		if err != nil {
			t.Fatal(err)
		}
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource(name, document); err != nil {
			t.Fatal(err)
		}
		if out[i], err = c.Compile(name); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// table is what was seen.
func (s *looker) table(mpi string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d programs looked at", mpi, s.looked)
	for _, l := range []struct {
		what string
		list []string
	}{{"do not compile", s.unbuilt}, {"do not end well by themselves", s.unfit}, {"can't be called as often without a look either", s.leaky}} {
		fmt.Fprintf(&b, "; %d %s", len(l.list), l.what)
	}
	verdicts := map[string]bool{}
	for _, way := range ways {
		for v := range s.verdicts[way] {
			verdicts[v] = true
		}
	}
	fmt.Fprintf(&b, "\n%-28s", "verdict")
	for _, way := range ways {
		fmt.Fprintf(&b, "%10s", way)
	}
	for _, v := range slices.Sorted(maps.Keys(verdicts)) {
		fmt.Fprintf(&b, "\n%-28s", v)
		for _, way := range ways {
			fmt.Fprintf(&b, "%10d", s.verdicts[way][v])
		}
	}
	if lists, err := json.Marshal(map[string][]string{"unbuilt": s.unbuilt, "unfit": s.unfit, "leaky": s.leaky}); err == nil {
		fmt.Fprintf(&b, "\n%s", lists)
	}
	return b.String()
}
