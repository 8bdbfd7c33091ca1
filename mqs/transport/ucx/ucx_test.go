package ucx

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// Every embedded table has every member that the reader needs, optional ones included: what
// is optional is missing in some builds with types.
func TestTablesAreWhole(t *testing.T) {
	if len(tables()) < 20 {
		t.Errorf("%d tables", len(tables()))
	}
	releases := map[string]bool{}
	for _, table := range tables() {
		if releases[table.Release] {
			t.Errorf("%s is there twice", table.Release)
		}
		releases[table.Release] = true
		var ts types
		if err := inferior.Bind(&ts, table.Layouts(inferior.Queries(&ts))); err != nil {
			t.Errorf("%s: %v", table.Release, err)
			continue
		}
		if p := ts.Worker.Places(0x1000); p.Requests <= 0x1000 || p.Match <= p.Requests {
			t.Errorf("%s: a worker has its requests at %#x and its queues at %#x", table.Release, p.Requests, p.Match)
		}
		if !ts.ProtoConfig.Bound() || !ts.Proto.Bound() {
			t.Errorf("%s lacks the new protocols", table.Release)
		}
	}
}

// The tag of MPI_COMM_WORLD's first message is in the first bucket, and both halves count
// (UCP_TAG_MATCH_HASH_SIZE is 1021): together they lead to one of 1024.
func TestBuckets(t *testing.T) {
	for tag, want := range map[uint64]int{0: 0, 1: 1, 1021: 0, 1 << 32: 1, 1<<32 | 1: 0, 1021<<32 | 5: 5, 0x1_0000_0400: 3 ^ 1, 0x170000100002712: 1021} {
		if got := bucketOf(tag); got != want {
			t.Errorf("tag %#x is in bucket %d, want %d", tag, got, want)
		}
	}
}

// What a protocol is for must agree with its name.
func TestOperations(t *testing.T) {
	for name, want := range map[string][2]uint8{
		"egr": {0, 1}, "tag": {0, 1}, "egrsnc": {1, 1}, "am": {2, opMask}, "rndv": {2, opMask}, "reconfig": {0, opMask},
	} {
		if least, most := operationsOf(name); least != want[0] || most != want[1] {
			t.Errorf("%s is for %d to %d, want %d to %d", name, least, most, want[0], want[1])
		}
	}
}

// recorded is a process of Open MPI, which keeps 160 bytes in each request.
func recorded(t *testing.T) *inferiortest.Patched {
	t.Helper()
	return inferiortest.Patch(inferiortest.Recorded(t, "openmpi-4.1.4-ucx/queues-old-rank-0"))
}

// open reads the UCX of such a process.
func open(t *testing.T, p inferior.Inferior) (*UCX, error) {
	t.Helper()
	const request = 160
	r := inferior.NewReader(context.Background(), p)
	symbols, err := r.Symbols(Symbols...)
	if err != nil {
		t.Fatal(err)
	}
	return Open(r, symbols, request)
}

func TestOpen(t *testing.T) {
	u, err := open(t, recorded(t))
	if err != nil || len(u.workers) != 1 || u.LayoutName() != "UCX 1.13" {
		t.Fatalf("%+v, %v", u, err)
	}
	w := u.workers[0]
	if len(w.queues.Posted) == 0 || len(w.queues.Unexpected) == 0 || len(w.queues.Sends) == 0 || w.queues.UnexpectedErr != nil || w.queues.Dropped != 0 {
		t.Errorf("%d receives, %d messages, %d sends, %v", len(w.queues.Posted), len(w.queues.Unexpected), len(w.queues.Sends), w.queues.UnexpectedErr)
	}
	for i := range w.queues.Posted[1:] {
		if w.queues.Posted[i].Sequence >= w.queues.Posted[i+1].Sequence {
			t.Errorf("receive %d has number %d, the next one %d", i, w.queues.Posted[i].Sequence, w.queues.Posted[i+1].Sequence)
		}
	}
}

