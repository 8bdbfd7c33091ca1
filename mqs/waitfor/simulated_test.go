package waitfor

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/waitfor/internal/simulate"
)

// moment is a job that is being looked at, what the simulator knows of it and what was said.
type moment struct {
	*simulate.State
	report   *Report
	snapshot *mqs.Snapshot
	past     Past
	// hidden says what was taken away from the snapshot, empty if nothing was.
	hidden string
	// may says which ranks may get on, as far as anybody could know.
	may []bool
}

// hung are the ranks that a report says to be deadlocked, or stuck behind a deadlock.
func hung(r *Report) []bool {
	var out []bool
	for _, g := range r.Groups {
		for _, rank := range g.Ranks {
			out = append(out, make([]bool, max(0, int(rank)+1-len(out)))...)
			out[rank] = g.State == InDeadlock || g.State == Stuck
		}
	}
	return out
}

// disagrees says in what the report and the simulator disagree, empty if in nothing.
func (m *moment) disagrees(rng *rand.Rand) string {
	said := hung(m.report)
	if claimsDeadlock(m.report) != slices.Contains(said, true) {
		return "the verdict and the ranks' states differ"
	}
	switch m.report.Verdict {
	case Deadlocked:
		return m.canMove(rng, said)
	case DeadlockedUnless:
		if m.IsSettled() { // nothing is in transit
			return m.canMove(rng, said)
		}
	case DeadlockedUnlessThreadActs:
		if m.IsSettled() {
			may := m.Settle(rng.IntN).ReleasableByCalls(true)
			for rank, is := range said {
				if is && may[rank] {
					return fmt.Sprintf("rank %d is said to be deadlocked unless a thread acts, and may get on", rank)
				}
			}
		}
	case HeldUp:
		if m.IsSettled() {
			may := m.Settle(rng.IntN).ReleasableInside(true)
			for _, g := range m.report.Groups {
				for _, rank := range g.Ranks {
					if g.State == Waiting && may[rank] {
						return fmt.Sprintf("rank %d is said to be held up, and may get on before a rank outside MPI acts", rank)
					}
				}
			}
		}
	case NoDeadlock, Undecided, NoProgress:
		// What is on its way is taken for what is waited for. The last two claim nothing if something is hidden.
		if !m.IsSettled() || m.hidden != "" && m.report.Verdict != NoDeadlock {
			return ""
		}
		for rank, may := range m.may {
			if !may && !m.Gone(rank) {
				return fmt.Sprintf("rank %d is deadlocked, and nothing is said of it", rank)
			}
		}
	}
	return ""
}

// canMove says whether one of these ranks can get on.
func (m *moment) canMove(rng *rand.Rand, ranks []bool) string {
	for range 2 {
		may := m.Settle(rng.IntN).Releasable(true)
		for rank, is := range ranks {
			if is && may[rank] {
				return fmt.Sprintf("rank %d is said to be deadlocked, and may get on", rank)
			}
		}
	}
	return ""
}

// misses says what a report has to say of a job of which all is known, and does not.
func (m *moment) misses() string {
	said := hung(m.report)
	want := DeadlockedUnless
	if m.Job.CountsMessages && !m.past.Again {
		want = Deadlocked
	}
	for rank, may := range m.may {
		switch {
		case may || m.Gone(rank):
		case !said[rank] && (want == Deadlocked || m.report.Verdict != Deadlocked): // a proved one may leave others open
			return fmt.Sprintf("rank %d is deadlocked, which is not said", rank)
		case m.report.Verdict != Deadlocked && m.report.Verdict != want:
			return fmt.Sprintf("this is %q", want)
		}
	}
	return ""
}

// tally counts what was tried.
type tally map[string]int

// trial makes a job run by chance, and looks at it twice. It returns in what the analysis and
// the simulator disagree, with the moment, empty if in nothing.
func trial(job *simulate.Job, seed uint64, count tally) (string, *moment) {
	rng := rand.New(rand.NewPCG(seed, 5))
	s := simulate.Start(job)
	length := 1000
	if rng.IntN(2) == 0 {
		length = rng.IntN(60)
	}
	s.Run(rng, length)
	again := job.CountsBeforeMatching || rng.IntN(2) == 0
	m := look(s, Past{Again: again})
	if text := m.judge(rng, count); text != "" {
		return text, m
	}
	first, before := m.snapshot, slices.Clone(m.may)
	ran := make([]bool, len(job.Ranks))
	all := rng.IntN(2) == 0
	for i := range ran {
		ran[i] = all || rng.IntN(3) > 0
	}
	s.Between(rng, func(rank int32) bool { return ran[rank] }, rng.IntN(20))
	past := Past{Looks: 1, Again: again, Earlier: map[int]*mqs.Process{}, Ran: map[int]bool{}}
	for rank, has := range ran {
		past.Earlier[simulate.PID(rank)] = first.Processes[rank]
		past.Ran[simulate.PID(rank)] = has
	}
	left := s.Left()
	m = look(s, past)
	if text := m.judge(rng, count); text != "" {
		return text, m
	}
	// What is deadlocked stays so, however the job goes on.
	s.Run(rng, 1000)
	for rank, n := range s.Left() {
		if n != left[rank] && (!m.may[rank] || !before[rank]) {
			return fmt.Sprintf("the simulator's rank %d was deadlocked and has got on", rank), m
		}
	}
	if text := look(s, Past{}).judge(rng, count); !job.CountsBeforeMatching && text != "" {
		return "at the end: " + text, look(s, Past{})
	}
	return "", nil
}

