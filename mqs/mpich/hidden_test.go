package mpich

import (
	"context"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
)

const (
	found   = "mpich-4.0.2-found/barrier-rank-1"
	library = "/lib/x86_64-linux-gnu/libmpich.so.12"
)

// layoutOf is by what a process is read.
func layoutOf(t *testing.T, tg inferior.Inferior) string {
	t.Helper()
	s, err := start(tg)
	if err != nil {
		t.Fatal(err)
	}
	var p mqs.Process
	s.Info(&p)
	return p.LayoutName
}

// worldOf is where MPI_COMM_WORLD is, and its bytes.
func worldOf(t *testing.T, tg inferior.Inferior) (inferior.Addr, []byte) {
	t.Helper()
	s, err := start(tg)
	if err != nil {
		t.Fatal(err)
	}
	for c, err := range s.Communicators() {
		if err != nil {
			t.Fatal(err)
		}
		if c.Name == mqs.Known("MPI_COMM_WORLD") {
			const size = 2 * 872
			b, err := inferior.NewReader(context.Background(), tg).Bytes(c.UniqueID, size)
			if err != nil {
				t.Fatal(err)
			}
			return c.UniqueID, b
		}
	}
	t.Fatal("there is no MPI_COMM_WORLD")
	return 0, nil
}

// A stripped library's variables are found in its data only if all of them are there, and each just once: else
// the process is read by what UCX has.
func TestHidden(t *testing.T) {
	const whole, beneath = "MPICH 4.0.2", "UCX 1.13"
	world, bytes := worldOf(t, inferiortest.Recorded(t, found))
	for name, c := range map[string]struct {
		patch func(p *inferiortest.Patched)
		want  string
	}{
		"as it is":                         {func(*inferiortest.Patched) {}, whole},
		"no MPI_COMM_WORLD":                {func(p *inferiortest.Patched) { p.PutUint32(world, 0) }, beneath},
		"no MPI_COMM_SELF":                 {func(p *inferiortest.Patched) { p.PutUint32(world+872, 0) }, beneath},
		"two of them":                      {func(p *inferiortest.Patched) { p.PutBytes(world-0x4000, bytes) }, beneath},
		"another rank than the process's":  {func(p *inferiortest.Patched) { p.PutUint32(world+72, 2) }, beneath},
		"a release that hides its version": {func(p *inferiortest.Patched) { p.RemoveSymbols("MPII_Version_string") }, whole},
		"no symbol of the data": {func(p *inferiortest.Patched) {
			p.RemoveSymbols("MPI_F08_STATUS_IGNORE")
		}, beneath}, // the recording does not have what stands before
	} {
		p := inferiortest.Patch(inferiortest.Recorded(t, found))
		c.patch(p)
		if got := layoutOf(t, p); got != c.want {
			t.Errorf("%s: it is read by the table of %s, not %s", name, got, c.want)
		}
	}
}

// The messages by which a blocking collective is carried out say what it waits for, and on which communicator it is.
func TestCollectiveWithoutArguments(t *testing.T) {
	tg := inferiortest.Recorded(t, found)
	world, _ := worldOf(t, tg)
	for frames, want := range map[string]bool{
		"ucp_worker_progress < ? < ? < PMPI_Barrier < main":    true,
		"PMPI_Barrier < main":                                  false,
		"ucp_tag_recv_nbx < ? < ? < PMPI_Barrier < main":       false,
		"ucp_worker_progress < ? < ? < PMPI_Win_create < main": true,
	} {
		s, err := start(inferiortest.Patch(tg).SetThreads(inferiortest.Thread(1, strings.Replace(frames, " < main", "@"+library+" < main", 1))))
		if err != nil {
			t.Fatal(err)
		}
		threads := []mqs.Thread{{Number: 1}}
		s.(interface{ Waits([]mqs.Thread) }).Waits(threads)
		got := threads[0]
		if (len(got.Requests) > 0) != want {
			t.Errorf("%s: it waits for %v", frames, got.Requests)
		}
		// A window has a communicator of its own, on which its messages are.
		if isTold := want && strings.Contains(frames, "Barrier"); (got.Comm == mqs.Known(world)) != isTold {
			t.Errorf("%s: it is on %v", frames, got.Comm)
		}
	}
}

// A stripped library's schedules are found by what the data of the library leads to: all collectives that are under
// way have to be among them.
func TestHiddenSchedules(t *testing.T) {
	tg := inferiortest.Recorded(t, "mpich-4.0.2-found/nonblocking-rank-0")
	collectives := func(p *inferiortest.Patched) []mqs.CollectiveRequest {
		s, err := start(p)
		if err != nil {
			t.Fatal(err)
		}
		return s.(interface {
			CollectiveRequests() []mqs.CollectiveRequest
		}).CollectiveRequests()
	}
	found := collectives(inferiortest.Patch(tg))
	if len(found) != 1 || found[0].Status != mqs.Pending || found[0].Sequence != mqs.Known[int64](1) || len(found[0].Messages) != 1 {
		t.Fatalf("the collectives are %+v", found)
	}
	request := found[0].Request
	const kind, pending = 8, 24 // MPIR_Request
	done := collectives(inferiortest.Patch(tg).PutUint32(request+pending, 0))
	if len(done) != 1 || done[0].Status != mqs.Complete {
		t.Errorf("of one that is complete, the collectives are %+v", done)
	}
	if other := collectives(inferiortest.Patch(tg).PutUint32(request+kind, 1)); len(other) != 0 {
		t.Errorf("of a send, the collectives are %+v", other)
	}
}
