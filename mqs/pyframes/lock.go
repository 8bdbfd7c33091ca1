package pyframes

import (
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Of struct _gil_runtime_state (Include/internal/pycore_gil.h, 3.9 to 3.14; in 3.11 of pycore_interp.h): the condition follows
// behind the last holder, the state and a counter. A pthread_cond_t has 48 bytes on x86-64 and aarch64.
const (
	conditionBehind = 24
	conditionSize   = 48
)

// locks returns the interpreters' locks that a thread holds. Each is validated: the lock is taken, and its last holder is a listed
// thread state.
func (w *walk) locks(runtime inferior.Addr) []Lock {
	var (
		out  []Lock
		seen []inferior.Addr
	)

	for _, interpreter := range w.found {
		gil := w.lockOf(runtime, interpreter)
		if gil == 0 || slices.Contains(seen, gil) {
			continue
		}

		seen = append(seen, gil)

		if uses, known := w.usesLock(gil); !uses || !known {
			continue
		}

		locked, err := w.r.Uint(gil+inferior.Addr(w.gilLocked), 4)
		if id := w.ids[w.pointer(gil, w.gilHolder)]; err == nil && locked == 1 && id != 0 {
			at := gil + inferior.Addr(w.gilHolder+conditionBehind)
			out = append(out, Lock{Condition: inferior.Range{Addr: at, Len: conditionSize}, Holder: id})
		}
	}

	return out
}

// usesLock reports whether an interpreter uses a lock now (take_gil, Python/ceval_gil.c). Free-threaded builds record that in the lock.
func (w *walk) usesLock(gil inferior.Addr) (uses, known bool) {
	if gil == 0 || !w.isFreeThreaded {
		return true, gil != 0
	}

	enabled, err := w.r.Uint(gil+inferior.Addr(w.gilEnabled), 4)

	return enabled != 0, err == nil
}

// lockOf returns where an interpreter's lock is, 0 if that can't be read.
func (w *walk) lockOf(runtime, interpreter inferior.Addr) inferior.Addr {
	if w.gilPointer {
		return w.pointer(interpreter, w.gil)
	}

	return runtime + inferior.Addr(w.gil)
}
