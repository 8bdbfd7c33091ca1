package callstack

import (
	"cmp"
	"context"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
)

// calling is a thread that is in a system call.
func calling(t inferior.Thread, number int64, arguments ...uint64) inferior.Thread {
	t.SystemCall = &inferior.SystemCall{Number: number, Arguments: append(arguments, make([]uint64, 6-len(arguments))...)}
	return t
}

// What threads do is told by the system call that they are in and by the names of functions, as far
// as these are there. The stacks are gdb's, of a GNU C library without and with its symbols.
func TestActivity(t *testing.T) {
	const forever = 1<<64 - 1
	other := inferiortest.Thread(2, "work: < clone3@libc.so.6")
	for name, c := range map[string]struct {
		thread inferior.Thread
		want   mqs.Activity
		joined mqs.Maybe[int]
	}{
		"a loop":                              {calling(inferiortest.Thread(1, "spin: < main:"), -1), mqs.Computes, mqs.Maybe[int]{}},
		"a loop, otherwise unknown":           {inferiortest.Thread(1, "spin: < main:"), mqs.Computes, mqs.Maybe[int]{}},
		"a function of libm":                  {calling(inferiortest.Thread(1, "sin@libm.so.6 < spin: < main:"), -1), mqs.Computes, mqs.Maybe[int]{}},
		"yielding":                            {calling(inferiortest.Thread(1, "sched_yield@libc.so.6 < main:"), 24), mqs.Computes, mqs.Maybe[int]{}},
		"sleep":                               {calling(inferiortest.Thread(1, "clock_nanosleep@libc.so.6 < nanosleep@libc.so.6 < sleep@libc.so.6 < main:"), 230), mqs.Sleeps, mqs.Maybe[int]{}},
		"sleep, gone on with":                 {calling(inferiortest.Thread(1, "clock_nanosleep@libc.so.6 < nanosleep@libc.so.6 < sleep@libc.so.6 < main:"), 219), mqs.Sleeps, mqs.Maybe[int]{}},
		"sleep, by its names":                 {inferiortest.Thread(1, "__GI___clock_nanosleep@libc.so.6 < __GI___nanosleep@libc.so.6 < main:"), mqs.Sleeps, mqs.Maybe[int]{}},
		"sleep, linked statically":            {inferiortest.Thread(1, "clock_nanosleep < nanosleep < usleep < main:"), mqs.Sleeps, mqs.Maybe[int]{}},
		"a function called usleep":            {calling(inferiortest.Thread(1, "usleep: < main:"), -1), mqs.Computes, mqs.Maybe[int]{}},
		"join, without symbols":               {calling(inferiortest.Thread(1, "?@libc.so.6 < ?@libc.so.6 < main:"), 202, 0x7f00, 265, 102), mqs.Joins, mqs.Known(2)},
		"join of one that is gone":            {calling(inferiortest.Thread(1, "?@libc.so.6 < ?@libc.so.6 < main:"), 202, 0x7f00, 265, 77), mqs.Blocks, mqs.Maybe[int]{}},
		"join, by its names":                  {inferiortest.Thread(1, "__futex_abstimed_wait_common64@libc.so.6 < __pthread_clockjoin_ex@libc.so.6 < pthread_join@libc.so.6 < main:"), mqs.Joins, mqs.Maybe[int]{}},
		"join for how long":                   {inferiortest.Thread(1, "__futex_abstimed_wait_common64@libc.so.6 < __pthread_clockjoin_ex@libc.so.6 < main:"), "", mqs.Maybe[int]{}},
		"join for how long, of 2.31":          {inferiortest.Thread(1, "__pthread_timedjoin_ex@libpthread.so.0 < main:"), "", mqs.Maybe[int]{}},
		"join for ever":                       {calling(inferiortest.Thread(1, "__futex_abstimed_wait_common64@libc.so.6 < __pthread_clockjoin_ex@libc.so.6 < main:"), 202, 0x7f00, 265, 77), mqs.Joins, mqs.Maybe[int]{}},
		"join for some time":                  {calling(inferiortest.Thread(1, "__futex_abstimed_wait_common64@libc.so.6 < __pthread_clockjoin_ex@libc.so.6 < main:"), 202, 0x7f00, 265, 102, 0x7fff), mqs.Sleeps, mqs.Maybe[int]{}},
		"join for some time, gone on with":    {calling(inferiortest.Thread(1, "__futex_abstimed_wait_common64@libc.so.6 < __pthread_clockjoin_ex@libc.so.6 < main:"), 219, 0x7f00, 265, 102, 0x7fff), "", mqs.Maybe[int]{}},
		"join for some time, without symbols": {calling(inferiortest.Thread(1, "?@libc.so.6 < ?@libc.so.6 < main:"), 202, 0x7f00, 265, 102, 0x7fff), mqs.Sleeps, mqs.Maybe[int]{}},
		"join for some time, by its own name": {inferiortest.Thread(1, "?@libc.so.6 < __pthread_clockjoin_ex@libc.so.6 < pthread_timedjoin_np@libc.so.6 < main:"), mqs.Sleeps, mqs.Maybe[int]{}},
		"join, linked statically":             {calling(inferiortest.Thread(1, "__futex_abstimed_wait_common < __pthread_clockjoin_ex < main:"), 202, 0x7f00, 265, 102), mqs.Joins, mqs.Known(2)},
		"join of C++":                         {inferiortest.Thread(1, "?@libc.so.6 < std::thread::join()@libstdc++.so.6 < main:"), mqs.Joins, mqs.Maybe[int]{}},
		"join of musl":                        {calling(inferiortest.Thread(1, "__timedwait_cp@ld-musl-x86_64.so.1 < __pthread_timedjoin_np@ld-musl-x86_64.so.1 < pthread_join@ld-musl-x86_64.so.1 < main:"), 202, 0x7f00, 128, 2), mqs.Joins, mqs.Maybe[int]{}},
		"a lock":                              {calling(inferiortest.Thread(1, "?@libc.so.6 < pthread_mutex_lock@libc.so.6 < main:"), 202, 0x7f00, 128, 2), mqs.Waits, mqs.Maybe[int]{}},
		"a lock of several processes":         {calling(inferiortest.Thread(1, "?@libc.so.6 < pthread_mutex_lock@libc.so.6 < main:"), 202, 0x7f00, 0, 2), mqs.Locks, mqs.Maybe[int]{}},
		"a condition":                         {inferiortest.Thread(1, "__futex_abstimed_wait_common@libc.so.6 < ___pthread_cond_wait@libc.so.6 < main:"), mqs.Blocks, mqs.Maybe[int]{}},
		"a condition, with time":              {calling(inferiortest.Thread(1, "?@libc.so.6 < pthread_cond_timedwait@libc.so.6 < main:"), 202, 0x7f00, 137, 0, 0x7fff), mqs.Sleeps, mqs.Maybe[int]{}},
		"a semaphore":                         {calling(inferiortest.Thread(1, "?@libc.so.6 < ?@libc.so.6 < main:"), 202, 0x7f00, 128, 0), mqs.Waits, mqs.Maybe[int]{}},
		"a semaphore of several processes":    {calling(inferiortest.Thread(1, "?@libc.so.6 < ?@libc.so.6 < main:"), 202, 0x7f00, 0, 0), mqs.Blocks, mqs.Maybe[int]{}},
		"read":                                {calling(inferiortest.Thread(1, "read@libc.so.6 < main:"), 0), mqs.Blocks, mqs.Maybe[int]{}},
		"read, by its name":                   {inferiortest.Thread(1, "__GI___libc_read@libc.so.6 < main:"), mqs.Blocks, mqs.Maybe[int]{}},
		"poll for some time":                  {calling(inferiortest.Thread(1, "poll@libc.so.6 < main:"), 7, 0x7f00, 1, 1000), mqs.Sleeps, mqs.Maybe[int]{}},
		"sleep of a sanitizer, by its name":   {inferiortest.Thread(1, "__interceptor_nanosleep@libasan.so.8 < main:"), mqs.Sleeps, mqs.Maybe[int]{}},
		"poll for ever":                       {calling(inferiortest.Thread(1, "poll@libc.so.6 < main:"), 7, 0x7f00, 1, forever), mqs.Blocks, mqs.Maybe[int]{}},
		"poll for how long":                   {inferiortest.Thread(1, "poll@libc.so.6 < main:"), "", mqs.Maybe[int]{}},
		"without names":                       {inferiortest.Thread(1, "?@libc.so.6 < main:"), "", mqs.Maybe[int]{}},
		"a team of OpenMP":                    {calling(inferiortest.Thread(1, "?@libgomp.so.1 < GOMP_parallel@libgomp.so.1 < main:"), -1), mqs.Blocks, mqs.Maybe[int]{}},
		"a system call of few":                {calling(inferiortest.Thread(1, "ioctl@libc.so.6 < main:"), 16), mqs.InKernel, mqs.Maybe[int]{}},
		"in a call":                           {calling(inferiortest.Thread(1, "poll@libc.so.6 < PMPI_Recv@/lib/libmpi.so < main:"), 7), "", mqs.Maybe[int]{}},
		"a stack without an end":              {inferior.Thread{Number: 1, Frames: []inferior.Frame{{Function: "f", File: "a.c", Line: 1}}}, "", mqs.Maybe[int]{}},
		"a stack without names":               {inferiortest.Thread(1, "? < ? < ?"), "", mqs.Maybe[int]{}},
		"a function of MPI's, which":          {inferiortest.Thread(1, "?@/lib/libmpi.so < main:"), "", mqs.Maybe[int]{}},
	} {
		got := Locate(inferior.NewReader(context.Background(), stopped(c.thread, other)))[0]
		if got.Activity != c.want || got.Joined != c.joined {
			t.Errorf("%s: it %q %v, want %q %v", name, got.Activity, got.Joined, c.want, c.joined)
		}
		if unplaced := strings.HasPrefix(name, "a stack") || strings.HasPrefix(name, "a function of MPI's"); got.Placed == unplaced {
			t.Errorf("%s: placed: %v", name, got.Placed)
		}
	}
}