// What does not agree with itself is not believed.
func TestProofs(t *testing.T) {
	u, err := open(t, recorded(t))
	if err != nil {
		t.Fatal(err)
	}
	w := u.workers[0]
	hashed := w.queues.Posted[0]
	for _, r := range w.queues.Posted {
		if r.Mask == fullMask {
			hashed = r
		}
	}
	tag, _ := u.layouts.Field(u.Request.Name(), "recv.tag.tag")
	worker, _ := u.layouts.Field(u.Request.Name(), "recv.worker")
	for name, c := range map[string]struct {
		at   inferior.Addr
		says string
	}{
		"a receive in another bucket":         {hashed.Addr + inferior.Addr(tag.Offset), "lies in queue"},
		"a receive of another worker":         {hashed.Addr + inferior.Addr(worker.Offset), "is another worker's"},
		"another size of requests":            {w.requests + 8, ""},
		"a worker that is not where it shows": {inferior.Addr(u.Worker.Places(w.addr).Match), ""},
	} {
		_, err := open(t, recorded(t).Flip(c.at, 0x55))
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Open(u.r, nil, 160); !errors.Is(err, ErrNone) {
		t.Errorf("without symbols: %v", err)
	}
	if _, err := Open(u.r, u.symbols, 8); err == nil || !strings.Contains(err.Error(), "has asked for 8") {
		t.Errorf("of another MPI: %v", err)
	}
}

// A message that is being put on the ring costs the messages, not the receives.
func TestTornRing(t *testing.T) {
	u, err := open(t, recorded(t))
	if err != nil {
		t.Fatal(err)
	}
	w := u.workers[0]
	second := w.queues.Unexpected[1].Addr + inferior.Addr(u.Link.Size()) // its place among all messages: what comes before
	torn, err := open(t, recorded(t).Flip(second, 0x55))
	if err != nil {
		t.Fatal(err)
	}
	if got := torn.workers[0]; got.queues.UnexpectedErr == nil || len(got.queues.Unexpected) != 1 || len(got.queues.Posted) != len(w.queues.Posted) {
		t.Errorf("%v, %d messages, %d receives", got.queues.UnexpectedErr, len(got.queues.Unexpected), len(got.queues.Posted))
	}
}

// A receive in one of the last buckets is read as any other: here another one's place and tag
// lead there.
func TestLastBuckets(t *testing.T) {
	const tag, bucket = 0x170000100002712, 1021
	u, err := open(t, recorded(t))
	if err != nil {
		t.Fatal(err)
	}
	w := u.workers[0]
	inBucket := map[int]int{}
	for _, r := range w.queues.Posted {
		inBucket[bucketOf(r.Tag)]++
	}
	at := slices.IndexFunc(w.queues.Posted, func(r transport.Receive) bool { return r.Mask == fullMask && inBucket[bucketOf(r.Tag)] == 1 })
	moved := w.queues.Posted[at]
	changed := recorded(t)
	from := w.match.Hash + inferior.Addr(bucketOf(moved.Tag)*u.Queue.Size())
	to := w.match.Hash + inferior.Addr(bucket*u.Queue.Size())
	q, err := u.Queue.ReadAt(u.r, from)
	if err != nil {
		t.Fatal(err)
	}
	field, _ := u.layouts.Field(u.Request.Name(), "recv.tag.tag")
	tail, _ := u.layouts.Field(u.Queue.Name(), "queue.ptail")
	changed.PutUint64(moved.Addr+inferior.Addr(field.Offset), tag)
	changed.PutPointer(inferior.Addr(q.At), 0)
	changed.PutPointer(from+inferior.Addr(tail.Offset), inferior.Addr(q.At))
	changed.PutPointer(to, q.Head)
	changed.PutPointer(to+inferior.Addr(tail.Offset), q.Head)
	u, err = open(t, changed)
	if err != nil {
		t.Fatal(err)
	}
	if got := u.workers[0].queues.Posted; len(got) != len(w.queues.Posted) || got[at].Tag != tag || got[at].Addr != moved.Addr {
		t.Errorf("%d receives of %d, one of them %+v", len(got), len(w.queues.Posted), got[at])
	}
}
