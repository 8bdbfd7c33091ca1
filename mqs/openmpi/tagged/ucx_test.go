package tagged

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompitest"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
	"github.com/mpi-queues/mpi-queues/mqs/transport/ucx"
)

// openOf opens a process of pml ucx and reads all that it has.
func openOf(t *testing.T, of inferior.Inferior) (*queues, *contents) {
	t.Helper()
	_, opened := ompitest.MustOpen(t, of, Components...)
	q := opened.(*queues)
	all, err := q.contents()
	if err != nil {
		t.Fatal(err)
	}
	return q, all
}

// withoutUCX are the releases whose persistent requests of pml ucx do not keep the program's datatype: pml ucx is not read
// there.
var withoutUCX = regexp.MustCompile(`^Open MPI 4\.(0|1\.[01]$)`)

// TestTablesHaveUCX checks that the embedded layouts have all of pml ucx, but for those of withoutUCX.
func TestTablesHaveUCX(t *testing.T) {
	for _, table := range ompitest.Tables(t) {
		if withoutUCX.MatchString(table.Release) {
			continue
		}
		var ts ucxTypes
		if err := inferior.Bind(&ts, table.Layouts(inferior.Queries(&ts))); err != nil {
			t.Errorf("%s: %v", table.Release, err)
		}
		if !ts.Module.Bound() || !ts.Persistent.Bound() || !ts.Convertor.Bound() {
			t.Errorf("%s lacks types of pml ucx", table.Release)
		}
	}
}

// The tag of a message has its sign, and a receive of any tag looks at its sign alone: MPI's own have one.
func TestUCXTags(t *testing.T) {
	for tag, want := range map[uint64]transport.Envelope{
		0x000007_00003_00005: {Context: 5, Source: mqs.Known[int32](3), Tag: 7},
		0xfffff0_00003_00005: {Context: 5, Source: mqs.Known[int32](3), Tag: -16},
		0x7fffff_fffff_fffff: {Context: 0xfffff, Source: mqs.Known[int32](0xfffff), Tag: 0x7fffff},
	} {
		want.Raw = tag
		if got := ucxTags.Envelope(tag); got != want || ucxTags.IsInternal(got) != (want.Tag < 0) {
			t.Errorf("%#x is %+v, want %+v", tag, got, want)
		}
	}
	for mask, want := range map[uint64][2]bool{
		0xffffff_fffff_fffff: {false, false}, 0x800000_fffff_fffff: {true, false}, 0xffffff_00000_fffff: {false, true}, 0x800000_00000_fffff: {true, true},
	} {
		r := transport.Receive{Mask: mask}
		if got := [2]bool{ucxTags.IsAnyTag(&r), ucxTags.IsAnySource(&r)}; got != want {
			t.Errorf("mask %#x: any tag, any source: %v, want %v", mask, got, want)
		}
	}
}

// Which of UCX's workers is the pml's is told by its module alone.
func TestUCXWorker(t *testing.T) {
	tg := inferiortest.Recorded(t, "openmpi-4.1.4-ucx/queues-old-rank-0")
	q, all := openOf(t, tg)
	module, err := q.R.Symbol(symUCX)
	if err != nil || module == nil {
		t.Fatalf("%v, %v", module, err)
	}
	words, err := q.R.Pointers(module.Addr, 64)
	if err != nil {
		t.Fatal(err)
	}
	other := inferiortest.Patch(tg)
	for i, word := range words {
		if word == all.matcher.Addr() {
			other.PutPointer(module.Addr+inferior.Addr(8*i), word+8)
		}
	}
	for want, changed := range map[string]inferior.Inferior{
		"none of UCX's 1 workers is that of ompi_pml_ucx": other,
		"there is no symbol ompi_pml_ucx":                 inferiortest.Patch(tg).RemoveSymbols(symUCX),
		"there is no UCX":                                 inferiortest.Patch(tg).RemoveSymbols(ucx.Symbols...),
	} {
		p, q := ompitest.MustOpen(t, changed, Components...)
		_, err := ompitest.Operations(q, ompitest.Comm(t, p, "MPI_COMM_WORLD"), mqs.PendingReceives)
		if err == nil || !strings.Contains(err.Error(), "its messages are inside UCX, which can't be read: "+want) {
			t.Errorf("%v, want %s", err, want)
		}
		if q.Incomplete() != nil || q.Freed() != nil || q.Notes() != nil {
			t.Errorf("%s: %v, %v, %v", want, q.Incomplete(), q.Freed(), q.Notes())
		}
	}
}

// A persistent request that is complete has none under way, whatever it still points to.
func TestUCXPersistents(t *testing.T) {
	tg := inferiortest.Recorded(t, "openmpi-4.1.4-ucx/requests-old-rank-0")
	q, all := openOf(t, tg)
	own, err := q.pml.ownRequests()
	if err != nil {
		t.Fatal(err)
	}
	changed := inferiortest.Patch(tg)
	complete, underWay := 0, 0
	for _, p := range own {
		if p.complete != ompi.RequestCompleted {
			underWay++
			continue
		}
		complete++
		changed.PutPointer(p.at.Addr()+ompitest.Offset(t, q.Process, "mca_pml_ucx_persistent_request_t", "tmp_req"), all.matcher.Queues().Matched[0].User)
	}
	if complete == 0 || underWay == 0 {
		t.Fatalf("%d are complete, %d under way", complete, underWay)
	}
	again, _ := openOf(t, changed)
	if got, err := again.pml.ownRequests(); err != nil || !slices.Equal(got, own) {
		t.Errorf("%+v, %v; want %+v", got, err, own)
	}
}
