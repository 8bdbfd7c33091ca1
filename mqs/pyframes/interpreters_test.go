package pyframes

import (
	"reflect"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
)

// TestInterpreters checks that a garbage collection is reported while the flag of the interpreter says so, and that an interpreter lacks
// a global lock only if a free-threaded build has not enabled it. Where the process does not tell its offsets, a flag counts only
// behind a pointer to the youngest generation.
func TestInterpreters(t *testing.T) {
	of, starts := releases(t)
	for python, o := range of {
		idle := Interpreter{Threads: []int{8, 7}, UsesGIL: true}
		collects, lacks, unknown := idle, idle, idle
		collects.Collects, lacks.UsesGIL, lacks.LacksGIL = true, !o.isFreeThreaded, o.isFreeThreaded
		unknown.UsesGIL = !o.gilPointer
		unproven := idle
		unproven.Collects = o.told
		flag := interpreter + inferior.Addr(o.collecting)
		for name, c := range map[string]struct {
			change func(p *inferiortest.Process)
			want   Interpreter
		}{
			"idle":                {func(*inferiortest.Process) {}, idle},
			"collecting":          {func(p *inferiortest.Process) { p.PutUint32(flag, 1) }, collects},
			"no flag":             {func(p *inferiortest.Process) { p.PutUint32(flag, 7) }, idle},
			"without the lock":    {func(p *inferiortest.Process) { p.PutUint32(lockOf(o)+inferior.Addr(o.gilEnabled), 0) }, lacks},
			"without the pointer": {func(p *inferiortest.Process) { p.PutUint32(flag, 1); p.PutUint64(flag-behindPointer, 0) }, unproven},
			"an unknown id":       {func(p *inferiortest.Process) { p.PutUint64(other+inferior.Addr(o.nativeID), 1<<40) }, Interpreter{Threads: []int{0, 7}, UsesGIL: true}},
			"no lock": {func(p *inferiortest.Process) {
				if o.gilPointer {
					p.PutUint64(interpreter+inferior.Addr(o.gil), 0)
				}
			}, unknown},
			"a list that ends early": {func(p *inferiortest.Process) { p.PutUint64(thread+inferior.Addr(o.nextThread), uint64(thread+0x800)) },
				Interpreter{Threads: []int{8, 7, 0}, UsesGIL: true}},
		} {
			p := madeUp(o, starts[python])
			c.change(p)
			got, err := Threads(inferior.NewReader(t.Context(), p), map[int]bool{7: true})
			if !reflect.DeepEqual(got.Interpreters, []Interpreter{c.want}) || err != nil {
				t.Errorf("%s, %s: %+v, %v", python, name, got.Interpreters, err)
			}
			if c.want.LacksGIL && got.Locks != nil {
				t.Errorf("%s, %s: %+v", python, name, got.Locks)
			}
		}
	}
}

// TestObjects checks what is read of a CPython up to 3.10, which knows its threads by their addresses: the lock's holder and whether a
// garbage collection runs, but no frames. It counts only if a thread leads to a frame of code, and the C library confirms the address.
func TestObjects(t *testing.T) {
	const head, frame = inferior.Addr(0x7e0000), inferior.Addr(0x31000)
	o := untold[2]
	made := func() *inferiortest.Process {
		p := inferiortest.New()
		put := func(at inferior.Addr, offset uint64, v uint64) { p.PutUint64(at+inferior.Addr(offset), v) }
		p.Symbols["_PyRuntime"] = &inferior.Symbol{Addr: runtime, Object: "/usr/bin/python3"}
		p.Put(runtime, make([]byte, debugOffsetsSize))
		put(runtime, o.interpreters, uint64(interpreter))
		put(interpreter, o.nextInterpreter, 0)
		put(interpreter, o.threadList, uint64(thread))
		put(interpreter, o.collecting-behindPointer, uint64(interpreter)+o.collecting-behindYoungest)
		put(interpreter, o.collecting, 1)
		put(thread, o.interpreter, uint64(interpreter))
		put(thread, o.nextThread, 0)
		put(thread, o.nativeID, uint64(head))
		put(head, 16, uint64(head))
		put(head, o.nativeBehind, 7)
		put(thread, o.currentFrame, uint64(frame))
		put(frame, o.obType, uint64(types))
		put(frame, o.executable, uint64(codes))
		put(codes, o.obType, uint64(types+0x100))
		for i, name := range []string{"frame", "code"} {
			at := types + inferior.Addr(0x100*i)
			put(at, o.typeName, uint64(at+0x80))
			p.Put(at+0x80, append([]byte(name), 0))
		}
		put(lockOf(o), o.gilHolder, uint64(thread))
		p.PutUint32(lockOf(o)+inferior.Addr(o.gilLocked), 1)
		return p
	}
	for name, c := range map[string]struct {
		at   inferior.Addr
		v    uint64
		want bool
	}{
		"proven":                {head + 24, 0, true},
		"another head":          {head + 16, 5, false},
		"another type of frame": {frame + inferior.Addr(o.obType), uint64(types + 0x100), false},
		"another interpreter":   {thread + inferior.Addr(o.interpreter), 1, false},
		"no code":               {codes + inferior.Addr(o.obType), uint64(types), false},
	} {
		p := made()
		p.PutUint64(c.at, c.v)
		got, err := Threads(inferior.NewReader(t.Context(), p), map[int]bool{7: true})
		want := Found{Object: "/usr/bin/python3", Runs: map[int][]Run{}}
		if c.want {
			want.Locks = []Lock{{Condition: inferior.Range{Addr: lockOf(o) + 32, Len: 48}, Holder: 7}}
			want.Interpreters = []Interpreter{{Threads: []int{7}, Collects: true, UsesGIL: true}}
		}
		if !reflect.DeepEqual(got, want) || err != nil {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
