package ucx

import (
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// The tag of MPI_COMM_WORLD's first message is in the first bucket, and both halves count
// (UCP_TAG_MATCH_HASH_SIZE is 1021): together they lead to one of 1024.
func TestBuckets(t *testing.T) {
	for tag, want := range map[uint64]int{0: 0, 1: 1, 1021: 0, 1 << 32: 1, 1<<32 | 1: 0, 1021<<32 | 5: 5, 0x1_0000_0400: 3 ^ 1, 0x170000100002712: 1021} {
		if got := bucketOf(tag); got != want {
			t.Errorf("tag %#x is in bucket %d, want %d", tag, got, want)
		}
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
	from := w.match.Hash + inferior.Ptr[queue](bucketOf(moved.Tag)*u.Queue.Size())
	to := w.match.Hash + inferior.Ptr[queue](bucket*u.Queue.Size())
	q, err := u.Queue.Read(u.r, from)
	if err != nil {
		t.Fatal(err)
	}
	field, _ := u.layouts.Field(u.Request.Name(), "recv.tag.tag")
	tail, _ := u.layouts.Field(u.Queue.Name(), "queue.ptail")
	changed.PutUint64(moved.Addr+inferior.Addr(field.Offset), tag)
	changed.PutPointer(q.HeadAt.Addr(), 0)
	changed.PutPointer(from.Addr()+inferior.Addr(tail.Offset), q.HeadAt.Addr())
	changed.PutPointer(to.Addr(), q.Head.Addr())
	changed.PutPointer(to.Addr()+inferior.Addr(tail.Offset), q.Head.Addr())
	u, err = open(t, changed)
	if err != nil {
		t.Fatal(err)
	}
	if got := u.workers[0].queues.Posted; len(got) != len(w.queues.Posted) || got[at].Tag != tag || got[at].Addr != moved.Addr {
		t.Errorf("%d receives of %d, one of them %+v", len(got), len(w.queues.Posted), got[at])
	}
}
