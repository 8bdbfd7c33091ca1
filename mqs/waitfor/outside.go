package waitfor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// A thread outside of MPI that waits for another thread of its rank, as for the end of that one or for a lock that
// it holds, can do nothing before that one does: such threads release no rank. What else threads wait for outside
// of MPI may end by itself, or never: nobody here knows.

// threadAwaitedBy returns the number of the thread for which a thread in no MPI call waits. It is not known of one that
// waits for whichever thread of its OpenMP team.
func threadAwaitedBy(t *mqs.Thread) mqs.Maybe[int] {
	switch t.Activity {
	case mqs.Joins:
		return t.Joined
	case mqs.Locks:
		return t.Holder
	}
	return mqs.Maybe[int]{}
}

// waitsForThread says whether a thread in no MPI call waits for another of the process, and can do nothing before that
// one does. A thread that is not listed may do anything.
func waitsForThread(p *mqs.Process, t *mqs.Thread) bool {
	if other := threadAwaitedBy(t); other.Known {
		return slices.ContainsFunc(p.Threads, func(o mqs.Thread) bool { return o.Number == other.Value })
	}
	return t.Activity == mqs.Joins || t.Activity == mqs.Teams || t.Activity == mqs.Waits
}

// isHeld says whether a thread in no MPI call waits for somebody or something outside of MPI.
func isHeld(p *mqs.Process, t *mqs.Thread) bool {
	switch t.Activity {
	case mqs.Joins, mqs.Teams, mqs.Waits, mqs.Blocks, mqs.Locks, mqs.UsesGPU, mqs.UsesFile, mqs.InKernel:
		return true
	case mqs.Computes, "":
		// A page that a file has to bring looks like a loop. The state is that of the first thread.
		return p.State == mqs.Uninterruptible && t == &p.Threads[0]
	}
	return false
}

// areClosed says whether all threads of a process are known to wait for others of these, so that none ever goes on.
func areClosed(p *mqs.Process) bool {
	return len(p.Threads) > 0 && !slices.ContainsFunc(p.Threads, func(t mqs.Thread) bool {
		return t.Call != "" || !t.Placed || !threadAwaitedBy(&t).Known || !waitsForThread(p, &t)
	})
}

// waitsAmongThreads are the waits of a rank whose threads wait for each other only: for the rank itself.
func waitsAmongThreads(rank int32, p *mqs.Process) []wait {
	var out []wait
	for i := range p.Threads {
		t := &p.Threads[i]
		out = append(out, wait{thread: t, all: true, what: threadWords(t), deps: []dependency{{rank: rank}}})
	}
	return out
}

// threadWords says for what a thread waits that waits for another one: "the lock that thread 3 holds".
func threadWords(t *mqs.Thread) string {
	if t.Activity == mqs.Joins {
		return fmt.Sprintf("the end of thread %d", t.Joined.Value)
	}
	if t.Holder.Value == t.Number {
		return "a lock that it holds itself"
	}
	return t.HeldLock()
}

// outsideWords says for what a thread waits outside of MPI, as the rest of a sentence: "waits for a GPU
// (cudaStreamSynchronize)".
func outsideWords(t *mqs.Thread) string {
	text := map[mqs.Activity]string{mqs.Joins: "waits for another thread to end", mqs.Teams: "waits for its OpenMP team", mqs.Waits: "waits for another thread", mqs.Locks: "waits for a lock",
		mqs.UsesGPU: "waits for a GPU", mqs.UsesFile: "waits for a file", mqs.Blocks: "waits for something else"}[t.Activity]
	text = cmp.Or(text, "is in the kernel")
	switch {
	case t.BlockedIn != "" && t.BlockedOn != "":
		text += fmt.Sprintf(" (%s on %s%s)", t.BlockedIn, fileWords(t.BlockedOn), t.HeldBy())
	case t.BlockedIn != "":
		text += fmt.Sprintf(" (%s)", t.BlockedIn)
	}
	return text
}

// waitsForFile reports whether a thread in an MPI call waits for a file's data or for its lock, and not for messages.
func waitsForFile(t *mqs.Thread) bool {
	return t.Call != "" && (t.Activity == mqs.Locks || t.Activity == mqs.UsesFile)
}

// lockingRanks returns the ranks that hold the file's lock for which a thread waits; nil unless every holder is known to be
// a rank of the job. Process ids of several machines do not identify ranks.
func (j *job) lockingRanks(t *mqs.Thread) []int32 {
	if t.Activity != mqs.Locks || j.past.Apart {
		return nil
	}
	var out []int32
	for _, h := range t.LockHolders {
		at := slices.IndexFunc(j.ranks, func(r rank) bool { return r.process != nil && h.PID == mqs.Known(r.process.PID) })
		if at < 0 {
			return nil
		}
		out = append(out, int32(at))
	}
	return out
}

// waitForFileLock is the wait of a thread for a file's lock that ranks hold. If they share the open file, each of them
// can release the lock.
func (j *job) waitForFileLock(t *mqs.Thread) wait {
	ranks := j.lockingRanks(t)
	slices.Sort(ranks)
	what := fmt.Sprintf("lock on %s (%s) that %s %s", fileWords(t.BlockedOn), t.BlockedIn, rankWords(ranks), verb(ranks, "holds", "hold"))
	w := wait{thread: t, what: what}
	for _, i := range ranks {
		w.deps = append(w.deps, dependency{rank: i})
	}
	return w
}

// fileWords names what a descriptor stands for, so that it is the same of all ranks: not by the number of a pipe.
func fileWords(file string) string {
	if kind, _, is := strings.Cut(file, ":["); is {
		return "a " + kind
	}
	return file
}

// heldDoubt is what is not known of a rank with a thread that waits outside of MPI, as a clause.
func heldDoubt(t *mqs.Thread) string {
	where := ""
	if at := at(t); at != "" {
		where = " in " + at
	}
	return fmt.Sprintf("thread %d %s%s, and whether that ends is not known", t.Number, outsideWords(t), where)
}

// lockNotes says which threads of ranks wait outside of MPI for others that wait in it.
func (a *analysis) lockNotes() []string {
	var out []string
	for i := range a.ranks {
		r := &a.ranks[i]
		if r.process == nil || r.mobility != waiting {
			continue
		}
		for k := range r.process.Threads {
			t := &r.process.Threads[k]
			if t.Activity != mqs.Locks || !t.Holder.Known {
				continue
			}
			if len(out) == maxReasons {
				return append(out, "There are more threads that wait for locks which others hold.")
			}
			text := fmt.Sprintf("Thread %d of rank %d, at %s, waits for %s", t.Number, i, cmp.Or(at(t), "a place that is not known"), threadWords(t))
			if h := slices.IndexFunc(r.process.Threads, func(o mqs.Thread) bool { return o.Number == t.Holder.Value && o.Call != "" }); h >= 0 {
				text += ", which is in " + callWords(&r.process.Threads[h])
			}
			out = append(out, text+".")
		}
	}
	return out
}
