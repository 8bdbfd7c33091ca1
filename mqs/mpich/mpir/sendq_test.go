package mpir

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// The entry of a send that is over says nothing of the one that has its place.
func TestForeignEntry(t *testing.T) {
	const at, entry = 0x1000, 0x2000
	for _, c := range []struct {
		what   string
		points bool // the library's requests have a member for it
		own    Request
		want   bool
	}{
		{"its own", true, Request{Kind: KindSend, Sendq: entry}, true},
		{"one that is left", true, Request{Kind: KindSend}, false},
		{"beside its own", true, Request{Kind: KindSend, Sendq: entry + 64}, false},
		{"of a persistent request", true, Request{Kind: kindPersistentSend}, true},
		{"without the member", false, Request{Kind: KindSend}, true},
	} {
		q := &Sendq{entries: map[inferior.Ptr[Request]]*SendqEntry{at: {at: entry, Tag: 7}}, isPointedAt: c.points}
		if got := q.of(at, &c.own); (got != nil) != c.want {
			t.Errorf("%s: %+v", c.what, got)
		}
	}
}

// A send whose request does not name its communicator is on the only one of the program's with the context.
func TestCommOfEntry(t *testing.T) {
	comm := func(at inferior.Ptr[Comm], context, receives uint32, isInternal bool) *Communicator {
		return &Communicator{At: at, Comm: Comm{Context: context, RecvContext: receives}, Model: &mqs.Communicator{Internal: isInternal}}
	}
	comms := []*Communicator{comm(0x10, 1, 2, false), comm(0x20, 2, 1, false), comm(0x30, 3, 3, false), comm(0x40, 3, 3, true), comm(0x50, 4, 4, false), comm(0x60, 4, 4, false)}
	for context, want := range map[uint32][2]inferior.Ptr[Comm]{1: {0x20, 0x10}, 3: {0x30, 0x30}, 4: {}, 5: {}} {
		for i, sends := range []bool{false, true} {
			if got := (&Sendq{hasSendContext: sends}).commOf(&SendqEntry{context: context}, comms); got != want[i] {
				t.Errorf("context %d (that it sends with: %t) is on %s, not on %s", context, sends, got, want[i])
			}
		}
	}
}
