package callstack

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

func frame(function, object, file string, line int) inferior.Frame {
	return inferior.Frame{Function: function, Object: object, File: file, Line: line}
}

func TestThreadAt(t *testing.T) {
	const libc, mpi = "/lib/libc.so.6", "/opt/mpi/lib/libmpi.so.12"
	for name, c := range map[string]struct {
		frames []inferior.Frame
		want   mqs.Thread
		own    bool
	}{
		"in a call": {[]inferior.Frame{frame("poll", libc, "../poll.c", 29), frame("PMPI_Recv", mpi, "", 0), frame("exchange", "", "halo.c", 88), frame("main", "", "halo.c", 9)},
			mqs.Thread{Call: "MPI_Recv", Function: "exchange", File: "halo.c", Line: 88}, true},
		"a call for large counts": {[]inferior.Frame{frame("PMPI_Recv_c", mpi, "", 0), frame("main", "", "", 0)},
			mqs.Thread{Call: "MPI_Recv", Function: "main"}, true},
		"a call inside a call": {[]inferior.Frame{frame("PMPI_Allreduce", mpi, "", 0), frame("PMPI_File_write_all", mpi, "", 0), frame("main", "", "out.c", 5)},
			mqs.Thread{Call: "MPI_File_write_all", Function: "main", File: "out.c", Line: 5}, true},
		"from Fortran": {[]inferior.Frame{frame("PMPI_Barrier", mpi, "", 0), frame("pmpi_barrier__", mpi, "wrap.c", 3), frame("solve", "", "s.f90", 7)},
			mqs.Thread{Call: "MPI_Barrier", Function: "solve", File: "s.f90", Line: 7}, true},
		"its frame is gone": {[]inferior.Frame{frame("internal_Waitany", mpi, "w.c", 9), frame("main", "", "a.c", 4)},
			mqs.Thread{Call: "MPI_Waitany", Function: "main", File: "a.c", Line: 4}, true},
		"computing": {[]inferior.Frame{frame("sin", "/lib/libm.so.6", "../s_sin.c", 7), frame("compute", "", "slow.c", 30), frame("main", "", "slow.c", 40)},
			mqs.Thread{Function: "compute", File: "slow.c", Line: 30}, true},
		"without sources": {[]inferior.Frame{frame("pause", libc, "", 0), frame("main", "", "", 0), frame("__libc_start_main", libc, "", 0)},
			mqs.Thread{Function: "main"}, true},
		"a stripped program's thread": {[]inferior.Frame{frame("poll", libc, "", 0), frame("", "", "", 0), frame("clone3", libc, "", 0)},
			mqs.Thread{}, true},
		"the MPI's own thread, asking for the time": {[]inferior.Frame{frame("clock_gettime", "", "", 0), frame("ofi_gettime", mpi, "", 0), frame("clone3", libc, "", 0)},
			mqs.Thread{}, false},
		"where functions are is not recorded": {[]inferior.Frame{frame("epoll_wait", "", "", 0), frame("progress", "", "", 0)},
			mqs.Thread{}, false},
		"the MPI's own thread": {[]inferior.Frame{frame("epoll_wait", libc, "../epoll.c", 30), frame("ofi_epoll_wait", mpi, "ofi_epoll.h", 154), frame("clone3", libc, "clone3.S", 81)},
			mqs.Thread{Function: "epoll_wait", File: "../epoll.c", Line: 30, Object: libc}, false},
		"the MPI's own thread, with a sanitizer": {[]inferior.Frame{frame("__interceptor_poll", "/lib/libasan.so.8", "", 0), frame("poll_dispatch", "/lib/libevent_core-2.1.so.7", "", 0), frame("asan_thread_start", "/lib/libasan.so.8", "", 0), frame("clone3", libc, "", 0)},
			mqs.Thread{}, false},
		"a thread in the program's own library": {[]inferior.Frame{frame("work", "/home/me/libsolver.so", "work.c", 3), frame("clone3", libc, "clone3.S", 81)},
			mqs.Thread{Function: "work", File: "work.c", Line: 3, Object: "/home/me/libsolver.so"}, true},
	} {
		got, own := threadAt(&stacks{}, &inferior.Thread{Frames: c.frames})
		if got.Call != c.want.Call || got.Function != c.want.Function || got.File != c.want.File || got.Line != c.want.Line || got.Object != c.want.Object || own != c.own {
			t.Errorf("%s: %+v, %v; want %+v, %v", name, got, own, c.want, c.own)
		}
	}
}

