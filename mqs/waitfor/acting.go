package waitfor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// A thread outside MPI may call MPI, and so release the thread of its rank that waits there, or another rank. Programs that ask for
// MPI_THREAD_MULTIPLE often have such threads, such as those of a logger, a thread pool or a timer, and most of them never call MPI.
// So a job without a proven deadlock is analysed again without these threads. A deadlock found that way is reported only on the
// condition that none of them calls MPI.

// canAct reports whether a thread is outside of MPI and may go on by itself.
func canAct(p *mqs.Process, t *mqs.Thread) bool {
	return t.Call == "" && t.Placed && !waitsForThread(p, t)
}

// acting returns the threads of a process that can act while another one of its threads waits in an MPI call; none where the others
// may not call MPI meanwhile.
func acting(p *mqs.Process) []mqs.Thread {
	if p.ThreadMultiple == mqs.Known(false) || p.HasCrashed() || !isBlockedInCall(p) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(p.Threads), func(t mqs.Thread) bool { return !canAct(p, &t) })
}

// isBlockedInCall reports whether a thread of a process waits in an MPI call.
func isBlockedInCall(p *mqs.Process) bool {
	for i := range p.Threads {
		if t := &p.Threads[i]; t.Call != "" && behaviourOf(t) != goesOn {
			return true
		}
	}
	return false
}

// withoutActing returns a process without its threads that can act and those that wait for these, and p itself if it has none.
func withoutActing(p *mqs.Process) *mqs.Process {
	gone := acting(p)
	if len(gone) == 0 {
		return p
	}
	other := *p
	other.Threads = slices.Clone(p.Threads)
	for len(gone) > 0 {
		var behind []mqs.Thread
		isOneOf := func(number int) bool {
			return slices.ContainsFunc(gone, func(t mqs.Thread) bool { return t.Number == number })
		}
		other.Threads = slices.DeleteFunc(other.Threads, func(t mqs.Thread) bool {
			awaited := threadAwaitedBy(&t)
			if t.Call == "" && awaited.Known && isOneOf(awaited.Value) && !isOneOf(t.Number) {
				behind = append(behind, t)
				return true
			}
			return isOneOf(t.Number)
		})
		gone = behind
	}
	return &other
}

// idle returns a job, and the earlier processes, as if no thread that can act ever did; false if there are none.
func idle(s *mqs.Snapshot, past Past) (*mqs.Snapshot, Past, bool) {
	out := &mqs.Snapshot{Processes: make([]*mqs.Process, len(s.Processes))}
	is := false
	for i, p := range s.Processes {
		out.Processes[i] = withoutActing(p)
		is = is || out.Processes[i] != p
	}
	if !is {
		return nil, past, false
	}
	earlier := make(map[int]*mqs.Process, len(past.Earlier))
	for pid, p := range past.Earlier {
		earlier[pid] = withoutActing(p)
	}
	past.Earlier = earlier
	return out, past, true
}

// Outside returns, by thread number, for how many consecutive samples each thread of p has been outside MPI since p last made
// progress. before is p at the previous sample, and earlier is what Outside returned for it.
func Outside(p, before *mqs.Process, earlier map[int]int) map[int]int {
	var out map[int]int
	for i := range p.Threads {
		t := &p.Threads[i]
		if !canAct(p, t) {
			continue
		}
		if out == nil {
			out = map[int]int{}
		}
		out[t.Number] = 1
		if before != nil && !HasMoved(p, before) {
			out[t.Number] += earlier[t.Number]
		}
	}
	return out
}

// actingKey is what threads of several ranks do that is said of them together.
type actingKey struct {
	thread  int
	does    string
	samples int
}

// whyActing says which threads of ranks may act.
func (a *analysis) whyActing(s *mqs.Snapshot, isConcerned func(rank int32) bool) string {
	byKey := map[actingKey][]int32{}
	var order []actingKey
	for _, p := range s.Processes {
		if !p.GlobalRank.Known || !isConcerned(p.GlobalRank.Value) {
			continue
		}
		seen := Outside(p, a.past.Earlier[p.PID], a.past.Outside[p.PID])
		for _, t := range acting(p) {
			key := actingKey{t.Number, actingWords(&t), seen[t.Number]}
			if byKey[key] == nil {
				order = append(order, key)
			}
			byKey[key] = append(byKey[key], p.GlobalRank.Value)
		}
	}
	var out []string
	for i, key := range order {
		if i == maxReasons {
			out = append(out, fmt.Sprintf("There are %d more such threads.", len(order)-i))
			break
		}
		slices.Sort(byKey[key])
		text := fmt.Sprintf("Thread %d of %s %s", key.thread, rankWords(byKey[key]), key.does)
		if key.samples > 1 {
			text += fmt.Sprintf(", outside MPI in each of %d samples", key.samples)
		}
		out = append(out, text+".")
	}
	return strings.Join(out, " ")
}

// actingWords says what a thread does that can act, and where, as the rest of a sentence.
func actingWords(t *mqs.Thread) string {
	where := functionAt(t)
	if where != "" {
		where = " in " + where
	}
	switch t.Activity {
	case mqs.Sleeps:
		return "sleeps" + where
	case mqs.Computes:
		return "computes" + where
	case "":
		return "is" + cmp.Or(where, " at an unknown place")
	}
	return outsideWords(t) + where
}
