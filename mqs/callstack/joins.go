package callstack

import (
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// endedAt returns the word in which a thread waits without end for another that is no thread of the process any more:
// false if it is not known to do so. Its wait for a thread is that of [joinedBy], which is not private. If it has a name, this
// is one of pthread_join.
func endedAt(placed *mqs.Thread, t *inferior.Thread) (word inferior.Addr, is bool) {
	byName := placed.Activity == mqs.Joins && !placed.Joined.Known
	bySystem := placed.Activity == mqs.Blocks && placed.BlockedIn == waitCalls[sysFutex]
	call := t.SystemCall
	if !byName && !bySystem || call == nil || call.Number != sysFutex || argumentOf(call, 3) != 0 || argumentOf(call, 1)&futexPrivate != 0 || argumentOf(call, 2) == 0 {
		return 0, false
	}
	op := commandOf(call)
	return inferior.Addr(argumentOf(call, 0)), op == futexWait || op == futexWaitBitset
}

// findEnded finds out which threads wait for one that has ended. The kernel has cleared the word by then, and wakes who waits
// (set_tid_address(2)): such a thread goes on as soon as its process does. at are the places of the threads among all of the
// process's.
func findEnded(r *inferior.Reader, placed []mqs.Thread, at []int, threads []inferior.Thread) {
	var words []inferior.Range
	for k, i := range at {
		if word, is := endedAt(&placed[k], &threads[i]); is {
			words = append(words, inferior.Range{Addr: word, Len: wordSize})
		}
	}
	if len(words) == 0 || r.Prefetch(words) != nil {
		return
	}
	for k, i := range at {
		word, is := endedAt(&placed[k], &threads[i])
		if !is {
			continue
		}
		if id, err := r.Uint(word, wordSize); err == nil && id == 0 {
			placed[k].Activity, placed[k].BlockedIn, placed[k].BlockedOn = mqs.Computes, "", ""
		}
	}
}
