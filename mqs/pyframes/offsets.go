package pyframes

import "encoding/binary"

// offsets are those of the fields that lead to a line. A CPython from 3.13 on
// has them at the start of _PyRuntime (_Py_DebugOffsets; 3.13:
// Include/internal/pycore_runtime.h, 3.14: pycore_debug_offsets.h).
type offsets struct {
	interpreters, nextInterpreter, threadList              uint64
	nextThread, interpreter, currentFrame, nativeID        uint64
	previous, executable, instruction, owner               uint64
	filename, qualname, lineTable, firstLine, code, obType uint64
	bytesSize, bytesValue                                  uint64
	textState, textLength, asciiSize, compactSize          uint64

	// gil is where an interpreter has a pointer to its lock if gilPointer is true; otherwise where the runtime has the only lock.
	// The others are within the lock.
	gil, gilLocked, gilHolder uint64
	gilPointer                bool
	// gilEnabled is where a lock of a free-threaded build says whether it is in use.
	gilEnabled     uint64
	isFreeThreaded bool

	// collecting is where an interpreter has the flag that says whether a garbage collection runs.
	collecting uint64
	// told is true if the process itself tells where the fields are.
	told bool

	// typeName is where a type has its name.
	typeName uint64
	// copies is where code has the copies of its bytecode, and copyIndex where a frame says which one it runs; 0 if there are none.
	copies, copyIndex uint64

	// hasObjects is true if currentFrame leads to an object on the heap (up to 3.10), of which only the code is read.
	hasObjects bool
	// nativeBehind is where the C library has a thread's native id, behind the address by which POSIX knows the thread. A thread then
	// has that address at nativeID.
	nativeBehind uint64

	// framed is true if currentFrame leads to a struct on the stack (_PyCFrame) that has the frame at loopFrame.
	framed    bool
	loopFrame uint64
	// hasLoops is true if the frames of calls of the loop are none of the list, but these structs are a list of
	// their own, and a frame says at isEntry that it is the outermost of its call.
	hasLoops              bool
	previousLoop, isEntry uint64
}

// lockSize is an upper bound of the part of a lock that is read.
const lockSize = 256

// debugOffsetsSize is how much of _PyRuntime has to be read for them.
const debugOffsetsSize = 8 * 83

// form says at which number of eight bytes each group of offsets starts: the
// group's first is the size of its struct. The lock's are a part of the interpreter's: where the pointer to the lock in use is, and
// where the interpreter's own lock is, with its state and its holder.
type form struct {
	lock, thread, frame, code, object, bytes, text int
	// copies is true if there are offsets of the copies of bytecode, which are 0 except in free-threaded builds.
	copies bool
}

// forms are those of 3.13 and of 3.14, which has more fields in some groups.
var forms = []form{
	{lock: 14, thread: 19, frame: 28, code: 34, object: 44, bytes: 64, text: 67},
	{lock: 15, thread: 22, frame: 31, code: 39, object: 50, bytes: 74, text: 77, copies: true},
}

// told says whether offsets are there.
func told(b []byte) bool { return len(b) >= debugOffsetsSize && string(b[:8]) == "xdebugpy" }

// parse finds the offsets in the start of _PyRuntime. Those that do not prove
// themselves are none.
func parse(b []byte, order binary.ByteOrder) (offsets, bool) {
	if !told(b) {
		return offsets{}, false
	}

	at := func(i int) uint64 { return order.Uint64(b[8*i:]) }

	var (
		found offsets
		times int
	)

	for _, f := range forms {
		if !f.proves(at) {
			continue
		}

		times++
		found = offsets{
			interpreters: at(5), nextInterpreter: at(8), threadList: at(9),
			nextThread: at(f.thread + 2), interpreter: at(f.thread + 3), currentFrame: at(f.thread + 4), nativeID: at(f.thread + 6),
			previous: at(f.frame + 1), executable: at(f.frame + 2),
			instruction: at(f.frame + 3), owner: at(f.frame + 5),
			filename: at(f.code + 1), qualname: at(f.code + 3), lineTable: at(f.code + 4),
			firstLine: at(f.code + 5), code: at(f.code + 9), obType: at(f.object + 1),
			bytesSize: at(f.bytes + 1), bytesValue: at(f.bytes + 2),
			textState: at(f.text + 1), textLength: at(f.text + 2), asciiSize: at(f.text + 3),
			// behind the head of a str that is ASCII are the size and the address of its UTF-8.
			compactSize: at(f.text+3) + 16,
			gil:         at(f.lock), gilPointer: true,
			gilLocked: at(f.lock+3) - at(f.lock+1), gilHolder: at(f.lock+4) - at(f.lock+1),
			gilEnabled: at(f.lock + 2), isFreeThreaded: at(2) == 1,
			collecting: at(f.lock-4) + at(f.text+5), told: true,
			typeName: at(f.object + 3),
		}
		if f.copies {
			found.copies, found.copyIndex = at(f.code+10), at(f.frame+7)
		}
	}

	return found, times == 1
}

// proves is true if the groups are where the form says: the heads of objects,
// bytes and str are part of the stable ABI or unchanged since 3.12
// (Include/object.h, cpython/bytesobject.h, cpython/unicodeobject.h), and each
// other field lies within its struct. Objects of free-threaded builds have a head that is 16 bytes longer.
func (f form) proves(at func(int) uint64) bool {
	longer := 16 * at(2)
	if at(2) > 1 {
		return false
	}

	for i, want := range map[int]uint64{
		f.object: 16, f.object + 1: 8, f.object + 3: 24,
		f.bytes: 40, f.bytes + 1: 16, f.bytes + 2: 32,
		f.text: 64, f.text + 1: 32, f.text + 2: 16, f.text + 3: 40,
	} {
		if at(i) != want+longer {
			return false
		}
	}

	for _, group := range []struct{ size, fields int }{{3, 2}, {6, 3}, {f.thread, 8}, {f.frame, 5}, {f.code, 9}, {f.text + 4, 1}} {
		size := at(group.size)
		if size > 1<<24 {
			return false
		}

		for i := range group.fields {
			if at(group.size+1+i) >= size {
				return false
			}
		}
	}

	if f.copies && (at(f.code+10) >= at(f.code) || at(f.frame+7) >= at(f.frame)) {
		return false
	}

	// The lock and the collector's state are within the interpreter. The lock starts with its switch interval; in free-threaded builds
	// the field that enables the lock is before that.
	interpreter, own, enabled, locked, holder := at(6), at(f.lock+1), at(f.lock+2), at(f.lock+3), at(f.lock+4)
	collector := at(f.lock - 4)

	return at(f.lock) < interpreter && own < holder && enabled < holder-own && holder < locked && locked < interpreter && locked-own < lockSize &&
		collector < interpreter && at(f.text+4) <= interpreter-collector
}
