package callstack

import (
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// activity returns what a thread in no MPI call does, and for the end of which thread it waits. at is its
// index among the process's threads. The system call that it is in tells most. If that is not known, the
// names of the C library's functions do.
func activity(placed *mqs.Thread, at int, threads []inferior.Thread) (mqs.Activity, mqs.Maybe[int]) {
	t := &threads[at]
	if !placed.Placed || placed.Call != "" || len(t.Frames) == 0 {
		return "", mqs.Maybe[int]{}
	}
	if joined := joinedBy(t, threads); joined.Known {
		return mqs.Joins, joined
	}
	byName := namedActivity(t)
	bySystem, isKnown := systemActivity(t.SystemCall)
	if byName == joinsOrSleeps {
		byName = ""
		if bySystem == mqs.Blocks {
			byName = mqs.Joins
		}
	}
	switch {
	case byName == mqs.Joins && bySystem != mqs.Sleeps || !isKnown:
		return byName, mqs.Maybe[int]{}
	case bySystem == "" || bySystem == mqs.Computes && byName == mqs.Blocks: // as who spins for a lock
		return byName, mqs.Maybe[int]{}
	default:
		return bySystem, mqs.Maybe[int]{}
	}
}

// joinsOrSleeps stands for a function that waits for another thread to end, for some time or for ever. Only
// the system call tells which.
const joinsOrSleeps mqs.Activity = "joins or sleeps"

// Of futex(2), linux/futex.h.
const (
	futexWait       = 0
	futexWaitBitset = 9
	futexCommand    = 0x7f // without the flags
)

// joinedBy finds the thread for which another waits in pthread_join. There the GNU C library waits until the
// word with that thread's kernel id changes (nptl/pthread_join_common.c), as the kernel's wake-up at a
// thread's end demands (CLONE_CHILD_CLEARTID). A wait with a timeout is that of pthread_timedjoin_np, which
// returns by itself.
func joinedBy(t *inferior.Thread, threads []inferior.Thread) mqs.Maybe[int] {
	call := t.SystemCall
	if call == nil || call.Number != sysFutex || len(call.Arguments) < 4 || call.Arguments[3] != 0 {
		return mqs.Maybe[int]{}
	}
	if op := call.Arguments[1] & futexCommand; op != futexWait && op != futexWaitBitset {
		return mqs.Maybe[int]{}
	}
	for i := range threads {
		if other := &threads[i]; other != t && other.ID > 0 && uint64(uint32(call.Arguments[2])) == uint64(other.ID) {
			return mqs.Known(other.Number)
		}
	}
	return mqs.Maybe[int]{}
}

// System calls of x86-64 (arch/x86/entry/syscalls/syscall_64.tbl).
const (
	sysPoll       = 7
	sysSelect     = 23
	sysSchedYield = 24
	sysTimedWait  = 128 // rt_sigtimedwait
	sysFutex      = 202
	sysEpollWait  = 232
	sysPselect6   = 270
	sysPpoll      = 271
	sysEpollPwait = 281
)

// blockingCalls are the calls that wait for somebody else: read, write, readv, writev, pause, connect, accept,
// sendto, recvfrom, sendmsg, recvmsg, wait4, flock, msgrcv, semop, rt_sigsuspend, waitid, accept4.
var blockingCalls = []int64{0, 1, 19, 20, 34, 42, 43, 44, 45, 46, 47, 61, 73, 70, 65, 130, 247, 288}

// sleepingCalls are nanosleep and clock_nanosleep.
var sleepingCalls = []int64{35, 230}

// systemActivity returns what a thread does in a system call; empty if the call does not tell.
func systemActivity(call *inferior.SystemCall) (a mqs.Activity, isKnown bool) {
	if call == nil {
		return "", false
	}
	argument := func(i int) uint64 {
		if i < len(call.Arguments) {
			return call.Arguments[i]
		}
		return 0
	}
	timed := func(is bool) (mqs.Activity, bool) {
		if is {
			return mqs.Sleeps, true
		}
		return mqs.Blocks, true
	}
	switch n := call.Number; {
	case n < 0 || n == sysSchedYield:
		return mqs.Computes, true
	case slices.Contains(sleepingCalls, n):
		return mqs.Sleeps, true
	case slices.Contains(blockingCalls, n):
		return mqs.Blocks, true
	case n == sysPoll: // milliseconds, a negative number for ever
		return timed(int32(argument(2)) >= 0)
	case n == sysEpollWait || n == sysEpollPwait:
		return timed(int32(argument(3)) >= 0)
	case n == sysSelect || n == sysPselect6: // a pointer, NULL for ever
		return timed(argument(4) != 0)
	case n == sysPpoll || n == sysTimedWait:
		return timed(argument(2) != 0)
	case n == sysFutex:
		return timed(argument(3) != 0)
	}
	return "", true
}

// namedActivity returns what a thread does by the names of its functions.
func namedActivity(t *inferior.Thread) mqs.Activity {
	inner := 0
	for inner < len(t.Frames) && isSystemFrame(t.Frames[inner]) {
		a, ok := activities[plainName(t.Frames[inner].Function)]
		// The program has called the outermost of the C library's functions.
		for _, f := range t.Frames[inner+1:] {
			if !isSystemFrame(f) {
				break
			}
			if outer, isNamed := activities[plainName(f.Function)]; isNamed {
				a, ok = outer, true
			}
		}
		if ok {
			return a
		}
		inner++
	}
	switch {
	case inner == len(t.Frames):
		return ""
	case isOpenMP(t.Frames[inner].Object):
		return mqs.Blocks // for the other threads of the team
	case t.Frames[0].Function == "":
		return ""
	case t.SystemCall != nil && t.SystemCall.Number >= 0:
		return ""
	case t.SystemCall == nil && (hasPrefix(t.Frames[0].Object, "libc.", "libc-", "libpthread", "ld-") || slices.Contains(byArguments, plainName(t.Frames[0].Function))):
		return "" // it may be in any system call
	}
	return mqs.Computes
}

// byArguments are functions whose arguments alone tell what a thread does in them.
var byArguments = []string{"poll", "ppoll", "select", "pselect", "epoll_wait", "epoll_pwait", "ioctl", "syscall"}

// isSystemFrame says whether a frame belongs to the C library. If the program is linked with the C library,
// a frame does that has no source and the name of one of the library's functions.
func isSystemFrame(f inferior.Frame) bool {
	return isSystem(f.Object) || isVDSO(f) || f.Object == "" && f.File == "" && activities[plainName(f.Function)] != ""
}

// plainName returns the name of the C library's function for which an internal name stands, such as
// __GI___clock_nanosleep, ___pthread_cond_wait, __libc_read, __poll or __nanosleep_time64.
func plainName(function string) string {
	name, _, _ := strings.Cut(function, "@")
	name = strings.TrimPrefix(name, "__GI_")
	name = strings.TrimPrefix(strings.TrimLeft(name, "_"), "libc_")
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
		mqs.Blocks: "pthread_mutex_lock lll_lock_wait pthread_cond_wait cnd_wait mtx_lock sem_wait pthread_barrier_wait pthread_rwlock_rdlock pthread_rwlock_wrlock " +
			"pthread_spin_lock futex_wait futex_abstimed_wait_common futex_abstimed_wait_cancelable futex_wait_cancelable read readv write writev recv recvfrom recvmsg send sendto sendmsg accept accept4 connect wait wait4 waitpid waitid " +
			"pause sigwait sigwaitinfo sigsuspend flock lockf msgrcv semop std::condition_variable::wait(std::unique_lock<std::mutex>&)",
	} {
		for _, name := range strings.Split(names, " ") {
			out[name] = a
		}
	}
	return out
}()
