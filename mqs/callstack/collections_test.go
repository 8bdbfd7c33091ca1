package callstack

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/pyframes"
)

// collected is a thread whose Python function has called MPI from a finalizer that the interpreter's functions named, from the innermost
// outwards, have called. outer are the names of the functions between the program's outermost Python function and the start.
func collected(number int, between, outer []string) inferior.Thread {
	t := inferior.Thread{Number: number, ID: 100 + number, Complete: true}
	add := func(function, object string) {
		t.Frames = append(t.Frames, at(inferior.Addr(0x1000+0x100*len(t.Frames)), function, object, "", 0))
	}
	add("PMPI_Barrier", mpiPath)
	add("__pyx_pw_Barrier", mpi4py)
	add("PyObject_Vectorcall", "")
	add("_PyEval_EvalFrameDefault", "")
	for _, name := range between {
		add(name, "")
	}
	add("_PyEval_EvalFrameDefault", "")
	for _, name := range outer {
		add(name, "")
	}
	add("main", "")
	return t
}

// TestCollections checks that a thread is in a garbage collection only while the interpreter says that one runs, and that it is the
// only one that can run it. The place where the collection began is known only if no other place is possible.
func TestCollections(t *testing.T) {
	const finalizer, module = "Node.__del__", "<module>"
	symbols, none := []string{"slot_tp_finalize", "gc_collect_main.constprop.0", "_PyObject_GC_New"}, []string{"", "", "PyList_New"}
	running := pyframes.Interpreter{Threads: []int{101}, Collects: true, UsesGIL: true}
	two := pyframes.Interpreter{Threads: []int{101, 102}, Collects: true, UsesGIL: true}
	type want struct {
		first, second mqs.Collection
		line          int
	}
	for name, c := range map[string]struct {
		threads     []inferior.Thread
		interpreter pyframes.Interpreter
		outermost   string // Python function
		want        want
	}{
		"with symbols":               {[]inferior.Thread{collected(1, symbols, nil)}, running, module, want{mqs.InCollection, "", 35}},
		"without symbols":            {[]inferior.Thread{collected(1, none, []string{"", "PyRun_File"})}, running, module, want{mqs.InCollection, "", 35}},
		"of a function that C calls": {[]inferior.Thread{collected(1, none, []string{"", "PyObject_Call"})}, running, "other", want{mqs.InCollection, "", 0}},
		"only outside":               {[]inferior.Thread{collected(1, []string{"PyObject_Call"}, []string{"", "PyObject_Call"})}, running, "other", want{mqs.InCollection, "", 0}},
		"of a module that a function runs": {[]inferior.Thread{collected(1, none, []string{"", "PyObject_Call", "_PyEval_EvalFrameDefault"})}, running, module,
			want{mqs.InCollection, "", 35}},
		"of python -m":                 {[]inferior.Thread{collected(1, none, []string{"", "PyRun_File"})}, running, "_run_module_as_main", want{mqs.InCollection, "", 35}},
		"of known functions":           {[]inferior.Thread{collected(1, []string{"PyObject_Call"}, nil)}, running, module, want{}},
		"none":                         {[]inferior.Thread{collected(1, symbols, nil)}, pyframes.Interpreter{Threads: []int{101}, UsesGIL: true}, module, want{}},
		"two threads, with symbols":    {[]inferior.Thread{collected(1, symbols, nil), collected(2, none, nil)}, two, module, want{mqs.InCollection, "", 35}},
		"two threads, without symbols": {[]inferior.Thread{collected(1, none, nil), collected(2, none, nil)}, two, module, want{mqs.MayBeInOne, mqs.MayBeInOne, 0}},
		"the other one's functions are known": {[]inferior.Thread{collected(1, none, nil), collected(2, []string{"PyObject_Call"}, nil)}, two, module,
			want{mqs.InCollection, "", 35}},
		"a thread that is not listed": {[]inferior.Thread{collected(1, none, nil)}, pyframes.Interpreter{Threads: []int{101, 0}, Collects: true, UsesGIL: true}, module,
			want{mqs.MayBeInOne, "", 0}},
		"another interpreter's thread": {[]inferior.Thread{collected(1, symbols, nil), collected(2, none, nil)}, running, module, want{mqs.InCollection, "", 35}},
	} {
		s := &stacks{threads: c.threads, library: mpiPath, program: pythonPath, python: python{interpreter: pythonPath,
			frames: map[int]map[int][]pyframes.Frame{}, interpreters: []pyframes.Interpreter{c.interpreter}}}
		placed, at := make([]mqs.Thread, 2), []int{}
		for i, thread := range c.threads {
			runs := [][]pyframes.Frame{{{File: "a.py", Function: finalizer, Line: 16}},
				{{File: "a.py", Function: "work", Line: 35}, {File: "a.py", Function: c.outermost, Line: 42}}, {{File: "runpy.py", Function: "run", Line: 88}}}
			known := map[int][]pyframes.Frame{}
			for at, f := range thread.Frames {
				if f.Function == "_PyEval_EvalFrameDefault" {
					known[at], runs = runs[0], runs[1:]
				}
			}
			s.python.frames[thread.Number] = known
			at = append(at, i)
		}
		s.findCollections(placed[:len(at)], at)
		if got := (want{placed[0].Collection, placed[1].Collection, placed[0].CollectionLine}); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
		if placed[0].GIL != mqs.Known(true) || (placed[1].GIL.Known != (len(c.interpreter.Threads) > 1 && len(at) > 1)) {
			t.Errorf("%s: lock %v, %v", name, placed[0].GIL, placed[1].GIL)
		}
	}
}
