package mpir

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// The size of a predefined datatype is in its handle, and its name is shown if it is MPI's: from 5.0 on requests have the
// library's own types. A derived one is shown if it is the handle's and in use.
func TestDatatype(t *testing.T) {
	const builtin, pools, direct, size = 0x1000, 0x3000, 0x4000, 64
	p := inferiortest.New()
	p.Symbols[symDatatypes], p.Symbols[symDatatypePool] = &inferior.Symbol{Addr: builtin}, &inferior.Symbol{Addr: pools}
	p.Types["MPIR_Datatype"] = &layout.Layout{Size: size, Fields: map[string]layout.Field{"handle": field(0, 4, layout.KindSigned), "ref_count": field(4, 4, layout.KindSigned),
		"size": field(8, 8, layout.KindSigned), "name": field(16, 48, layout.KindArray)}}
	p.Types["MPIR_Object_alloc_t"] = &layout.Layout{Size: 64, Fields: map[string]layout.Field{"avail": field(0, 8, layout.KindPointer), "initialized": field(8, 4, layout.KindSigned),
		"indirect": field(16, 8, layout.KindPointer), "indirect_size": field(24, 4, layout.KindSigned), "num_allocated": field(28, 4, layout.KindSigned),
		"size": field(32, 4, layout.KindSigned), "direct": field(40, 8, layout.KindPointer), "direct_size": field(48, 4, layout.KindSigned)}}
	put := func(at inferior.Addr, handle, refs uint32, bytes uint64, name string) {
		p.PutUint32(at, handle, refs)
		p.PutUint64(at+8, bytes)
		p.Put(at+16, []byte(name+"\x00"))
	}
	put(builtin+5*size, 0x4c000405, 0, 4, "MPI_INT")
	put(builtin+6*size, 0x4c000806, 0, 8, "mpir_int64")
	put(direct, 0x8c000000, 1, 24, "particle")
	put(direct+size, 0x8c000001, 0, 24, "freed")
	put(direct+2*size, 0x8c000007, 1, 24, "another one")
	p.PutUint64(pools, 0, 1)
	p.PutUint32(pools+28, 4, size)
	p.PutUint64(pools+40, direct, 4)
	l := over(p)
	for handle, want := range map[uint32]Datatype{
		0x4c000405: {mqs.Known("MPI_INT"), mqs.Known[int64](4)},
		0x4c000806: {mqs.Maybe[string]{}, mqs.Known[int64](8)},
		0x8c000000: {mqs.Known("particle"), mqs.Known[int64](24)},
		0x8c000001: {}, 0x8c000002: {}, 0x8c000009: {}, 0x0c000000: {},
	} {
		for range 2 {
			if got := l.Datatype(handle); got != want {
				t.Errorf("%#x is %+v, want %+v", handle, got, want)
			}
		}
	}
	if notes := l.Remarks.Sentences(); len(notes) != 0 {
		t.Errorf("notes: %q", notes)
	}
}
