package tagged

import (
	"bytes"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompitest"
)

// overOFI is a recorded process over libfabric, and its matcher.
func overOFI(t *testing.T, name string) (inferior.Inferior, *queues, *ofiMatcher) {
	t.Helper()
	of := inferiortest.Recorded(t, "openmpi-4.1.4-ofi/"+name)
	q, all := openOf(t, of)
	return of, q, all.matcher.(*ofiMatcher)
}

// memberAt is where a member of an object is.
func memberAt[T, F any](t *testing.T, s *inferior.Struct[T], at inferior.Ptr[T], field func(*T) *F) inferior.Addr {
	t.Helper()
	offset, ok := inferior.OffsetOf(s, field)
	if !ok {
		t.Fatal("there is no such member")
	}
	return at.Addr() + offset
}

// TestOFIProofs checks that a module of mtl ofi that can't be, or can't be read, is refused with the reason.
func TestOFIProofs(t *testing.T) {
	of, q, m := overOFI(t, "recv-rank-0")
	module, at := &m.of.Module, m.of.at
	used := memberAt(t, module, at, func(m *ofiModule) *int32 { return &m.Used })
	mask := memberAt(t, module, at, func(m *ofiModule) *uint64 { return &m.TagMask })
	hasData := memberAt(t, module, at, func(m *ofiModule) *bool { return &m.HasData })
	bits := memberAt(t, module, at, func(m *ofiModule) *int32 { return &m.RankBits })
	request, _, err := m.of.requestOf(m.Endpoint.Queues().Posted[0].UserData)
	if err != nil {
		t.Fatal(err)
	}
	match := memberAt(t, &m.of.OFI, request, func(r *ofiRequest) *uint64 { return &r.Match })
	selected, err := q.R.Symbols(symMTL)
	if err != nil {
		t.Fatal(err)
	}
	for says, p := range map[string]inferior.Inferior{
		"of the mtls of pml cm":                               inferiortest.Patch(of).PutPointer(selected[symMTL].Addr, 0x10),
		"the module's tags have the mask 0x1,":                inferiortest.Patch(of).PutUint64(mask, 1),
		"the module's ranks have 0 bits":                      inferiortest.Patch(of).PutBytes(hasData, []byte{0}).PutUint32(bits, 0),
		"mtl ofi uses several contexts":                       inferiortest.Patch(of).PutUint32(used, 2),
		"and the mtl's request at " + request.Addr().String(): inferiortest.Patch(of).PutUint64(match, 1),
		"--mca mtl_ofi_provider_include": &inferiortest.Rewritten{Inferior: of, Rewrite: func(b []byte) {
			if i := bytes.Index(b, []byte("ofi_rxm\x00")); i >= 0 {
				copy(b[i:], "udp\x00")
			}
		}},
	} {
		p, q := ompitest.MustOpen(t, p, Components...)
		if _, err := ompitest.Operations(q, ompitest.Comm(t, p, "MPI_COMM_WORLD"), mqs.PendingReceives); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
}
