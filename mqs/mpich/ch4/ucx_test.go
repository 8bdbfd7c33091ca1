package ch4

import (
	"context"
	"os"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// TestTablesHaveModules checks that each embedded table of a whole library has the types of a network module, and that each
// network module has a table.
func TestTablesHaveModules(t *testing.T) {
	tables := layout.OfScope(layout.MustReadTables(os.DirFS(".."), "tables"), layout.ScopeAll)
	has := map[string]int{}
	for _, table := range tables {
		var whose []string
		for _, m := range modules {
			if n, _, err := m.bind(&mpir.Library{Layouts: table.Layouts(inferior.Queries(m.types()))}); err == nil {
				whose = append(whose, n.name())
			}
		}
		if len(whose) == 0 {
			t.Fatalf("%s has the types of no network module", table.Release)
		}
		for _, name := range whose {
			has[name]++
		}
	}
	for _, want := range []string{"UCX", "libfabric"} {
		if has[want] == 0 {
			t.Errorf("no table is of a library over %s", want)
		}
	}
}

// The tags of MPICH 4.0 to 5.0 (src/mpid/ch4/netmod/ucx/ucx_impl.h), as seen on processes.
func TestTagsOfUCX(t *testing.T) {
	for tag, want := range map[uint64]struct {
		context      uint64
		source, tag  int32
		isOfLibrarys bool
	}{
		0x0000_0001_0000_0007: {0, 1, 7, false},
		0x01f0_0002_0fff_ffff: {0x1f0, 2, 0xfff_ffff, false},
		0x0001_0000_0000_0003: {1, 0, 3, true}, // collective
		0x0003_0001_0000_0003: {3, 1, 3, true}, // on the part that is a node
		0x0000_0001_4000_0003: {0, 1, 3, true}, // an active message's
	} {
		got := ucxTags.Envelope(tag)
		if got.Context != want.context || got.Source != mqs.Known(want.source) || got.Tag != want.tag || ucxTags.IsInternal(got) != want.isOfLibrarys {
			t.Errorf("%#x is %+v, want %+v", tag, got, want)
		}
	}
}

func TestMasksOfUCX(t *testing.T) {
	for mask, want := range map[uint64]struct{ isMask, anySource, anyTag bool }{
		0xffff_ffff_9fff_ffff: {true, false, false},
		0xffff_0000_9fff_ffff: {true, true, false},
		0xffff_ffff_9000_0000: {true, false, true},
		0xffff_ffff_c000_0000: {true, false, true}, // of 4.3
		0xffff_0000_e000_0000: {true, true, true},
		^uint64(0):            {true, false, false},
		0xffff_ffff_f000_0000: {false, false, true}, // with 20 bits for ranks, any tag
		0xffff_0000_0fff_ffff: {false, true, false}, // and any source
		0xffff_ff00_9fff_ffff: {false, false, false},
		0x7fff_ffff_9fff_ffff: {false, false, false},
	} {
		r := transport.Receive{Mask: mask}
		if got := (ucxNetmod{}).proveMask(mask) == nil; got != want.isMask || ucxTags.IsAnySource(&r) != want.anySource || ucxTags.IsAnyTag(&r) != want.anyTag {
			t.Errorf("%#x may be a mask: %t, of any source: %t, of any tag: %t", mask, got, ucxTags.IsAnySource(&r), ucxTags.IsAnyTag(&r))
		}
	}
}

// What 4.0 keeps of data that is not contiguous is known by the handle of its type.
func TestElementsOfUCX(t *testing.T) {
	p := inferiortest.New()
	for at, words := range map[inferior.Addr][]uint64{
		0x1000: {0x40, 3, 0x4c000405}, // MPI_INT
		0x1020: {0x40, 3, 0x8c000002}, // a derived one
		0x1040: {0x40, 3, 0x44000000}, // MPI_COMM_WORLD
		0x1060: {0x40, 3, 0x0c000000}, // MPI_DATATYPE_NULL
		0x1080: {0x40, 1 << 63, 0x4c000405},
	} {
		p.PutUint64(at, words...)
	}
	r := inferior.NewReader(context.Background(), p)
	for at, want := range map[inferior.Addr]Elements{0x1000: {Buffer: mqs.Known[inferior.Addr](0x40), Count: 3, Datatype: 0x4c000405}, 0x1020: {Buffer: mqs.Known[inferior.Addr](0x40), Count: 3, Datatype: 0x8c000002}, 0x1040: {}, 0x1060: {}, 0x1080: {}, 0: {}, 0x9000: {}} {
		if got, ok := (ucxNetmod{}).elements(r, &transport.Request{Generic: at}); ok != (want != Elements{}) || ok && got != want {
			t.Errorf("at %s: %+v, %t", at, got, ok)
		}
	}
}
