package dll

import (
	"slices"
	"testing"
	"unsafe"

	"github.com/mpi-queues/mpi-queues/mqs/dll/abi"
	"github.com/mpi-queues/mpi-queues/mqs/dll/wire"
)

// TestRankOfNoMember checks that no note doubts the values by which a DLL says that the process has no rank: MPICH 1's DLL returns -1
// if the rank is unknown, and LAM/MPI's returns MPI_UNDEFINED, zero-extended, for an intercommunicator.
func TestRankOfNoMember(t *testing.T) {
	t.Parallel()
	for rank, want := range map[uint64][]string{
		1<<64 - 1:  nil,
		0xffffffff: nil,
		0xffff8002: nil,
		0xfffffffe: {"libmpi_dll.so says that this process has rank -2 of 3 in halo, which can't be: what can't be is not shown"},
	} {
		m := abi.Communicator{LocalRank: abi.TwordT(rank), Size: 3}
		copy(m.Name[:], "halo")
		raw := &wire.Communicator{Raw: unsafe.Slice((*byte)(unsafe.Pointer(&m)), unsafe.Sizeof(m))}
		c, ok := communicator(raw)
		if !ok || c.LocalRank.Known {
			t.Errorf("with rank %#x the communicator is %+v, %v", rank, c, ok)
		}
		s := &Source{host: &hostProcess{path: "/x/libmpi_dll.so"}}
		if s.check(&c, raw); !slices.Equal(s.remarks, want) {
			t.Errorf("with rank %#x the notes are %q", rank, s.remarks)
		}
	}
}
