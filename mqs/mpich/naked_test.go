package mpich

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/transport"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Every layout of a stripped library has all members.
func TestNakedTablesAreWhole(t *testing.T) {
	if len(nakedTables()) < 2 {
		t.Errorf("%d tables", len(nakedTables()))
	}
	for _, table := range nakedTables() {
		var n nakedTypes
		if err := inferior.Bind(&n, table.Layouts(inferior.Queries(&n))); err != nil {
			t.Errorf("%s: %v", table.Release, err)
		}
	}
}

// The tags of MPICH 4.0 to 5.0 (src/mpid/ch4/netmod/ucx/ucx_impl.h), as seen on processes.
func TestTagsOfUCX(t *testing.T) {
	for tag, want := range map[uint64]envelopeUCX{
		0x0000_0001_0000_0007: {0, 1, 7, false},
		0x01f0_0002_0fff_ffff: {0x1f0, 2, 0xfff_ffff, false},
		0x0001_0000_0000_0003: {1, 0, 3, true}, // collective
		0x0003_0001_0000_0003: {3, 1, 3, true}, // on the part that is a node
		0x0000_0001_4000_0003: {0, 1, 3, true}, // an active message's
	} {
		if got := envelopeOf(tag); got != want {
			t.Errorf("%#x is %+v, want %+v", tag, got, want)
		}
	}
	for mask, want := range map[uint64]bool{
		0xffff_ffff_9fff_ffff: true, 0xffff_0000_9fff_ffff: true, 0xffff_ffff_9000_0000: true, 0xffff_0000_e000_0000: true, ^uint64(0): true,
		0xffff_ffff_f000_0000: false, // with 20 bits for ranks, any tag
		0xffff_0000_0fff_ffff: false, // and any source
	} {
		if got := isMask(mask); got != want {
			t.Errorf("%#x may be a mask: %v", mask, got)
		}
	}
	if statusInUCX[transport.Complete] != "complete" {
		t.Error(statusInUCX)
	}
}