// TestPlaced checks of which threads it is known that they are in no MPI call.
func TestPlaced(t *testing.T) {
	const libc, gomp, mpi = "/lib/libc.so.6", "/lib/libgomp.so.1", "/opt/mpi/lib/libmpi.so.12"
	for name, c := range map[string]struct {
		frames  []inferior.Frame
		isShort bool
		want    bool
	}{
		"an idle worker of a stripped library":       {[]inferior.Frame{frame("", gomp, "", 0), frame("", gomp, "", 0), frame("", libc, "", 0)}, false, true},
		"its stack can't be followed":                {[]inferior.Frame{frame("", gomp, "", 0), frame("", gomp, "", 0)}, true, false},
		"a function without a name is the program's": {[]inferior.Frame{frame("", gomp, "", 0), frame("", "", "", 0), frame("", libc, "", 0)}, false, false},
		"the program has called the library":         {[]inferior.Frame{frame("", mpi, "", 0), frame("main", "", "", 0), frame("", libc, "", 0)}, false, false},
		"its own library has":                        {[]inferior.Frame{frame("", mpi, "", 0), frame("", "/home/me/libsolver.so", "", 0), frame("", libc, "", 0)}, false, false},
		"the library's own thread":                   {[]inferior.Frame{frame("", mpi, "", 0), frame("", libc, "", 0)}, false, true},
		"no frame":                                   {nil, false, false},
	} {
		s := &stacks{library: mpi, program: "/home/me/program"}
		if got, _ := threadAt(s, &inferior.Thread{Frames: c.frames, Complete: !c.isShort}); got.Placed != c.want {
			t.Errorf("%s: %t", name, got.Placed)
		}
	}
}

// TestRuntimeInProgram checks that a thread of a library, or of a sanitizer itself, is not taken for the program's because the sanitizer's
// runtime is linked into the program; and that a thread is the program's as soon as one function may be.
func TestRuntimeInProgram(t *testing.T) {
	const libc, event, tsan, program = "/lib/libc.so.6", "/lib/libevent_core-2.1.so.7", "__tsan_thread_start_func", "/home/me/ring"
	wrapped := []inferior.Frame{frame("__GI___poll", libc, "../poll.c", 29), frame("poll", "", "", 0), frame("event_base_loop", event, "", 0), frame("clone3", libc, "", 0)}
	for name, c := range map[string]struct {
		frames  []inferior.Frame
		runtime string // the file that has the runtime
		own     bool
	}{
		"the sanitizer's thread":             {[]inferior.Frame{frame("__sanitizer::internal_usleep(unsigned long long)", "", "", 0), frame("__tsan::BackgroundThread(void*)", "", "", 0), frame("clone3", libc, "", 0)}, "", false},
		"a library's thread":                 {[]inferior.Frame{frame("__GI___poll", libc, "", 0), frame("poll", "", "", 0), frame("event_base_loop", event, "", 0), frame(tsan, "", "", 0), frame("clone3", libc, "", 0)}, program, false},
		"a library's thread, by its wrapper": {wrapped, program, false},
		"a library's thread, clang's names": {[]inferior.Frame{
			frame("__GI___poll", libc, "", 0), frame("__interceptor_poll", "", "", 0), frame("event_base_loop", event, "", 0),
			frame("asan_thread_start(void*)", "", "", 0), frame("clone3", libc, "", 0),
		}, "", false},
		"a wrapper of the program's":        {wrapped, "", true},
		"a wrapper beside a shared runtime": {wrapped, "/lib/libasan.so.8", true},
		"a function with another name":      {[]inferior.Frame{frame("__GI___poll", libc, "", 0), frame("work", "", "", 0), frame("clone3", libc, "", 0)}, program, true},
		"a function that calls no other":    {[]inferior.Frame{frame("poll", "", "", 0), frame("clone3", libc, "", 0)}, program, true},
		"a function with a line":            {[]inferior.Frame{frame("__GI___poll", libc, "", 0), frame("poll", "", "mine.c", 3), frame("clone3", libc, "", 0)}, program, true},
		"a thread of the program's":         {[]inferior.Frame{frame("__GI___poll", libc, "", 0), frame("poll", "", "", 0), frame("", "", "", 0), frame(tsan, "", "", 0), frame("clone3", libc, "", 0)}, program, true},
	} {
		p := stopped(inferior.Thread{Number: 1}, inferior.Thread{Number: 2, Frames: c.frames, Complete: true})
		p.Identity.Executable = program
		if c.runtime != "" {
			p.Symbols[sanitizerSymbol] = &inferior.Symbol{Addr: 0x1000, Object: c.runtime}
		}
		got := Locate(inferior.NewReader(t.Context(), p))
		if own := len(got) == 2; own != c.own {
			t.Errorf("%s: the program's %v, want %v", name, own, c.own)
		}
	}
}
