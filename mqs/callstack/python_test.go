package callstack

import (
	"reflect"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/pyframes"
)

// at is a frame whose part of the stack begins at an address.
func at(sp inferior.Addr, function, object, file string, line int) inferior.Frame {
	f := frame(function, object, file, line)
	f.StackPointer = sp
	return f
}

const (
	pythonPath = "/usr/bin/python3.11"
	mpiPath    = "/opt/mpi/lib/libmpi.so.40"
	mpi4py     = "/usr/lib/python3/dist-packages/mpi4py/MPI.cpython-311-x86_64-linux-gnu.so"
)

// pythonThread is a thread that has called MPI from Python, which C++ code with lines has called from Python.
func pythonThread() inferior.Thread {
	return inferior.Thread{Number: 1, ID: 7, Complete: true, Frames: []inferior.Frame{
		at(0x1000, "PMPI_Recv", mpiPath, "", 0),
		at(0x1100, "__pyx_pw_6mpi4py_3MPI_4Comm_Recv", mpi4py, "src/mpi4py/MPI.c", 99),
		at(0x1200, "PyObject_Vectorcall", "", "", 0),
		at(0x1300, "_PyEval_EvalFrameDefault", "", "ceval.c", 1),
		at(0x1400, "PyObject_Call", "", "call.c", 1),
		at(0x1500, "callback", "/home/me/ext.so", "ext.cc", 5),
		at(0x1600, "_PyEval_EvalFrameDefault", "", "", 0),
		at(0x1700, "main", "", "python.c", 1),
	}}
}

func pythonStacks(runs []pyframes.Run) *stacks {
	t := pythonThread()
	return &stacks{threads: []inferior.Thread{t}, library: mpiPath, program: pythonPath,
		python: python{interpreter: pythonPath, frames: map[int]map[int][]pyframes.Frame{1: placed(&t, runs)}}}
}

var (
	innerRun = pyframes.Run{Loop: 0x1380, Frames: []pyframes.Frame{{File: "halo.py", Function: "mpi_exchange", Line: 8}, {File: "halo.py", Function: "step", Line: 20}}}
	outerRun = pyframes.Run{Loop: 0x1680, Frames: []pyframes.Frame{{File: "main.py", Function: "<module>", Line: 3}}}
)

// A thread of a Python program is at the Python line from which it has called MPI, not in mpi4py's code.
func TestPythonPlace(t *testing.T) {
	s := pythonStacks([]pyframes.Run{innerRun, outerRun})
	got, own := threadAt(s, &s.threads[0])
	if got.Call != "MPI_Recv" || got.Function != "mpi_exchange" || got.File != "halo.py" || got.Line != 8 || !own {
		t.Errorf("%+v, %v", got, own)
	}
}

// The whole stack has Python's functions in the place of the interpreter's, between those of the program.
func TestPythonStack(t *testing.T) {
	s := pythonStacks([]pyframes.Run{innerRun, outerRun})
	got := s.whole(&s.threads[0], false).Frames
	if want := []Frame{{Function: "<module>", File: "main.py", Line: 3}, {Function: "callback", File: "ext.cc", Line: 5, Object: "/home/me/ext.so"},
		{Function: "step", File: "halo.py", Line: 20}, {Function: "mpi_exchange", File: "halo.py", Line: 8}, {Function: "MPI_Recv", Object: mpiPath, IsCall: true}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if n := len(s.whole(&s.threads[0], true).Frames); n != 11 {
		t.Errorf("with all of the interpreter's, %d frames", n)
	}
}

// Runs that are not on the thread's own stack, or not in its order, are another thread's.
func TestPythonOfAnotherThread(t *testing.T) {
	for name, runs := range map[string][]pyframes.Run{
		"inside":       {{Loop: 0x800, Frames: innerRun.Frames}},
		"outside":      {{Loop: 0x9000, Frames: innerRun.Frames}},
		"in one frame": {innerRun, {Loop: 0x1390, Frames: outerRun.Frames}},
		"turned round": {outerRun, innerRun},
	} {
		s := pythonStacks(runs)
		if got := s.python.frames[1]; got != nil {
			t.Errorf("%s: %v", name, got)
		}
	}
	cut := pythonThread()
	cut.Frames, cut.Complete = cut.Frames[:5], false
	if got := placed(&cut, []pyframes.Run{innerRun, outerRun}); len(got) != 1 || len(got[3]) != 2 {
		t.Errorf("of a cut stack: %v", got)
	}
}

// TestGIL checks that a thread waits for the holder of the global interpreter lock only while it waits at that lock's condition. A wait
// that looks the same elsewhere is a sleep, which ends by itself.
func TestGIL(t *testing.T) {
	const condition, bitset, time = 0x7000, 137, 0x7fff
	locks := []pyframes.Lock{{Condition: inferior.Range{Addr: condition, Len: 48}, Holder: 101}}
	nobody := mqs.Maybe[int]{}
	for name, c := range map[string]struct {
		locks     []pyframes.Lock
		call      int64
		arguments []uint64
		want      mqs.Maybe[int]
	}{
		"its condition":                 {locks, sysFutex, []uint64{condition + 40, bitset, 0, time}, mqs.Known(1)},
		"resumed":                       {locks, resumed, []uint64{condition + 40, bitset, 0, time}, mqs.Known(1)},
		"behind its condition":          {locks, sysFutex, []uint64{condition + 48, bitset, 0, time}, nobody},
		"another condition":             {locks, sysFutex, []uint64{0x9000, bitset, 0, time}, nobody},
		"waking others":                 {locks, sysFutex, []uint64{condition + 40, 129, 1}, nobody},
		"another system call":           {locks, sysPoll, []uint64{condition + 40, 0, time}, nobody},
		"a lock that nobody holds":      {nil, sysFutex, []uint64{condition + 40, bitset, 0, time}, nobody},
		"a holder that is not there":    {[]pyframes.Lock{{Condition: locks[0].Condition, Holder: 777}}, sysFutex, []uint64{condition + 40, bitset, 0, time}, nobody},
		"held by the thread that waits": {[]pyframes.Lock{{Condition: locks[0].Condition, Holder: 102}}, sysFutex, []uint64{condition + 40, bitset, 0, time}, nobody},
	} {
		waiting := calling(inferiortest.Thread(2, "?@libc.so.6 < pthread_cond_clockwait@libc.so.6 < work:"), c.call, c.arguments...)
		waiting.ID = 102
		threads := []inferior.Thread{{Number: 1, ID: 101}, waiting}
		placed := []mqs.Thread{{Number: 2, Activity: mqs.Sleeps}}
		(&python{locks: c.locks}).findGIL(placed, []int{1}, threads)
		got, activity := placed[0], mqs.Sleeps
		if c.want.Known {
			activity = mqs.Locks
		}
		if got.Holder != c.want || got.Activity != activity {
			t.Errorf("%s: it %q, held by thread %v; want %v", name, got.Activity, got.Holder, c.want)
		}
	}
	in := []mqs.Thread{{Number: 2, Call: "MPI_Reduce"}}
	threads := []inferior.Thread{{Number: 1, ID: 101}, calling(inferior.Thread{Number: 2, ID: 102}, sysFutex, condition, bitset, 0, time)}
	(&python{locks: locks}).findGIL(in, []int{1}, threads)
	if in[0].Activity != "" || in[0].Holder != mqs.Known(1) {
		t.Errorf("in a call: %+v", in[0])
	}
}
