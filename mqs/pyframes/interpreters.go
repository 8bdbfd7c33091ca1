package pyframes

import "github.com/mpi-queues/mpi-queues/mqs/inferior"

// Up to 3.12, the flag of a running collection is this far behind the pointer to the youngest generation, and behind that generation
// (struct _gc_runtime_state, Include/internal/pycore_gc.h). The pointer leads to the generation, which proves both.
const (
	behindPointer  = 104
	behindYoungest = 176
)

// interpretersNow returns what is known of the interpreters found.
func (w *walk) interpretersNow(runtime inferior.Addr) []Interpreter {
	var out []Interpreter

	for i, at := range w.found {
		uses, known := w.usesLock(w.lockOf(runtime, at))
		out = append(out, Interpreter{Threads: w.threadsOf[i], Collects: w.collects(at), UsesGIL: known && uses, LacksGIL: known && !uses})
	}

	return out
}

// collects reports whether a garbage collection runs in an interpreter.
func (w *walk) collects(interpreter inferior.Addr) bool {
	flag := interpreter + inferior.Addr(w.collecting)
	if !w.told && w.pointer(flag-behindPointer, 0) != flag-behindYoungest {
		return false
	}

	collects, err := w.r.Uint(flag, 4)

	return err == nil && collects == 1
}

// idOf returns a thread's native id, 0 if it is unknown.
func (w *walk) idOf(thread inferior.Addr) int {
	id := w.pointer(thread, w.nativeID)

	if w.nativeBehind != 0 {
		// The thread's own address is in its head (tcbhead_t, sysdeps/x86_64/nptl/tls.h).
		const self = 16

		at := id
		if id = 0; at != 0 && w.pointer(at, self) == at {
			if v, err := w.r.Uint(at+inferior.Addr(w.nativeBehind), 4); err == nil {
				id = inferior.Addr(v)
			}
		}
	}

	if id >= 1<<31 {
		return 0
	}

	return int(id)
}
