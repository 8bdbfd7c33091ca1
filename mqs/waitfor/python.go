package waitfor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// pythonNotes returns sentences on the ranks that are in a garbage collection of Python, and on those whose Python has no global
// interpreter lock.
func pythonNotes(of map[int32]*mqs.Process, ranks []Rank) []string {
	var out []string
	var lockless []int32
	collections := 0
	for _, r := range ranks {
		p := of[r.Rank]
		if lacksGIL(p) {
			lockless = append(lockless, r.Rank)
		}
		text := collectionWords(r.Rank, p)
		if text == "" {
			continue
		}
		switch collections++; {
		case collections <= maxReasons:
			out = append(out, text)
		case collections == maxReasons+1:
			out = append(out, "There are more ranks in garbage collections of Python.")
		}
	}
	if len(lockless) > 0 {
		out = append(out, fmt.Sprintf("%s %s a Python without a global interpreter lock (GIL), so no thread waits for that lock.",
			capital(rankWords(lockless)), verb(lockless, "runs", "run")))
	}
	return out
}

// collectionWords says which of a rank's threads is in a garbage collection of Python, as a sentence. It is empty if none is.
func collectionWords(rank int32, p *mqs.Process) string {
	var candidates []string
	for i := range p.Threads {
		t := &p.Threads[i]
		if t.Collection == "" {
			continue
		}
		where := ""
		switch {
		case t.Call != "" && at(t) != "":
			where = fmt.Sprintf(" (in %s, %s)", t.Call, at(t))
		case t.Call != "":
			where = fmt.Sprintf(" (in %s)", t.Call)
		case at(t) != "":
			where = fmt.Sprintf(" (at %s)", at(t))
		}
		switch t.Collection {
		case mqs.InCollection:
			began := ""
			if place := place("", t.CollectionFile, t.CollectionLine); place != "" {
				began = " that began at " + place
			}
			return fmt.Sprintf("Thread %d of rank %d%s is in a garbage collection of Python%s.", t.Number, rank, where, began)
		case mqs.MayBeInOne:
			candidates = append(candidates, fmt.Sprintf("thread %d%s", t.Number, where))
		}
	}
	if len(candidates) == 0 {
		return ""
	}
	return fmt.Sprintf("Rank %d is in a garbage collection of Python. Which thread runs it is unknown; it may be %s.", rank, strings.Join(candidates, " or "))
}

// lacksGIL reports whether several threads of a process run Python without a global interpreter lock, and one of them waits outside MPI.
func lacksGIL(p *mqs.Process) bool {
	var without []*mqs.Thread
	for i := range p.Threads {
		if t := &p.Threads[i]; t.GIL == mqs.Known(false) {
			without = append(without, t)
		}
	}
	return len(without) > 1 && slices.ContainsFunc(without, func(t *mqs.Thread) bool {
		return t.Call == "" && (t.Activity == mqs.Sleeps || isHeld(p, t))
	})
}
