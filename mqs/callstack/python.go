package callstack

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/pyframes"
)

// python is what is known of the Python code of a process.
type python struct {
	// interpreter is the path of the file that the interpreter is in.
	interpreter string
	// frames are those of Python functions, the innermost first, by the thread's number and the index of
	// the interpreter's frame that runs them.
	frames       map[int]map[int][]pyframes.Frame
	locks        []pyframes.Lock
	interpreters []pyframes.Interpreter
}

// pythonOf finds the Python frames of threads that are in an interpreter.
func pythonOf(r *inferior.Reader, s *stacks) (python, error) {
	ids := map[int]bool{}
	for _, t := range s.threads {
		if t.ID > 0 && slices.ContainsFunc(t.Frames, s.maybeInterpreter) {
			ids[t.ID] = true
		}
	}
	if len(ids) == 0 {
		return python{}, nil
	}
	found, err := pyframes.Threads(r, ids)
	if err != nil {
		return python{}, err
	}
	out := python{interpreter: found.Object, frames: map[int]map[int][]pyframes.Frame{}, locks: found.Locks,
		interpreters: found.Interpreters}
	for _, t := range s.threads {
		if ids[t.ID] {
			out.frames[t.Number] = placed(&t, found.Runs[t.ID])
		}
	}
	return out, nil
}

// maybeInterpreter says whether a function may be an interpreter's, by its name or that of its file.
func (s *stacks) maybeInterpreter(f inferior.Frame) bool {
	return strings.HasPrefix(f.Function, "_PyEval_") || strings.HasPrefix(f.Function, "PyObject_") || hasPrefix(s.objectOf(f), "python", "libpython")
}

// placed finds the frame of a thread on whose part of the stack each run's loop is. Runs of which one is on no part,
// or not further outside than those within it, are not the thread's: its native id may be another thread's.
func placed(t *inferior.Thread, runs []pyframes.Run) map[int][]pyframes.Frame {
	out, last := map[int][]pyframes.Frame{}, -1
	for _, run := range runs {
		beyond := slices.IndexFunc(t.Frames, func(f inferior.Frame) bool { return f.StackPointer > run.Loop })
		if beyond < 0 && !t.Complete {
			return out // its frame is further outside than those that are known
		}
		at := beyond - 1
		if at <= last {
			return nil
		}
		out[at], last = run.Frames, at
	}
	return out
}

// runs says whether a file is what runs Python code and leads to MPI from there, in which there is nothing of the
// program: the interpreter, mpi4py, and what calls functions without a module of their own.
func (p *python) runs(s *stacks, f inferior.Frame) bool {
	object := s.objectOf(f)
	switch {
	case filepath.Base(filepath.Dir(object)) == "mpi4py", hasPrefix(object, "_ctypes.", "_cffi_backend.", "libffi."):
		return true
	case object != p.interpreter:
		return false
	}
	name := strings.TrimPrefix(f.Function, "_")
	return object != s.program || hasPrefix(object, "python") || strings.HasPrefix(name, "Py")
}

// isReplaced says whether the Python frames of a thread stand for one of its frames.
func (s *stacks) isReplaced(t *inferior.Thread, at int) bool {
	known := s.python.frames[t.Number]
	return len(known) > 0 && (len(known[at]) > 0 || s.python.runs(s, t.Frames[at]))
}

// replaced returns the frames of a thread from an index on, without those that drop is true of, and with the Python
// frames in the place of the interpreter's.
func (s *stacks) replaced(t *inferior.Thread, from int, drop func(inferior.Frame) bool) []inferior.Frame {
	var out []inferior.Frame
	for i := from; i < len(t.Frames); i++ {
		for _, p := range s.python.frames[t.Number][i] {
			out = append(out, inferior.Frame{Function: p.Function, File: p.File, Line: int(p.Line)})
		}
		if f := t.Frames[i]; !s.isReplaced(t, i) && !drop(f) {
			out = append(out, f)
		}
	}
	return out
}

// findGIL finds the threads that wait for Python's global interpreter lock, and which thread holds it. Such a thread wakes up every
// few milliseconds, which looks like a sleep, but it does nothing before it gets the lock. at are the places of the threads among all
// of the process's.
func (p *python) findGIL(placed []mqs.Thread, at []int, threads []inferior.Thread) {
	for k, i := range at {
		t := &threads[i]
		for _, lock := range p.locks {
			holder := withID(uint32(lock.Holder), t, threads)
			if !holder.Known || !waitsAt(t.SystemCall, lock.Condition) {
				continue
			}
			if placed[k].Holder = holder; placed[k].Call == "" {
				placed[k].Activity, placed[k].BlockedIn, placed[k].BlockedOn = mqs.Locks, mqs.TakeGIL, ""
			}
		}
	}
}

// waitsAt reports whether a system call waits for a futex in a range. The kernel resumes an interrupted wait by restart_syscall, at
// which the registers still hold the arguments of the wait.
func waitsAt(call *inferior.SystemCall, in inferior.Range) bool {
	if call == nil || call.Number != sysFutex && call.Number != resumed {
		return false
	}
	word, command := inferior.Addr(argumentOf(call, 0)), commandOf(call)
	return word >= in.Addr && word-in.Addr < inferior.Addr(in.Len) && (command == futexWait || command == futexWaitBitset)
}
