package callstack

import (
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/pyframes"
)

// collectors are the beginnings of the names of CPython's functions that collect garbage (Modules/gcmodule.c up to 3.12,
// afterwards Python/gc.c and gc_free_threading.c). Compilers add suffixes to such names.
var collectors = []string{"gc_collect_", "collect_with_callback", "collect_generations", "PyGC_Collect", "_PyGC_Collect"}

// starts are the Python functions that the interpreter calls to run a module, a program (python -m), and a thread.
var starts = []string{"<module>", "_run_module_as_main", "Thread._bootstrap"}

// findCollections finds the threads that are in a garbage collection of Python, and those whose interpreter uses a global
// interpreter lock. The interpreter records that a collection runs, not which thread runs it. at[k] is the index of
// placed[k] in s.threads.
func (s *stacks) findCollections(placed []mqs.Thread, at []int) {
	for _, interpreter := range s.python.interpreters {
		collecting := s.collecting(interpreter)
		for k, i := range at {
			t := &s.threads[i]
			if t.ID == 0 || !slices.Contains(interpreter.Threads, t.ID) {
				continue
			}
			placed[k].GIL = mqs.Maybe[bool]{Value: interpreter.UsesGIL, Known: interpreter.UsesGIL || interpreter.LacksGIL}
			if !slices.Contains(collecting, t.ID) {
				continue
			}
			placed[k].Collection = mqs.MayBeInOne
			if len(collecting) == 1 {
				placed[k].Collection = mqs.InCollection
				began := s.whereCollected(t)
				placed[k].CollectionFile, placed[k].CollectionLine = began.File, int(began.Line)
			}
		}
	}
}

// collecting returns the native ids of the threads that may be running an interpreter's garbage collection: those with a function of
// the collector on their stack or, if no stack shows one, as without symbols, those whose stack may have one. It returns nil if no
// collection runs.
func (s *stacks) collecting(interpreter pyframes.Interpreter) []int {
	if !interpreter.Collects {
		return nil
	}
	var named, nameless []int
	for _, id := range interpreter.Threads {
		i := slices.IndexFunc(s.threads, func(t inferior.Thread) bool { return t.ID == id && id != 0 })
		switch {
		case i < 0:
			nameless = append(nameless, id) // its stack is unknown
		case slices.ContainsFunc(s.threads[i].Frames, s.isCollector):
			named = append(named, id)
		case !s.threads[i].Complete || len(s.gaps(&s.threads[i])) > 0:
			nameless = append(nameless, id)
		}
	}
	if len(named) > 0 {
		return named
	}
	return nameless
}

// isCollector reports whether a frame belongs to the garbage collector.
func (s *stacks) isCollector(f inferior.Frame) bool {
	return s.objectOf(f) == s.python.interpreter && slices.ContainsFunc(collectors, func(begin string) bool { return strings.HasPrefix(f.Function, begin) })
}

// isNameless reports whether a frame belongs to a function of the interpreter that has no name.
func (s *stacks) isNameless(f inferior.Frame) bool {
	return f.Function == "" && s.objectOf(f) == s.python.interpreter
}

// whereCollected returns the Python function that was running when the thread's garbage collection began, or an empty frame if that is
// unknown.
func (s *stacks) whereCollected(t *inferior.Thread) pyframes.Frame {
	collector := slices.IndexFunc(t.Frames, s.isCollector)
	if gaps := s.gaps(t); collector < 0 && t.Complete && len(gaps) == 1 {
		return gaps[0]
	}
	for i := collector; i >= 0 && i < len(t.Frames); i++ {
		if frames := s.python.frames[t.Number][i]; len(frames) > 0 {
			return frames[0]
		}
	}
	return pyframes.Frame{}
}

// gaps returns a Python frame for each part of a thread's stack whose nameless functions may be the collector's: the innermost frame of
// the code that the part was called from, or an empty frame if there is none. A part that has called one of [starts] is skipped, because
// the collector calls only finalizers and callbacks.
func (s *stacks) gaps(t *inferior.Thread) []pyframes.Frame {
	var out []pyframes.Frame
	nameless, called := false, true
	for i, f := range t.Frames {
		frames := s.python.frames[t.Number][i]
		if len(frames) == 0 {
			nameless = nameless || s.isNameless(f)
			continue
		}
		if nameless && called {
			out = append(out, frames[0])
		}
		nameless, called = false, !slices.Contains(starts, frames[len(frames)-1].Function)
	}
	if nameless && called {
		out = append(out, pyframes.Frame{})
	}
	return out
}
