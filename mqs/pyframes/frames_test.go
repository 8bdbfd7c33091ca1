package pyframes

import (
	"encoding/binary"
	"reflect"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
)

// A process without a CPython has no threads of one.
func TestThreadsOfNone(t *testing.T) {
	found, err := Threads(inferior.NewReader(t.Context(), inferiortest.New()), nil)
	if found.Runs != nil || found.Locks != nil || err != nil {
		t.Errorf("%v, %v", found, err)
	}
}

// where things of the made-up processes are.
const (
	ownLock                             = inferior.Addr(0x2a000)
	runtime, interpreter, thread, other = inferior.Addr(0x10000), inferior.Addr(0x20000), inferior.Addr(0x28000), inferior.Addr(0x29000)
	frames, codes, texts, tables, types = inferior.Addr(0x30000), inferior.Addr(0x40000), inferior.Addr(0x50000), inferior.Addr(0x58000), inferior.Addr(0x60000)
	copies                              = inferior.Addr(0x48000)
	inner, outer                        = inferior.Addr(0x7f0000), inferior.Addr(0x7f8000) // loops, on the stack
)

// madeUp is a process whose thread 7 is in a function that C code has called, which another has called.
func madeUp(o offsets, start []byte) *inferiortest.Process {
	p := inferiortest.New()
	p.Symbols["_PyRuntime"] = &inferior.Symbol{Addr: runtime, Object: "/usr/bin/python3"}
	put := func(at inferior.Addr, offset uint64, v uint64) { p.PutUint64(at+inferior.Addr(offset), v) }
	for i, name := range []string{"code", "str", "bytes"} {
		at := types + inferior.Addr(0x100*i)
		put(at, o.typeName, uint64(at+0x80))
		p.Put(at+0x80, append([]byte(name), 0))
	}

	p.Put(runtime, make([]byte, debugOffsetsSize))
	p.Put(runtime, start)
	put(runtime, o.interpreters, uint64(interpreter))
	put(interpreter, o.threadList, uint64(other))
	put(interpreter, o.nextInterpreter, 0)
	p.PutUint32(interpreter+inferior.Addr(o.collecting), 0)
	if !o.told {
		put(interpreter, o.collecting-behindPointer, uint64(interpreter)+o.collecting-behindYoungest)
	}
	for at, id := range map[inferior.Addr]uint64{thread: 7, other: 8} {
		put(at, o.interpreter, uint64(interpreter))
		put(at, o.nativeID, id)
	}
	put(other, o.nextThread, uint64(thread))

	put(lockOf(o), o.gilHolder, uint64(other))
	p.PutUint32(lockOf(o)+inferior.Addr(o.gilLocked), 1)
	if o.gilPointer {
		put(interpreter, o.gil, uint64(ownLock))
	}
	if o.isFreeThreaded {
		p.PutUint32(ownLock+inferior.Addr(o.gilEnabled), 1)
	}

	text := func(i int, state byte, characters []byte, length int) uint64 {
		at := texts + inferior.Addr(0x400*i)
		put(at, o.obType, uint64(types+0x100))
		put(at, o.textLength, uint64(length))
		p.Put(at+inferior.Addr(o.textState), []byte{state, 0x5a, 0xa5, 0x77})
		from := o.asciiSize
		if state&0x40 == 0 {
			from = o.compactSize
		}
		p.Put(at+inferior.Addr(from), characters)
		return uint64(at)
	}
	file := text(0, 0x65, []byte("/home/me/a.py"), 13)
	names := []uint64{text(1, 0x25, []byte("Gr\xf6\xdfe"), 5), text(2, 0x28, []byte{0x41, 0, 0xac, 0x20}, 2), text(3, 0x65, []byte("main"), 4)}
	p.Put(tables+inferior.Addr(o.bytesValue), []byte{0xe8, 0x00}) // one unit at the first line
	put(tables, o.bytesSize, 2)
	put(tables, o.obType, uint64(types+0x200))

	// frames: two of the inner loop, its own, one of the outer, its own.
	place := func(i int) inferior.Addr { return frames + inferior.Addr(0x100*i) }
	for i, name := range names {
		code := codes + inferior.Addr(0x400*i)
		put(code, o.obType, uint64(types))
		put(code, o.filename, file)
		put(code, o.qualname, name)
		put(code, o.lineTable, uint64(tables))
		p.PutUint32(code+inferior.Addr(o.firstLine), uint32(10*i+10))
		put(place(i), o.executable, uint64(code))
		put(place(i), o.instruction, uint64(code)+o.code)
		if o.copies != 0 { // the second function runs a copy
			array := copies + inferior.Addr(0x100*i)
			put(code, o.copies, uint64(array))
			put(array, 0, 2)
			put(array, 16, uint64(array+0x40))
			p.PutUint32(place(i)+inferior.Addr(o.copyIndex), uint32(i%2))
			put(place(i), o.instruction, []uint64{uint64(code) + o.code, uint64(array + 0x40)}[i%2])
		}
		p.Put(place(i)+inferior.Addr(o.owner), []byte{0})
	}
	link := func(from, to inferior.Addr) { put(from, o.previous, uint64(to)) }
	link(place(0), place(1))
	if o.hasLoops {
		p.Put(place(1)+inferior.Addr(o.isEntry), []byte{1})
		p.Put(place(2)+inferior.Addr(o.isEntry), []byte{1})
		put(inner, o.previousLoop, uint64(outer))
		link(place(1), place(2))
		link(place(2), 0)
	} else {
		for _, at := range []inferior.Addr{inner, outer} {
			p.Put(at+inferior.Addr(o.owner), []byte{ownedByInterpreter})
		}
		link(place(1), inner)
		link(inner, place(2))
		link(place(2), outer)
		link(outer, 0)
	}
	switch {
	case o.hasLoops:
		put(inner, o.loopFrame, uint64(place(0)))
		put(thread, o.currentFrame, uint64(inner))
	case o.framed:
		put(0x700000, o.loopFrame, uint64(place(0)))
		put(thread, o.currentFrame, 0x700000)
	default:
		put(thread, o.currentFrame, uint64(place(0)))
	}
	return p
}

