package dll

import (
	"context"
	"encoding/binary"
	"hash/fnv"
	"unsafe"

	"github.com/mpi-queues/mpi-queues/mqs/dll/abi"
	"github.com/mpi-queues/mpi-queues/mqs/dll/locate"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// synthetic is a made-up process. It has everything that a DLL looks for, or nothing, and its memory
// is all of one kind.
type synthetic struct {
	// title completes "a process …".
	title string
	// empty has no symbol and no type.
	empty bool
	// fill fills memory that begins at an address; nil for memory that can't be read.
	fill func(a inferior.Addr, b []byte)
}

// The addresses of a synthetic process.
const (
	syntheticStart = 0x10000000
	symbols        = 1 << 10
	symbolSpacing  = 1 << 16 // between two symbols
	syntheticEnd   = syntheticStart + symbols*symbolSpacing
	syntheticType  = 1 << 12 // the size of every type
	fieldSpacing   = 8       // between two members
	// A synthetic process has the DLL's own architecture.
	syntheticPointer = int(unsafe.Sizeof(abi.TaddrT(0)))
)

var synthetics = []synthetic{
	{title: "without any symbol of an MPI", empty: true},
	{title: "whose memory can't be read"},
	{title: "whose memory is all zeros", fill: func(inferior.Addr, []byte) {}},
	{title: "whose memory is all ones", fill: func(_ inferior.Addr, b []byte) {
		for i := range b {
			b[i] = 0xff
		}
	}},
	// Each pointer points a little further, in a circle: lists have no end.
	{title: "whose lists go round in circles", fill: func(a inferior.Addr, b []byte) {
		for i := range b {
			word := (a + inferior.Addr(i)) &^ 7
			next := syntheticStart + (word+2*fieldSpacing-syntheticStart)%symbolSpacing
			var bytes [8]byte
			if syntheticPointer == 4 {
				binary.NativeEndian.PutUint32(bytes[:], uint32(next))
			} else {
				binary.NativeEndian.PutUint64(bytes[:], uint64(next))
			}
			b[i] = bytes[(a+inferior.Addr(i))%8]
		}
	}},
}

func (s synthetic) Info() inferior.Info {
	return inferior.Info{Inferior: 1, PID: 1, Kind: "live", Executable: "/synthetic/process", Architecture: "synthetic",
		PointerSize: syntheticPointer, BigEndian: binary.NativeEndian.Uint16([]byte{0, 1}) == 1}
}

func (s synthetic) ReadMemory(_ context.Context, ranges []inferior.Range) ([][]byte, error) {
	out := make([][]byte, len(ranges))
	for i, r := range ranges {
		if s.fill != nil && r.Addr >= syntheticStart && r.Addr < syntheticEnd {
			out[i] = make([]byte, min(r.Len, int(syntheticEnd-r.Addr)))
			s.fill(r.Addr, out[i])
		}
	}
	return out, nil
}

func (s synthetic) FindSymbols(_ context.Context, names []string) ([]*inferior.Symbol, error) {
	out := make([]*inferior.Symbol, len(names))
	for i, name := range names {
		if !s.empty && name != locate.IgnoreQueues && name != locate.IgnoreQueuesMPIR {
			out[i] = &inferior.Symbol{Addr: syntheticStart + inferior.Addr(hash(name)%symbols)*symbolSpacing}
		}
	}
	return out, nil
}

func (s synthetic) FindTypes(_ context.Context, queries []layout.TypeQuery) ([]*layout.Layout, error) {
	out := make([]*layout.Layout, len(queries))
	for i, q := range queries {
		if s.empty {
			continue
		}
		out[i] = &layout.Layout{Size: syntheticType, Fields: map[string]layout.Field{}}
		for _, f := range q.Fields {
			at := int(hash(f)%(syntheticType/fieldSpacing)) * fieldSpacing
			out[i].Fields[f] = layout.Field{Offset: at, Size: fieldSpacing, Kind: layout.KindPointer}
		}
	}
	return out, nil
}

func (s synthetic) Threads(context.Context, int, []string) ([]inferior.Thread, error) {
	return nil, nil
}

// hash returns a number that is always the same for a name.
func hash(name string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	return h.Sum32()
}
