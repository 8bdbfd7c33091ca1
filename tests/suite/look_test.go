//go:build matrix || full

package suite

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// The ways to look, in a shell and in a gdb that stays.
const (
	running = "running"
	oneLook = "one look"
	halted  = "stopped"
	inGDB   = "gdb"
	once    = "gdb, once"
)

// ways are those of a shell.
var ways = []string{running, oneLook, halted}

// look looks once from a shell. A job that ends meanwhile, as only one that fails does, has no verdict.
func (s *looker) look(t *testing.T, j *job, way string, dice *rand.Rand) {
	t.Helper()
	began := time.Now()
	defer func() { s.spent[way] += time.Since(began) }()
	snapshot := filepath.Join(t.TempDir(), "snapshot.json")
	var held []int
	var err error
	if way == halted {
		held, err = j.stop()
	}
	asked := j.asked(dice, held)
	ask := []string{strconv.Itoa(asked)}
	var said string
	if way == oneLook {
		_, said, err = work.Try(t, "dump", "--job", "--json", "--internal", "--output", snapshot, ask[0])
		ask[0] = snapshot
	}
	var report []byte
	if err == nil {
		report, said, err = work.Try(t, append([]string{"report", "--json"}, ask...)...)
	}
	s.unchanged(t, j, way, held)
	if letRun(held); len(held) > 0 {
		s.unchanged(t, j, way, nil)
	}
	switch {
	case err == nil:
		s.judge(t, j, seen{way, report, snapshot})
	case j.ends(), isGone(asked): // a spawned process may end at any time
		s.count(way, "ended")
	case strings.Contains(said, "is inside MPI_Init"): // a spawned process that is a job of its own
		s.count(way, "starting")
	default:
		s.count(way, "error")
		t.Errorf("%s: %v\n%s", way, err, said)
	}
	isQuiet(t, way, said)
}

// isQuiet fails the test where the product speaks of a mistake of its own.
func isQuiet(t *testing.T, way, said string) {
	t.Helper()
	for _, bad := range []string{"Traceback", "Python Exception", "panic:", "failed on this process"} {
		if strings.Contains(said, bad) {
			t.Errorf("%s: it says %q:\n%s", way, bad, said)
		}
	}
}

// asked is the process that is named: the launcher, or any rank, the spawned ones included. Where
// processes are held, it is one of them: what has come since may get on.
func (j *job) asked(dice *rand.Rand, held []int) int {
	all := held
	if len(all) == 0 {
		all = j.processes()
	}
	all = append(slices.Clone(all), j.launcher.Process.Pid)
	return all[dice.IntN(len(all))]
}

// unchanged waits until those processes are stopped that were before a look, and no others.
// What was stopped stops anew once it is given a processor.
func (s *looker) unchanged(t *testing.T, j *job, way string, held []int) {
	t.Helper()
	if !live.Soon(func() bool {
		return j.hasEnded() || len(stopped(held)) == len(held) && (len(held) > 0 || len(stopped(j.processes())) == 0)
	}) {
		t.Errorf("%s: of the processes %v, %v are stopped after the look; before, %v were", way, j.processes(), stopped(j.processes()), held)
	}
}

// seen is what a look has shown: a report and, in ways that have one, the file that it is on.
type seen struct {
	way      string
	report   []byte
	snapshot string
}

// judge holds a report against its schema and the verdict against what the program is.
func (s *looker) judge(t *testing.T, j *job, l seen) {
	t.Helper()
	s.valid(t, s.schemas[1], l.report)
	if text, err := os.ReadFile(l.snapshot); err == nil { // not all ways have one
		s.valid(t, s.schemas[0], text)
	}
	r, err := expect.ParseReport(l.report)
	if err != nil {
		t.Error(err)
		return
	}
	s.count(l.way, r.Verdict)
	if r.Verdict == expect.Unknown && l.way == running {
		s.countReasons(r.Why)
		t.Logf("%s: %s", l.way, r.Why)
	}
	right := expect.Claim{Program: "right"}
	if !right.Allows(r.Verdict, l.way == running || l.way == inGDB) {
		t.Errorf("%s: the verdict is %q: %s", l.way, r.Verdict, r.Why)
	}
	if r.Verdict == expect.Deadlock {
		s.keep(t, j, l)
	}
}

func (s *looker) count(way, verdict string) {
	if s.verdicts[way] == nil {
		s.verdicts[way] = map[string]int{}
	}
	s.verdicts[way][verdict]++
}

// reason is what a verdict of "unknown" says of ranks: their call, and what of it is not known.
var reason = regexp.MustCompile(`waits? (?:in (\w+)(?: \([^)]*\))? ?|somewhere)(?:for rank \d+)?[^:]*: ([^.]*)\.`)

// countReasons counts what a verdict of "unknown" gives as its reasons.
func (s *looker) countReasons(why string) {
	found := reason.FindAllStringSubmatch(why, -1)
	if len(found) == 0 {
		s.reasons[why]++
	}
	for _, m := range found {
		s.reasons[m[1]+": "+m[2]]++
	}
}

// leastLooks is how many reports a share needs that says something.
const leastLooks = 50

// unknown is how many of the reports on what runs end in "unknown".
func (s *looker) unknown() (unknown, all int) {
	for verdict, n := range s.verdicts[running] {
		if slices.Contains([]string{"ended", "starting", "error"}, verdict) {
			continue // there is no verdict
		}
		n -= s.aside[verdict]
		all += n
		if verdict == expect.Unknown {
			unknown = n
		}
	}
	return unknown, all
}

// fewUnknown fails the test if more of them do than may.
func (s *looker) fewUnknown(t *testing.T) {
	t.Helper()
	if unknown, all := s.unknown(); all >= leastLooks && float64(unknown) > s.mpi.unknown*float64(all) {
		t.Errorf("%d of %d reports on what runs end in \"unknown\", and %.0f %% may", unknown, all, 100*s.mpi.unknown)
	}
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
func (s *looker) keep(t *testing.T, j *job, l seen) {
	t.Helper()
	folder, err := os.MkdirTemp("", "mpi-queues-suite-")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(l.snapshot)
	if err != nil {
		text, _, _ = work.Try(t, "dump", "--json", "--internal", strconv.Itoa(j.launcher.Process.Pid))
	}
	for name, content := range map[string][]byte{"report.json": l.report, "snapshot.json": text} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o644); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%s has the report, and a snapshot of the job (%s)", folder, l.way)
}
