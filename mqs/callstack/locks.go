package callstack

import (
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// The locks of the GNU C library on x86-64, from 2.25 on. The word in which a thread of pthread_mutex_lock waits is
// the first one of a pthread_mutex_t. It is 2 while threads wait (nptl/lowlevellock.h), and the holder is named
// beside it; the holder clears its name before it lets go. In robust mutexes, and in those that inherit priorities,
// the word is the holder's own number, with a bit for those who wait (linux/futex.h). A pthread_rwlock_t has
// two words in which threads wait, and names a writer that holds it.
const (
	lockContended  = 2
	ownerOfMutex   = 8  // __owner behind __lock
	writerOfPhase  = 16 // __cur_writer behind __wrphase_futex
	writerOfWriter = 12 // __cur_writer behind __writers_futex
	lockWaiters    = 1 << 31
	lockHolder     = 1<<30 - 1
	wordSize       = 4
	lockSize       = 20 // from the word in which a thread waits to the end of the holder's
)

// lockCalls are the functions that wait for a mutex, and for a lock of readers and writers.
var (
	mutexCalls = []string{"pthread_mutex_lock", "mtx_lock", "pthread_cond_wait", "cnd_wait"}
	writeCalls = []string{"pthread_rwlock_rdlock", "pthread_rwlock_wrlock"}
)

// lockedIn returns the word in which a thread waits for a lock without end, and how: false if it does not, or
// nothing says that it is a lock.
func lockedIn(t *inferior.Thread) (word inferior.Addr, isMutex, is bool) {
	call := t.SystemCall
	if call == nil || call.Number != sysFutex || argumentOf(call, 3) != 0 || argumentOf(call, 1)&futexPrivate == 0 {
		return 0, false, false // another process may hold a lock that is not private
	}
	word = inferior.Addr(argumentOf(call, 0))
	for _, f := range t.Frames {
		if !isSystemFrame(f) {
			break
		}
		switch name, command := plainName(f.Function), commandOf(call); {
		case slices.Contains(mutexCalls, name):
			return word, true, command == futexWait || command == futexLockPI || command == futexLockPI2
		case slices.Contains(writeCalls, name):
			return word, false, command == futexWait || command == futexWaitBitset
		}
	}
	return 0, false, false
}

// findHolders finds out which threads hold the locks for which others wait: only what the memory proves. at are
// the places of the threads among all of the process's.
func findHolders(r *inferior.Reader, placed []mqs.Thread, at []int, threads []inferior.Thread) {
	if r.Info().PointerSize != 8 || r.Info().BigEndian {
		return
	}
	var words []inferior.Range
	for _, i := range at {
		if word, _, is := lockedIn(&threads[i]); is {
			words = append(words, inferior.Range{Addr: word, Len: lockSize})
		}
	}
	if len(words) == 0 || r.Prefetch(words) != nil {
		return
	}
	for k, i := range at {
		t := &threads[i]
		word, isMutex, is := lockedIn(t)
		if !is {
			continue
		}
		id := writerAt(r, word)
		if isMutex {
			id = ownerAt(r, word, t.SystemCall)
		}
		if id == 0 {
			continue
		}
		// A thread may wait for a lock that it holds itself.
		if placed[k].Holder = withID(id, nil, threads); placed[k].Holder.Known && placed[k].Call == "" {
			placed[k].Activity = mqs.Locks // also as the end of a wait for a condition
		}
	}
}

// ownerAt returns the kernel's number for the thread that holds the mutex at a word; 0 if that is not known.
func ownerAt(r *inferior.Reader, word inferior.Addr, call *inferior.SystemCall) uint32 {
	state, err := r.Uint(word, wordSize)
	if err != nil {
		return 0
	}
	waited := uint32(argumentOf(call, 2))
	switch command := commandOf(call); {
	case command != futexWait: // the kernel hands the lock over
		return uint32(state) & lockHolder
	case waited == lockContended && state == lockContended:
		owner, err := r.Uint(word+ownerOfMutex, wordSize)
		if err != nil {
			return 0
		}
		return uint32(owner)
	case waited&lockWaiters != 0 && uint32(state) == waited:
		return waited & lockHolder
	}
	return 0
}

// writerAt returns the kernel's number for the writer that holds the lock in one of whose words a thread waits;
// 0 if there is none, or that is not known.
func writerAt(r *inferior.Reader, word inferior.Addr) uint32 {
	for _, behind := range []inferior.Addr{writerOfWriter, writerOfPhase} {
		if writer, err := r.Uint(word+behind, wordSize); err == nil && writer != 0 {
			return uint32(writer)
		}
	}
	return 0
}
