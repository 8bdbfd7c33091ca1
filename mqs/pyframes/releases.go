package pyframes

// untold are the offsets of CPythons that tell none, of builds with pointers of 8 bytes and without
// Py_TRACE_REFS: 3.11, 3.12, and 3.9 and 3.10, which have the same (Include/internal: pycore_runtime.h, pycore_interp.h, pycore_frame.h,
// pycore_code.h, pycore_gil.h, pycore_gc.h; Include/cpython: pystate.h, code.h, bytesobject.h, unicodeobject.h). They were printed by
// programs with these headers, of 3.11.2, 3.12.1, 3.9.18 and 3.10.13. Offsets count only for a process in which
// each leads to what it should lead to: a thread to its interpreter, frames to objects of the types code, str
// and bytes by their names, and the loop to the thread's own stack.
var untold = []offsets{
	{
		interpreters: 40, nextInterpreter: 0, threadList: 16,
		nextThread: 8, interpreter: 16, currentFrame: 56, nativeID: 160,
		framed: true, loopFrame: 8, hasLoops: true, previousLoop: 16, isEntry: 68,
		previous: 48, executable: 32, instruction: 56, owner: 69,
		filename: 112, qualname: 128, lineTable: 136, firstLine: 72, code: 184, obType: 8,
		bytesSize: 16, bytesValue: 32,
		textState: 32, textLength: 16, asciiSize: 48, compactSize: 72,
		gil: 360, gilLocked: 16, gilHolder: 8, collecting: 848, typeName: 24,
	},
	{
		interpreters: 40, nextInterpreter: 0, threadList: 72,
		nextThread: 8, interpreter: 16, currentFrame: 56, nativeID: 144,
		framed: true, loopFrame: 0,
		previous: 8, executable: 0, instruction: 56, owner: 70,
		filename: 112, qualname: 128, lineTable: 136, firstLine: 68, code: 192, obType: 8,
		bytesSize: 16, bytesValue: 32,
		textState: 32, textLength: 16, asciiSize: 40, compactSize: 56,
		gil: 384, gilPointer: true, gilLocked: 16, gilHolder: 8, collecting: 312, typeName: 24,
	},
	{
		interpreters: 32, nextInterpreter: 0, threadList: 8,
		// struct pthread of the GNU C library on x86-64 (nptl/descr.h): the id is behind its head and two list links.
		nextThread: 8, interpreter: 16, currentFrame: 24, nativeID: 176, nativeBehind: 720,
		hasObjects: true, executable: 32, obType: 8,
		gil: 352, gilLocked: 16, gilHolder: 8, collecting: 816, typeName: 24,
	},
}
