//go:build linux

package dll_test

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/dll"
	"github.com/mpi-queues/mpi-queues/mqs/dll/locate"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/read"
	"github.com/mpi-queues/mpi-queues/tests/dll/testdll"
)

// Where the toy's objects are.
const (
	toyState = 0x10000
	toyComm  = 0x10100
	toySend  = 0x10200
	toyGroup = 0x10400
	toyEnd   = 0x11000
)

// Values of the toy's that need all bytes of a long or a pointer, also where that has 4.
const (
	toyID     = 0x11223344_81667788
	toyLength = 1<<33 + 4711
	toyBuffer = 0x7f00_f0001000
)

// toyStructs are the structs of tests/dll/toy.h. Each member has a kind: an int, a word (a long or a pointer), or so many ints,
// words or chars.
var toyStructs = map[string]string{
	"toy_state_t": "magic:int world_rank:int world_size:int sequence:word comms:word",
	"toy_comm_t": "next:word unique_id:word rank:word size:word name:char*64 group:word group_answer:int " +
		"group_written:int answers:int*3 queues:word*3",
	"toy_operation_t": "next:word status:int desired_local_rank:word desired_global_rank:word tag_wild:int desired_tag:word " +
		"desired_length:word system_buffer:int buffer:word actual_local_rank:word actual_global_rank:word actual_tag:word " +
		"actual_length:word lines:int text:char*320",
}

// toy is a made-up process of the toy MPI.
type toy struct {
	*inferiortest.Process
	order binary.ByteOrder
}

// newToy returns a toy whose words have so many bytes, with one communicator on which one send is pending. Its byte order is
// this machine's, or the other one.
func newToy(word int, isOtherOrder bool) *toy {
	isBig := (binary.NativeEndian.Uint16([]byte{0, 1}) == 1) != isOtherOrder
	t := &toy{inferiortest.New(), binary.ByteOrder(binary.LittleEndian)}
	if isBig {
		t.order = binary.BigEndian
	}
	t.Identity = inferior.Info{Inferior: 1, PID: 1, Kind: "core", Executable: "/other/toy", BigEndian: isBig, PointerSize: word}
	t.Memory[toyState] = make([]byte, toyEnd-toyState)
	t.Symbols["toy_state"], t.Symbols["toy_changed"] = &inferior.Symbol{Addr: toyState}, &inferior.Symbol{Addr: toyEnd}
	for name, members := range toyStructs {
		l, widest := &layout.Layout{Fields: map[string]layout.Field{}}, 1
		for m := range strings.FieldsSeq(members) {
			name, kind, _ := strings.Cut(m, ":")
			kind, times, _ := strings.Cut(kind, "*")
			size := map[string]int{"char": 1, "int": 4, "word": word}[kind]
			n, _ := strconv.Atoi(cmp.Or(times, "1"))
			l.Size = (l.Size + size - 1) / size * size
			l.Fields[name] = layout.Field{Offset: l.Size, Size: size, Kind: layout.KindSigned}
			l.Size += n * size
			widest = max(widest, size)
		}
		l.Size = (l.Size + widest - 1) / widest * widest
		t.Types[name] = l
	}
	t.set(toyState, "toy_state_t", map[string]uint64{"magic": 0x70791234, "comms": toyComm})
	t.set(toyComm, "toy_comm_t", map[string]uint64{
		"unique_id": toyID, "rank": 1, "size": 2, "group": toyGroup, "group_written": 2, "queues": toySend})
	t.name("other world")
	t.set(toySend, "toy_operation_t", map[string]uint64{"status": 1, "desired_local_rank": 1, "desired_global_rank": 5,
		"desired_tag": 0x1234, "desired_length": toyLength, "system_buffer": 1, "buffer": toyBuffer, "actual_local_rank": 1,
		"actual_global_rank": 5, "actual_tag": 0x1234, "actual_length": 77})
	t.order.PutUint32(t.Memory[toyState][toyGroup-toyState:], 4)
	t.order.PutUint32(t.Memory[toyState][toyGroup-toyState+4:], 5)
	return t
}

// set sets members of the struct at an address.
func (t *toy) set(at int, name string, values map[string]uint64) {
	for member, v := range values {
		f := t.Types[name].Fields[member]
		b := t.Memory[toyState][at-toyState+f.Offset:]
		if f.Size == 8 {
			t.order.PutUint64(b, v)
		} else {
			t.order.PutUint32(b, uint32(v))
		}
	}
}

// name names the communicator.
func (t *toy) name(text string) {
	at := toyComm - toyState + t.Types["toy_comm_t"].Fields["name"].Offset
	copy(t.Memory[toyState][at:], text+"\x00")
}

// open opens the toy's queues with a DLL, or with the first that works of those that the toy names.
func (t *toy) open(test *testing.T, h *dll.Hosts, path string) (*dll.Source, error) {
	return h.Open(test.Context(), dll.Process{Inferior: t}, dll.Settings{Path: path, SafePath: []string{"/"}})
}

