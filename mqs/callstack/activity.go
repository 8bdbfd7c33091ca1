package callstack

import (
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// outside is what a thread in no MPI call does.
type outside struct {
	activity mqs.Activity
	joined   mqs.Maybe[int]
	in, on   string // the function or system call in which it waits, and the file
	holders  []mqs.LockHolder
}

// activity returns what a thread in no MPI call does, and for the end of which thread it waits. at is its
// index among the process's threads. The system call that it is in tells most. If that is not known, the
// names of the C library's functions do.
func activity(placed *mqs.Thread, at int, threads []inferior.Thread) outside {
	t := &threads[at]
	if !placed.Placed || len(t.Frames) == 0 {
		return outside{}
	}
	gpu, isGPU := gpuCall(t)
	switch {
	case isGPU: // also inside of MPI
		return outside{activity: mqs.UsesGPU, in: gpu}
	case placed.Call != "":
		return onFile(placed.Call, t.SystemCall)
	}
	if joined := joinedBy(t, threads); joined.Known {
		return outside{activity: mqs.Joins, joined: joined}
	}
	byName, function := namedActivity(t)
	bySystem, call, isKnown := systemActivity(t.SystemCall)
	if waitsForTeam(t, threads) {
		return outside{activity: mqs.Teams}
	}
	if byName == joinsOrSleeps {
		byName = ""
		if bySystem == mqs.Blocks {
			byName = mqs.Joins
		}
	}
	out := outside{activity: bySystem, in: call}
	switch {
	case byName == mqs.Joins && bySystem != mqs.Sleeps || !isKnown:
		out = outside{activity: byName, in: function}
	case bySystem == "" || bySystem == mqs.Computes && (byName == mqs.Blocks || byName == mqs.Locks): // as who spins for a lock
		out = outside{activity: byName, in: function}
	case bySystem == mqs.Blocks && t.SystemCall.Number == sysFutex && (byName == mqs.Blocks || byName == mqs.Locks):
		out = outside{activity: byName, in: function}
	}
	if (out.activity == mqs.Blocks || out.activity == mqs.Locks) && waitsWithin(t.SystemCall) && !hasGPU(threads) {
		out.activity = mqs.Waits
	}
	switch out.activity {
	case mqs.Locks, mqs.UsesFile, mqs.Blocks:
		if isKnown && out.in == call {
			out.on, out.holders = t.SystemCall.File, holdersOf(t.SystemCall)
		}
	case mqs.InKernel, mqs.Waits:
	default:
		out.in = ""
	}
	return out
}

// onFile returns what a thread does in an MPI call that waits for a file: for its lock, or in calls for files for its data.
func onFile(mpi string, call *inferior.SystemCall) outside {
	does, name, _ := systemActivity(call)
	if does == mqs.Locks || does == mqs.UsesFile && call.File != "" && strings.HasPrefix(mpi, "MPI_File_") {
		return outside{activity: does, in: name, on: call.File, holders: holdersOf(call)}
	}
	return outside{}
}

// holdersOf returns the processes that hold the file's lock for which a system call waits.
func holdersOf(call *inferior.SystemCall) []mqs.LockHolder {
	var out []mqs.LockHolder
	for _, h := range call.LockHolders {
		out = append(out, mqs.LockHolder{PID: mqs.Maybe[int]{Value: h.PID, Known: h.PID > 0}, Name: h.Name})
	}
	return out
}

// waitsForTeam says whether a thread waits in the kernel for other threads of its OpenMP team, however long. One that
// spins may just as well be about to go on. The library of a GPU may end a task that others wait for.
func waitsForTeam(t *inferior.Thread, threads []inferior.Thread) bool {
	at := slices.IndexFunc(t.Frames, func(f inferior.Frame) bool { return !isSystemFrame(f) })
	if at < 0 || !isOpenMP(t.Frames[at].Object) || t.SystemCall == nil || t.SystemCall.Number != sysFutex || argumentOf(t.SystemCall, 3) != 0 {
		return false
	}
	if op := commandOf(t.SystemCall); op != futexWait && op != futexWaitBitset {
		return false
	}
	return !hasGPU(threads)
}

// hasGPU reports whether a thread is in the library of a GPU, which may call functions of the program by itself.
func hasGPU(threads []inferior.Thread) bool {
	return slices.ContainsFunc(threads, func(o inferior.Thread) bool {
		return slices.ContainsFunc(o.Frames, func(f inferior.Frame) bool { return isGPU(f.Object) })
	})
}

// waitsWithin reports whether a system call waits, without a time limit, for something that only a thread of the same process can do:
// the futex is private to the process (FUTEX_PRIVATE_FLAG, futex(2)). Mutexes, conditions and semaphores wait like this, and what is
// built on them, such as Python's locks and the queues of idle workers.
func waitsWithin(call *inferior.SystemCall) bool {
	if call == nil || call.Number != sysFutex || argumentOf(call, 1)&futexPrivate == 0 || argumentOf(call, 3) != 0 {
		return false
	}
	return slices.Contains([]uint64{futexWait, futexWaitBitset, futexWaitPI, futexLockPI, futexLockPI2}, commandOf(call))
}

// joinsOrSleeps stands for a function that waits for another thread to end, for some time or for ever. Only
// the system call tells which.
const joinsOrSleeps mqs.Activity = "joins or sleeps"

// joinedBy finds the thread for which another waits in pthread_join. There the GNU C library waits until the
// word with that thread's kernel id changes (nptl/pthread_join_common.c), as the kernel's wake-up at a
// thread's end demands (CLONE_CHILD_CLEARTID). A wait with a timeout is that of pthread_timedjoin_np, which
// returns by itself.
func joinedBy(t *inferior.Thread, threads []inferior.Thread) mqs.Maybe[int] {
	call := t.SystemCall
	if call == nil || call.Number != sysFutex || len(call.Arguments) < 4 || call.Arguments[3] != 0 {
		return mqs.Maybe[int]{}
	}
	if op := commandOf(call); op != futexWait && op != futexWaitBitset {
		return mqs.Maybe[int]{}
	}
	return withID(uint32(call.Arguments[2]), t, threads)
}

// withID finds a thread by the kernel's number for it; not one of them.
func withID(id uint32, but *inferior.Thread, threads []inferior.Thread) mqs.Maybe[int] {
	for i := range threads {
		if other := &threads[i]; other != but && other.ID > 0 && id == uint32(other.ID) {
			return mqs.Known(other.Number)
		}
	}
	return mqs.Maybe[int]{}
}

// namedActivity returns what a thread does by the names of its functions, and the name that tells.
func namedActivity(t *inferior.Thread) (mqs.Activity, string) {
	inner := 0
	for inner < len(t.Frames) && isSystemFrame(t.Frames[inner]) {
		name := plainName(t.Frames[inner].Function)
		a, ok := activities[name]
		// The program has called the outermost of the C library's functions.
		for _, f := range t.Frames[inner+1:] {
			if !isSystemFrame(f) {
				break
			}
			if outer, isNamed := activities[plainName(f.Function)]; isNamed {
				a, ok, name = outer, true, plainName(f.Function)
			}
		}
		if ok {
			return a, name
		}
		inner++
	}
	switch {
	case inner == len(t.Frames):
		return "", ""
	case isOpenMP(t.Frames[inner].Object):
		return mqs.Blocks, t.Frames[inner].Function // for the other threads of the team, or it is about to go on
	case t.Frames[0].Function == "":
		return "", ""
	case t.SystemCall != nil && t.SystemCall.Number >= 0:
		return "", ""
	case t.SystemCall == nil && (hasPrefix(t.Frames[0].Object, "libc.", "libc-", "libpthread", "ld-") || slices.Contains(byArguments, plainName(t.Frames[0].Function))):
		return "", "" // it may be in any system call
	}
	return mqs.Computes, ""
}

// byArguments are functions whose arguments alone tell what a thread does in them.
var byArguments = []string{"poll", "ppoll", "select", "pselect", "epoll_wait", "epoll_pwait", "ioctl", "syscall"}

// isSystemFrame says whether a frame belongs to the C library. If the program is linked with the C library,
// a frame does that has no source and the name of one of the library's functions.
func isSystemFrame(f inferior.Frame) bool {
	return isSystem(f.Object) || isSanitizer(f.Object) || isVDSO(f) || f.Object == "" && f.File == "" && activities[plainName(f.Function)] != ""
}

// plainName returns the name of the C library's function for which an internal name stands, such as
// __GI___clock_nanosleep, ___pthread_cond_wait, __libc_read, __poll, __interceptor_poll or __nanosleep_time64.
func plainName(function string) string {
	name, _, _ := strings.Cut(function, "@")
	name = strings.TrimPrefix(name, "__GI_")
	name = strings.TrimPrefix(strings.TrimLeft(name, "_"), "libc_")
	name = strings.TrimPrefix(name, "interceptor_") // of a sanitizer
	return strings.TrimSuffix(strings.TrimSuffix(name, "_time64"), "64")
}

// activities are what threads do in functions of the C library, by their plain names. How long poll and the
// like wait is in their arguments.
var activities = func() map[string]mqs.Activity {
	out := map[string]mqs.Activity{}
	for a, names := range map[mqs.Activity]string{
		mqs.Computes: "sched_yield",
		mqs.Sleeps: "nanosleep clock_nanosleep usleep sleep thrd_sleep pthread_cond_timedwait pthread_cond_clockwait sem_timedwait sem_clockwait " +
			"pthread_mutex_timedlock pthread_mutex_clocklock pthread_timedjoin_np pthread_clockjoin_np sigtimedwait cnd_timedwait mtx_timedlock",
		mqs.Joins: "pthread_join thrd_join std::thread::join()",
		// pthread_join and pthread_timedjoin_np of the GNU C library end in these (nptl/pthread_join.c, pthread_timedjoin.c).
		joinsOrSleeps: "pthread_clockjoin_ex pthread_timedjoin_ex",
		mqs.Locks:     "pthread_mutex_lock lll_lock_wait mtx_lock pthread_rwlock_rdlock pthread_rwlock_wrlock pthread_spin_lock flock lockf",
		mqs.Blocks: "pthread_cond_wait cnd_wait sem_wait pthread_barrier_wait " +
			"futex_wait futex_abstimed_wait_common futex_abstimed_wait_cancelable futex_wait_cancelable read readv write writev recv recvfrom recvmsg send sendto sendmsg accept accept4 connect wait wait4 waitpid waitid " +
			"pause sigwait sigwaitinfo sigsuspend msgrcv semop std::condition_variable::wait(std::unique_lock<std::mutex>&)",
	} {
		for _, name := range strings.Split(names, " ") {
			out[name] = a
		}
	}
	return out
}()
