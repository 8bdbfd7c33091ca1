package ompi_test

import (
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ob1"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompitest"
)

// A table tried on a library that it does not fit can read anything.
func TestProofsStandAnyArray(t *testing.T) {
	tg := inferiortest.Recorded(t, "openmpi-4.1.4/queues-rank-0")
	p, _ := ompitest.MustOpen(t, tg, ob1.Component)
	f, ok := p.Layouts.Field("opal_pointer_array_t", "size")
	if !ok || f.Size != 4 {
		t.Fatalf("size is %+v", f)
	}
	at := p.Symbols[ompi.SymCommunicators].Addr + inferior.Addr(f.Offset)
	for _, size := range []uint64{0, 1, 2, 1 << 31, 1<<31 - 1} {
		if _, _, err := ompitest.Open(t, inferiortest.Patch(tg).PutUint64(at, size), ob1.Component); err == nil {
			t.Errorf("an array of %d was believed", size)
		}
	}
	addr, ok := p.Layouts.Field("opal_pointer_array_t", "addr")
	if !ok {
		t.Fatal("an array has no address")
	}
	for want, of := range map[string]inferior.Inferior{
		"holds -2147483648 communicators": inferiortest.Patch(tg).PutUint32(at, 1<<31),
		"holds 2147483647 communicators":  inferiortest.Patch(tg).PutUint32(at, 1<<31-1),
		"communicators at 0x0":            inferiortest.Patch(tg).PutPointer(p.Symbols[ompi.SymCommunicators].Addr+inferior.Addr(addr.Offset), 0),
	} {
		if _, _, err := ompitest.Open(t, of, ob1.Component); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Peers call a communicator as they have said, if they may call it otherwise than this process.
func TestIndexOfPeers(t *testing.T) {
	const at, global = 0x1000, 0x10000
	of := inferiortest.New()
	of.PutUint32(at, 5, 0, 7)
	p := &ompi.Process{R: inferior.NewReader(t.Context(), of)}
	comm := func(flags uint32, indices inferior.Addr) *ompi.Comm {
		return &ompi.Comm{Communicator: ompi.Communicator{Index: 3, Flags: flags, PeerIndices: inferior.Ptr[uint32](indices)}}
	}
	for name, c := range map[string]struct {
		comm *ompi.Comm
		has  bool
		want [3]uint64
	}{
		"they have said":       {comm(0, at), true, [3]uint64{5, 3, 7}},
		"all call it the same": {comm(global, at), false, [3]uint64{3, 3, 3}},
		"nothing was said":     {comm(0, 0), false, [3]uint64{3, 3, 3}},
		"it can't be read":     {comm(0, 0x9000), true, [3]uint64{3, 3, 3}},
	} {
		got := [3]uint64{p.IndexAt(c.comm, 0), p.IndexAt(c.comm, 1), p.IndexAt(c.comm, 2)}
		if got != c.want || c.comm.HasPeerIndices() != c.has {
			t.Errorf("%s: %d, %t", name, got, c.comm.HasPeerIndices())
		}
	}
}