// lockOf returns the address of the global interpreter lock of a made-up process.
func lockOf(o offsets) inferior.Addr {
	if o.gilPointer {
		return ownLock
	}
	return runtime + inferior.Addr(o.gil)
}

// releases are the offsets of CPythons, with how their _PyRuntime starts.
func releases(t *testing.T) (of map[string]offsets, starts map[string][]byte) {
	of = map[string]offsets{"3.11": untold[0], "3.12": untold[1]}
	starts = map[string][]byte{}
	for python, numbers := range runtimes {
		starts[python] = start(numbers)
		o, ok := parse(starts[python], binary.LittleEndian)
		if !ok {
			t.Fatal(python)
		}
		of[python] = o
	}
	return of, starts
}

// Frames have their names in all kinds of text, and their lines, and are in runs by the calls of the loop.
func TestThreads(t *testing.T) {
	const file = "/home/me/a.py"
	want := map[int][]Run{7: {
		{Loop: inner, Frames: []Frame{{file, "Größe", 10}, {file, "A€", 20}}},
		{Loop: outer, Frames: []Frame{{file, "main", 30}}},
	}}
	of, starts := releases(t)
	for python, o := range of {
		p := madeUp(o, starts[python])
		got, err := Threads(inferior.NewReader(t.Context(), p), map[int]bool{7: true, 9: true})
		if !reflect.DeepEqual(got.Runs, want) || got.Object != "/usr/bin/python3" || err != nil {
			t.Errorf("%s: %v, %v", python, got, err)
		}
		if p.Calls > 30 {
			t.Errorf("%s: memory was read %d times", python, p.Calls)
		}
	}
}

// What does not prove itself ends the frames or is not known: never another frame or name.
func TestThreadsOfBroken(t *testing.T) {
	of, starts := releases(t)
	for python, o := range of {
		for name, c := range map[string]struct {
			at   inferior.Addr
			v    uint64
			want func([]Run) bool
		}{
			"another interpreter":  {thread + inferior.Addr(o.interpreter), 1, func(r []Run) bool { return r == nil }},
			"no thread's id":       {thread + inferior.Addr(o.nativeID), 77, func(r []Run) bool { return r == nil }},
			"the id of two":        {other + inferior.Addr(o.nativeID), 7, func(r []Run) bool { return r == nil }},
			"code of another type": {codes + inferior.Addr(o.obType), uint64(types + 0x100), func(r []Run) bool { return r == nil }},
			"an outer one's":       {codes + 0x800 + inferior.Addr(o.obType), uint64(types + 0x100), func(r []Run) bool { return len(r) == 1 }},
			"a name that is none":  {codes + inferior.Addr(o.qualname), uint64(tables), func(r []Run) bool { return len(r) == 2 && r[0].Frames[0].Function == "" }},
			"a long name":          {texts + 0x400 + inferior.Addr(o.textLength), 1 << 40, func(r []Run) bool { return len(r) == 2 && r[0].Frames[0].Function == "" }},
			"an early instruction": {frames + inferior.Addr(o.instruction), 5, func(r []Run) bool { return len(r) == 2 && r[0].Frames[0].Line == 0 }},
			"frames in a circle":   {frames + 0x100 + inferior.Addr(o.previous), uint64(frames), func([]Run) bool { return true }},
			"threads in a circle":  {thread + inferior.Addr(o.nextThread), uint64(thread), func(r []Run) bool { return r == nil }},
		} {
			p := madeUp(o, starts[python])
			p.PutUint64(c.at, c.v)
			got, err := Threads(inferior.NewReader(t.Context(), p), map[int]bool{7: true})
			if !c.want(got.Runs[7]) || err != nil {
				t.Errorf("%s, %s: %v, %v", python, name, got, err)
			}
		}
	}
}