// look looks at a job.
func look(s *simulate.State, past Past) *moment {
	m := &moment{State: s, snapshot: s.Snapshot(), past: past, may: s.Releasable(false)}
	m.report = AnalyseLive(m.snapshot, past)
	return m
}

// judge holds a look against the simulator, and another that has less to see.
func (m *moment) judge(rng *rand.Rand, count tally) string {
	count[string(m.report.Verdict)]++
	if slices.Contains(m.may, false) && m.report.Verdict != NoDeadlock {
		count["hang"]++
	}
	if text := m.disagrees(rng); text != "" {
		return text
	}
	if m.IsPlain() && m.IsSettled() {
		count["plain"]++
		if text := m.misses(); text != "" {
			return text
		}
	}
	less := &made{Snapshot: m.snapshot}
	less = less.clone()
	var hidden []string
	for range 1 + rng.IntN(3) {
		if len(less.Processes) > 0 {
			hidden = append(hidden, lessens[rng.IntN(len(lessens))](rng, less))
		}
	}
	l := *m
	l.snapshot, l.hidden = less.Snapshot, strings.Join(hidden, ", ")
	l.report = AnalyseLive(l.snapshot, l.past)
	count["less: "+string(l.report.Verdict)]++
	if text := l.disagrees(rng); text != "" {
		*m = l
		return text
	}
	return ""
}

func (m *moment) String() string {
	text := describe(&made{Snapshot: m.snapshot})
	if len(m.past.Ran) > 0 {
		text += fmt.Sprintf("after a look, ran %v\n", m.past.Ran)
	}
	return fmt.Sprintf("again %v, hidden: %s\n%s%q %s %s\n%s\nmay get on: %v", m.past.Again, m.hidden, text, m.report.Verdict, states(m.report), cycles(m.report), m.report.Why, m.may)
}

// Many made-up jobs run by the rules of MPI, and whatever the analysis says of them is so.
func TestAgainstPrograms(t *testing.T) {
	jobs := 3000
	if testing.Short() {
		jobs /= 3
	}
	againstPrograms(t, jobs, 1)
}

// kind is a disagreement without its ranks.
func kind(text string) string {
	return strings.Map(func(c rune) rune {
		if c >= '0' && c <= '9' {
			return -1
		}
		return c
	}, text)
}

func againstPrograms(t *testing.T, jobs int, seed uint64) {
	count := tally{}
	for i := range jobs {
		at := seed<<32 + uint64(i)
		job := simulate.Generate(rand.New(rand.NewPCG(at, 4)))
		text, m := trial(job, at, count)
		if text == "" {
			continue
		}
		// A smaller job, which may take another schedule.
		fails := func(j *simulate.Job) bool {
			for k := range uint64(60) {
				if found, at := trial(j, k, tally{}); kind(found) == kind(text) {
					text, m = found, at
					return true
				}
			}
			return false
		}
		small := simulate.Reduce(job, fails)
		fails(small)
		t.Fatalf("job %d: %s\n%s%s", at, text, small, m)
	}
	t.Log(count)
	for _, v := range []Verdict{Deadlocked, DeadlockedUnless, DeadlockedUnlessThreadActs, HeldUp, NoDeadlock, NoProgress, Undecided, Unknown} {
		if count[string(v)] < jobs/50 {
			t.Errorf("too few jobs are %q", v)
		}
	}
	if count["plain"] < jobs || count["hang"] < jobs/2 {
		t.Errorf("of too few jobs all is known, or too few hang")
	}
}

// What is said of jobs that run by chance, at two looks and of less than there is to see: of the verdicts the simulator knows
// that they are right, and of the words somebody has read that they say it.
func TestWordsOnPrograms(t *testing.T) {
	lessens := newLessens()
	var all []txtar.File
	add := func(r *Report, format string, args ...any) {
		all = append(all, txtar.File{Name: fmt.Sprintf(format, args...), Data: []byte(described(r) + "\n")})
	}
	for i := range uint64(120) {
		job := simulate.Generate(rand.New(rand.NewPCG(i, 6)))
		rng := rand.New(rand.NewPCG(i, 7))
		s := simulate.Start(job)
		s.Run(rng, rng.IntN(80))
		past := Past{Again: job.CountsBeforeMatching}
		first := look(s, past)
		s.Between(rng, func(rank int32) bool { return rank != 1 }, rng.IntN(20))
		past.Looks, past.Earlier, past.Ran = 1, map[int]*mqs.Process{}, map[int]bool{}
		for rank := range job.Ranks {
			past.Earlier[simulate.PID(rank)], past.Ran[simulate.PID(rank)] = first.snapshot.Processes[rank], rank != 1
		}
		second := look(s, past)
		add(second.report, "job %03d", i)
		less := (&made{Snapshot: second.snapshot}).clone()
		hidden := lessens[rng.IntN(len(lessens))](rng, less)
		add(AnalyseLive(less.Snapshot, past), "job %03d, hidden: %s", i, hidden)
	}
	approveAll(t, "programs.txtar", all)
}