// check reads the toy through a DLL, or through the first that works of those that the toy names, and checks what is shown. It
// returns the notes.
func (t *toy) check(test *testing.T, h *dll.Hosts, path string) []string {
	test.Helper()
	s, err := t.open(test, h, path)
	if err != nil {
		test.Fatal(err)
	}
	p, err := read.Collect(inferior.NewReader(test.Context(), t), s, read.Filter{})
	if err != nil || len(p.Communicators) != 2 {
		test.Fatalf("%+v, %v", p, err)
	}
	mask := uint64(1)<<(8*t.Identity.PointerSize) - 1
	c, calls := p.Communicators[0], p.Communicators[1]
	if uint64(c.UniqueID) != toyID&mask || c.LocalRank != mqs.Known[int32](1) || c.Size != mqs.Known[int32](2) ||
		c.Name != mqs.Known("other world") || len(c.Group) != 2 || c.Group[0] != mqs.Known[int32](4) || c.Group[1] != mqs.Known[int32](5) {
		test.Errorf("the communicator is %+v", c.Communicator)
	}
	ops := c.Queue[mqs.PendingSends].Operations
	if len(ops) != 1 {
		test.Fatalf("the sends are %+v", ops)
	}
	op := ops[0]
	if op.Status != mqs.Matched || op.DesiredLocalRank.Value != 1 || op.DesiredGlobalRank.Value != 5 || op.DesiredTag.Value != 0x1234 ||
		op.DesiredLength.Value != toyLength&int64(mask) || !op.SystemBuffer.Value || uint64(op.Buffer.Value) != toyBuffer&mask ||
		op.ActualLength.Value != 77 {
		test.Errorf("the send is %+v", op)
	}
	for _, failed := range calls.Queue[mqs.PendingReceives].Operations {
		test.Errorf("a check of the DLL's failed: %s", strings.Join(failed.ExtraText, ""))
	}
	return s.Notes()
}

// TestOtherByteOrder checks that a DLL can read a process of the other byte order, and is told the sizes that the debugger knows.
func TestOtherByteOrder(t *testing.T) {
	t.Parallel()
	process := newToy(8, true)
	process.Types["long"] = &layout.Layout{Size: 4}
	h := hosts()
	defer h.Close()
	process.check(t, h, testdll.In(t.TempDir()).Reference(t, "-DOTHER_ORDER=1", "-DLONG_SIZE=4"))
}

// TestNarrowProcess checks that a DLL of 64 bits can read a process of 32 bits: it is told that longs and pointers have 4 bytes.
func TestNarrowProcess(t *testing.T) {
	t.Parallel()
	h := hosts()
	defer h.Close()
	newToy(4, false).check(t, h, testdll.In(t.TempDir()).Reference(t, "-DTOY_NARROW"))
}

// TestNextCandidate checks that a DLL of another platform is skipped, and that the user is told why. Open MPI's list may have DLLs
// for several kinds of debuggers.
func TestNextCandidate(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	good := testdll.In(folder).Reference(t)
	text, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	patched := func(name string, at int, b byte) string {
		path, other := filepath.Join(folder, name), bytes.Clone(text)
		if other[at] == b {
			b++
		}
		other[at] = b
		if err := os.WriteFile(path, other, 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const machine = 18 // e_machine
	class := patched("libclass.so", elf.EI_CLASS, byte(elf.ELFCLASS32))
	processor := patched("libmachine.so", machine, byte(elf.EM_AARCH64))

	const list, names = 0x20000, 0x21000
	process := newToy(8, false)
	process.Symbols[locate.DLLLocations] = &inferior.Symbol{Addr: list}
	pointers := []uint64{list + 8}
	var paths []byte
	for _, path := range []string{filepath.Join(folder, "libabsent.so"), class, processor, good} {
		pointers = append(pointers, names+uint64(len(paths)))
		paths = append(paths, path+"\x00"...)
	}
	for i, p := range pointers {
		process.Put(list+inferior.Addr(8*i), binary.NativeEndian.AppendUint64(nil, p))
	}
	process.Put(names, paths)

	h := hosts()
	defer h.Close()
	notes := strings.Join(process.check(t, h, ""), "\n")
	for _, name := range []string{class, processor} {
		if !strings.Contains(notes, name+" is built for ") {
			t.Errorf("the notes do not say why %s is not used:\n%s", name, notes)
		}
	}
	if strings.Contains(notes, "absent") {
		t.Errorf("the notes name a DLL that does not exist:\n%s", notes)
	}
	found, err := h.Find(t.Context(), dll.Process{Inferior: process}, dll.Settings{SafePath: []string{"/"}})
	if err != nil || found.Path != good {
		t.Errorf("found %+v, %v", found, err)
	}
	if said := check(t, processor, 10*time.Minute); !strings.HasPrefix(said, "the DLL: WRONG: "+processor+" is built for EM_") {
		t.Errorf("dll-check says %s", said)
	}
}

// TestBetweenStops checks that what a process has changed since the previous stop is shown: queue support that was switched on,
// and a communicator's new name in place of the old one.
func TestBetweenStops(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]string{"reads anew": nil, "keeps": {"-DKEEPS=1"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := testdll.In(t.TempDir()).Reference(t, options...)
			process := newToy(8, false)
			process.set(toyState, "toy_state_t", map[string]uint64{"magic": 0})
			h := hosts()
			defer h.Close()
			for range 2 {
				_, err := process.open(t, h, path)
				if err == nil || !strings.Contains(err.Error(), "mqs_process_has_queues failed: the process has no toy MPI") {
					t.Fatalf("the process has no queues yet, and the error is %v", err)
				}
			}
			process.set(toyState, "toy_state_t", map[string]uint64{"magic": 0x70791234})
			process.check(t, h, path)

			process.name("new")
			s, err := process.open(t, h, path)
			if err != nil {
				t.Fatal(err)
			}
			p, err := read.Collect(inferior.NewReader(t.Context(), process), s, read.Filter{})
			if err != nil || len(p.Communicators) != 2 || p.Communicators[0].Name != mqs.Known("new") {
				t.Errorf("after the communicator was renamed: %+v, %v", p, err)
			}
		})
	}
}
