package mpir_test

import (
	"encoding/binary"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpichtest"
)

// contentsAt puts the contents of a datatype whose parts are filled up to an alignment.
func contentsAt(m *mpichtest.Made, alignment int, combiner uint64, types []uint32, integers []int32, addresses []int64) uint64 {
	b := m.Bytes("MPIR_Datatype_contents", mpichtest.Members{"combiner": combiner, "nr_types": uint64(len(types)), "nr_ints": uint64(len(integers)), "nr_aints": uint64(len(addresses))})
	fill := func() {
		for len(b)%alignment != 0 {
			b = append(b, 0xa5)
		}
	}
	fill()
	for _, v := range types {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	fill()
	for _, v := range integers {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	fill()
	for _, v := range addresses {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	return uint64(m.Memory(b))
}

// How a datatype was built is read whatever the parts of its contents are filled up to, and is believed if the size
// is right that comes of it.
func TestConstruction(t *testing.T) {
	const intType, doubleType = 0x4c000405, 0x4c00080b
	for _, alignment := range []int{8, 16} {
		m := mpichtest.Make(t)
		of := func(size int, combiner uint64, types []uint32, integers []int32, addresses []int64) mpichtest.Members {
			return mpichtest.Members{"size": uint64(size), "extent": 1616, "lb": 0xffffffffffffffff, "is_committed": 1, "contents": contentsAt(m, alignment, combiner, types, integers, addresses)}
		}
		named := of(24, 3, []uint32{doubleType}, []int32{3}, nil)
		named["name"] = binary.LittleEndian.Uint64([]byte("atom\x00\x00\x00\x00"))
		circle := of(4, 2, []uint32{0x8c000007}, nil, nil)
		m.Pool("MPIR_Datatype_mem", "MPIR_Datatype", 0x8c000000,
			mpichtest.Members{"size": 8, "extent": 8}, // of a value and an index
			of(48, 4, []uint32{doubleType}, []int32{3, 2, 100}, nil),
			of(60, 12, []uint32{intType, 0x8c000001}, []int32{2, 3, 1}, []int64{0, 16}),
			named,
			of(48, 3, []uint32{0x8c000003}, []int32{2}, nil),
			of(49, 4, []uint32{doubleType}, []int32{3, 2, 100}, nil), // another size
			of(48, 77, []uint32{doubleType}, []int32{3, 2, 100}, nil),
			circle,
			of(4, 18, []uint32{intType}, nil, []int64{-4, 16}),
			nil,
			of(4, 2, []uint32{0x8c000009}, nil, nil), // of one that is free
		)
		for handle, want := range map[uint64]string{
			0x8c000000: "", 0x8c000001: "vector 3 of 2 MPI_DOUBLE stride 100", 0x8c000002: "struct of 3 MPI_INT at 0, 1 (vector 3 of 2 MPI_DOUBLE stride 100) at 16 bytes",
			0x8c000003: "contiguous 3 MPI_DOUBLE", 0x8c000004: "contiguous 2 atom", 0x8c000005: "", 0x8c000006: "", 0x8c000007: "dup of (dup of (dup of (dup of (…))))",
			0x8c000008: "resized MPI_INT to lower bound -4, extent 16", 0x8c00000a: "dup of (…)",
		} {
			h := resolve(t, m, mqs.DatatypeHandle, handle)
			if h.Datatype == nil || h.Datatype.Construction != want {
				t.Errorf("%d: %#x is %+v, want %q", alignment, handle, h.Datatype, want)
			}
		}
		h := resolve(t, m, mqs.DatatypeHandle, 0x8c000001)
		want := mqs.Datatype{Name: mqs.Known(""), Size: mqs.Known[int64](48), LowerBound: mqs.Known[int64](-1), Extent: mqs.Known[int64](1616), Committed: mqs.Known(true), Construction: "vector 3 of 2 MPI_DOUBLE stride 100"}
		if *h.Datatype != want || h.State != mqs.LiveHandle {
			t.Errorf("%+v", h.Datatype)
		}
		if h := resolve(t, m, mqs.DatatypeHandle, 0x8c000000); h.State != mqs.PredefinedHandle {
			t.Errorf("a predefined one: %+v", h)
		}
		if h := resolve(t, m, mqs.DatatypeHandle, 0x8c000009); h.State != mqs.FreedHandle || h.Datatype != nil {
			t.Errorf("a free one: %+v", h)
		}
	}
}

// An operation whose datatype has no name says how it was built.
func TestUnnamedDatatype(t *testing.T) {
	m := mpichtest.Make(t)
	receive := func() mqs.PendingOperation {
		return mpichtest.Queues(t, mpichtest.Shown(t, m), "MPI_COMM_SELF").Queue[mqs.PendingReceives].Operations[0]
	}
	before := receive()
	if before.Datatype != mqs.Known("MPI_INT") || before.DatatypeConstruction != "" {
		t.Fatalf("%+v", before)
	}
	m.Pool("MPIR_Datatype_mem", "MPIR_Datatype", 0x8c000000, mpichtest.Members{"size": 12, "contents": contentsAt(m, 16, 3, []uint32{0x4c000405}, []int32{3}, nil)})
	m.PutUint32(before.Request.Value+m.Offset("MPIR_Request", "dev.ch4.self.datatype"), 0x8c000000)
	if op := receive(); op.Datatype != mqs.Known("") || op.DatatypeConstruction != "contiguous 3 MPI_INT" || op.DesiredLength.Value != 12*op.Count.Value {
		t.Errorf("%+v", op)
	}
}