// stopped is a process of which only the threads are known, and where the MPI library is.
func stopped(threads ...inferior.Thread) *inferiortest.Process {
	return &inferiortest.Process{
		Identity: inferior.Info{Executable: "/home/me/a.out"},
		Symbols: map[string]*inferior.Symbol{LibrarySymbol: {Addr: 1, Object: "/lib/libmpi.so"}, "PMPI_Scan": {Addr: 2, Object: "/lib/libmpi.so"},
			"PMPI_Waitany": {Addr: 3, Object: "/lib/libmpi.so"}},
		Stacks: threads,
	}
}

// A function of a tool that has the name of one of MPI's is in the call only as long as the library is.
func TestWrappers(t *testing.T) {
	const tool, mpi = "@/opt/libtrace.so", "@/lib/libmpi.so"
	for stack, want := range map[string]mqs.Thread{
		"PMPI_Scan" + mpi + " < MPI_Scan" + tool + " < main:":                             {Placed: true, Call: "MPI_Scan"},
		"PMPI_Scan" + mpi + " < MPI_Scan:" + tool + " < main:":                            {Placed: true, Call: "MPI_Scan"},
		"internal_Waitany" + mpi + " < main:":                                             {Placed: true, Call: "MPI_Waitany"},
		"MPI_Scan: < main:":                                                               {Placed: true, Activity: mqs.Computes, Function: "MPI_Scan"},
		"poll@libc.so.6 < PMPI_Scan" + mpi + " < main:":                                   {Placed: true, Call: "MPI_Scan"},
		"nanosleep@libc.so.6 < MPI_Scan" + tool + " < main:":                              {Placed: true, Activity: mqs.Sleeps},
		"MPI_Scan < main:":                                                                {Placed: true, Activity: mqs.Computes},
		"opal_progress@/lib/libopen-pal.so < ?" + mpi + " < MPI_Scan" + tool + " < main:": {Placed: true, Call: "MPI_Scan"},
		"internal_Waitany" + mpi + " < MPI_Waitany" + tool + " < main:":                   {Placed: true, Call: "MPI_Waitany"},
		"PMPI_Barrier" + mpi + " < MPI_Scan" + tool + " < main:":                          {Placed: true, Call: "MPI_Barrier"},
		"PMPI_Allreduce" + mpi + " < PMPI_File_write_all" + mpi + " < main:":              {Placed: true, Call: "MPI_File_write_all"},
	} {
		got := Locate(inferior.NewReader(context.Background(), stopped(inferiortest.Thread(1, stack))))[0]
		if got.Placed != want.Placed || got.Call != want.Call || got.Activity != want.Activity {
			t.Errorf("%s: %+v, want %+v", stack, got, want)
		}
		if function := cmp.Or(want.Function, "main"); got.Function != function || got.File != "a.c" {
			t.Errorf("%s: its place is %s at %s:%d, not %s", stack, got.Function, got.File, got.Line, function)
		}
	}
}
