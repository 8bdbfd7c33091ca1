package pyframes

import (
	"encoding/binary"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Frame is a function of the program that a thread is in. What is not known of it is empty, or 0.
type Frame struct {
	File, Function string
	Line           int32
}

// Run is the frames that one call of the interpreter's loop runs, the innermost first.
type Run struct {
	Frames []Frame
	// Loop is an address in the part of the thread's stack that this call of the loop takes.
	Loop inferior.Addr
}

// Lock is the global interpreter lock (GIL) of some of a process's interpreters, while a thread holds it.
type Lock struct {
	// Condition is where the threads that want the lock wait. They wake up every few milliseconds, and wait again until the holder
	// releases the lock (take_gil, Python/ceval_gil.c).
	Condition inferior.Range
	// Holder is the native id of the thread that holds it.
	Holder int
}

// Interpreter is what was found of one of a process's interpreters.
type Interpreter struct {
	// Threads are the native ids of its threads; 0 stands for threads whose id is unknown.
	Threads []int
	// Collects is true while one of these threads is in a garbage collection.
	Collects bool
	// UsesGIL is true if the interpreter uses a global interpreter lock now, and LacksGIL if it does not; neither is if that is unknown. In
	// a free-threaded build it changes while the program runs: PYTHON_GIL=1 and modules that need the lock enable it.
	UsesGIL, LacksGIL bool
}

// Found is what was found of a process's interpreters.
type Found struct {
	// Object is the path of the interpreter's file.
	Object string
	// Runs are those of each thread, the innermost first, by the thread's native id.
	Runs map[int][]Run
	// Locks are those that a thread is known to hold.
	Locks []Lock
	// Interpreters are those whose memory was validated.
	Interpreters []Interpreter
}

// what is read at most; a process says how long its own lists are.
const (
	maxInterpreters = 64
	maxThreads      = 4096
	maxFrames       = 256
	maxText         = 4096
	maxTable        = 1 << 20
)

// frameCost is the memory that a frame takes without its texts, in bytes.
const frameCost = 48

// ownedByInterpreter is the first owner of frames that are of no function: from 3.12 on, each call of the
// loop has one on its stack, outside of those that it runs
// (enum _frameowner, 3.12 and 3.13: Include/internal/pycore_frame.h, 3.14: pycore_interpframe_structs.h).
const ownedByInterpreter = 3

// Threads returns the Python frames of the threads whose native id is in ids, and what is known of their interpreters. A thread's frames
// end before the first that could not be read or validated. Of CPythons before 3.11 no frames are read. Found is empty unless the process
// is a known CPython.
func Threads(r *inferior.Reader, ids map[int]bool) (Found, error) {
	symbol, err := r.Symbol("_PyRuntime")
	if err != nil || symbol == nil || r.Info().PointerSize != 8 || r.Info().BigEndian {
		return Found{}, err
	}

	found := Found{Object: symbol.Object}

	for _, o := range candidates(r, symbol.Addr) {
		w := walk{r: r, offsets: o}
		if found.Runs = w.threads(symbol.Addr, ids); len(found.Runs) > 0 || w.isProven {
			found.Locks = w.locks(symbol.Addr)
			found.Interpreters = w.interpretersNow(symbol.Addr)

			break
		}
	}

	return found, r.Err()
}

// candidates are the offsets that the process may have: those that it tells, or else all releases' that tell none.
func candidates(r *inferior.Reader, runtime inferior.Addr) []offsets {
	start, err := r.Bytes(runtime, debugOffsetsSize)
	if err != nil {
		return nil
	}

	if told(start) {
		o, ok := parse(start, binary.LittleEndian)
		if !ok {
			return nil
		}

		return []offsets{o}
	}

	return untold
}

// walk reads by offsets. Those that do not lead to what they should lead to find nothing.
type walk struct {
	r *inferior.Reader
	offsets

	runs  [][]place
	loops []inferior.Addr

	// found are the interpreters, threadsOf the native ids of each one's threads, and ids those of all by the thread's state.
	found     []inferior.Addr
	threadsOf [][]int
	ids       map[inferior.Addr]int
	// isProven is true if a thread of a CPython without readable frames was validated.
	isProven bool
}

// place is where a frame is. copy says which of the code's copies of its bytecode the frame runs.
type place struct {
	code, instruction inferior.Addr
	copy              uint64
}

func (w *walk) threads(runtime inferior.Addr, ids map[int]bool) map[int][]Run {
	at := map[int]inferior.Addr{}
	twice := map[int]bool{}
	n := 0
	w.ids = map[inferior.Addr]int{}

	interpreter := w.pointer(runtime, w.interpreters)
	for i := 0; interpreter != 0 && i < maxInterpreters; i++ {
		var all []int

		thread := w.pointer(interpreter, w.threadList)
		for ; thread != 0 && n < maxThreads; n++ {
			if w.pointer(thread, w.interpreter) != interpreter {
				break
			}

			id := w.idOf(thread)
			if all = append(all, id); id != 0 {
				w.ids[thread] = id

				if ids[id] {
					// a thread in two interpreters: which is the inner one is not known.
					twice[id] = twice[id] || at[id] != 0
					at[id] = thread
				}
			}

			thread = w.pointer(thread, w.nextThread)
		}

		if thread != 0 {
			all = append(all, 0) // the rest of the list
		}

		w.found, w.threadsOf = append(w.found, interpreter), append(w.threadsOf, all)
		interpreter = w.pointer(interpreter, w.nextInterpreter)
	}

	found := map[int][]Run{}

	for id, thread := range at {
		if twice[id] {
			continue
		}

		if w.hasObjects {
			frame := w.pointer(thread, w.currentFrame)
			w.isProven = w.isProven || w.is(frame, "frame") && w.is(w.pointer(frame, w.executable), "code")

			continue
		}

		w.runs, w.loops = nil, nil
		if w.follow(thread) {
			if runs := w.named(); len(runs) > 0 {
				found[id] = runs
			}
		}
	}

	return found
}

// pointer is 0 where there is none to be read.
func (w *walk) pointer(of inferior.Addr, offset uint64) inferior.Addr {
	v, err := w.r.Uint(of+inferior.Addr(offset), 8)
	if err != nil {
		return 0
	}

	return inferior.Addr(v)
}

// follow finds the frames of a thread, run by run. A run whose loop is not known is left out, with those outside it.
func (w *walk) follow(thread inferior.Addr) bool {
	var run []place

	end := func(loop inferior.Addr) {
		if len(run) > 0 {
			w.runs, w.loops = append(w.runs, run), append(w.loops, loop)
			run = nil
		}
	}

	at := w.pointer(thread, w.currentFrame)

	var loop inferior.Addr
	if w.framed {
		loop, at = at, w.pointer(at, w.loopFrame)
	}

	for n := 0; at != 0 && n < maxFrames; n++ {
		owner, err := w.r.Uint(at+inferior.Addr(w.owner), 1)
		if err != nil || owner > ownedByInterpreter {
			return len(w.runs) > 0
		}

		if owner < ownedByInterpreter {
			// the lowest bits of a reference on the stack are its tag.
			p := place{code: w.pointer(at, w.executable) &^ 3, instruction: w.pointer(at, w.instruction)}
			if w.copies != 0 {
				if p.copy, err = w.r.Uint(at+inferior.Addr(w.copyIndex), 4); err != nil {
					return len(w.runs) > 0
				}
			}

			run = append(run, p)
		} else {
			end(at)
		}

		if w.hasLoops {
			entry, err := w.r.Uint(at+inferior.Addr(w.isEntry), 1)
			if err != nil || entry > 1 {
				return len(w.runs) > 0
			}

			if entry == 1 {
				end(loop)
				loop = w.pointer(loop, w.previousLoop)
			}
		}

		at = w.pointer(at, w.previous)
	}

	return len(w.runs) > 0
}

// named reads what the frames are of, all of one kind at once. The runs end before the first frame whose code is none.
func (w *walk) named() []Run {
	var codes, parts []inferior.Range

	for _, run := range w.runs {
		for _, p := range run {
			codes = append(codes, inferior.Range{Addr: p.code, Len: int(w.code)})
		}
	}

	if w.r.Prefetch(codes) != nil {
		return nil
	}

	for _, c := range codes {
		for _, offset := range []uint64{w.filename, w.qualname, w.lineTable} {
			parts = append(parts, inferior.Range{Addr: w.pointer(c.Addr, offset), Len: partSize})
		}
	}

	if w.r.Prefetch(parts) != nil {
		return nil
	}

	var out []Run

	for i, run := range w.runs {
		named := Run{Loop: w.loops[i]}

		for _, p := range run {
			f, ok := w.frame(p)
			if !ok {
				return out
			}

			named.Frames = append(named.Frames, f)
		}

		out = append(out, named)
	}

	return out
}

// partSize is how much of a text or a table is read ahead.
const partSize = 256

// frame is false of what is not the code of a function.
func (w *walk) frame(p place) (Frame, bool) {
	if p.code == 0 || !w.is(p.code, "code") || w.r.Spend(frameCost) != nil {
		return Frame{}, false
	}

	return Frame{
		File:     w.text(w.pointer(p.code, w.filename)),
		Function: w.text(w.pointer(p.code, w.qualname)),
		Line:     w.line(p),
	}, true
}

// is says whether an object is of the type of a name (tp_name, Include/cpython/object.h).
func (w *walk) is(object inferior.Addr, name string) bool {
	b, err := w.r.Bytes(w.pointer(w.pointer(object, w.obType), w.typeName), len(name)+1)

	return err == nil && string(b) == name+"\x00"
}

// begin returns where the bytecode starts that a frame runs. A free-threaded CPython may have a copy of it for each thread
// (_PyCodeArray, Include/cpython/code.h, from 3.14 on), of which the first is the code's own.
func (w *walk) begin(p place) inferior.Addr {
	if w.copies == 0 || p.copy == 0 {
		return p.code + inferior.Addr(w.code)
	}

	array := w.pointer(p.code, w.copies)
	if n := w.pointer(array, 0); p.copy >= uint64(n) {
		return 0
	}

	return w.pointer(array, 8+8*p.copy)
}

func (w *walk) line(p place) int32 {
	code, instruction := p.code, p.instruction
	table := w.pointer(code, w.lineTable)
	begin := w.begin(p)

	if begin == 0 || instruction < begin || !w.is(table, "bytes") {
		return 0
	}

	size, err := w.r.Uint(table+inferior.Addr(w.bytesSize), 8)
	if err != nil || size > maxTable {
		return 0
	}

	first, err := w.r.Int(code+inferior.Addr(w.firstLine), 4)
	if err != nil {
		return 0
	}

	b, err := w.r.Bytes(table+inferior.Addr(w.bytesValue), int(size))
	if err != nil {
		return 0
	}

	line, _ := Line(b, int32(first), uint64(instruction-begin))

	return line
}
