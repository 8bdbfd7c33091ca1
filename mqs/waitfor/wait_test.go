package waitfor

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
)

// Which queue has the one operation of a blocking call, if its kind is not known.
func TestOwnsOperation(t *testing.T) {
	for call, want := range map[string][2]bool{
		"MPI_Send": {true, false}, "MPI_Ssend": {true, false}, "MPI_Rsend": {true, false}, "MPI_Recv": {false, true},
		"MPI_Mrecv": {false, true}, "MPI_Bsend": {false, false}, "MPI_Probe": {false, false},
	} {
		for class, is := range want {
			thread := &mqs.Thread{Call: call}
			for kind, owns := range map[string]bool{callstack.KindNotKnown: is, "isend": false, "irecv": false, ownKind(thread): true} {
				o := dependency{op: &mqs.PendingOperation{Kind: kind}, class: mqs.OpClass(class)}
				if got := isOwn(thread, o); got != owns {
					t.Errorf("a %q of queue %d is that of %s: %t", kind, class, call, got)
				}
				if o.op.Internal = true; isOwn(thread, o) {
					t.Errorf("the library's %q is that of %s", kind, call)
				}
			}
		}
	}
}

// Of several operations of its kind, one is the call's, and nobody knows which: that some are over leaves it open.
func TestSomeOfSeveral(t *testing.T) {
	for name, c := range map[string]struct {
		over, all int
		satisfied bool
		unsure    string
		deps      int
	}{
		"one, which waits":    {0, 1, false, "", 1},
		"one, which is over":  {1, 1, true, "", 0},
		"two that wait":       {0, 2, false, "", 2},
		"two, one of them":    {1, 2, false, ownUnknown, 1},
		"two that are over":   {2, 2, true, "", 0},
		"three, two of them":  {2, 3, false, ownUnknown, 1},
		"three, one of them":  {1, 3, false, ownUnknown, 2},
		"three that are over": {3, 3, true, "", 0},
	} {
		m := newMade(2)
		r := m.rank(0)
		r.Threads = nil
		for i := range c.all {
			r.irecv(worldID, 1, int32(7+i))
			op := &r.on(worldID).Queue[mqs.PendingReceives].Operations[i]
			op.Kind = "recv"
			if i < c.over { // its message has come
				m.rank(1).message(worldID, 0, int32(7+i))
			}
		}
		j := newJob(m.Snapshot)
		j.communicators()
		j.messages()
		w := j.waitByKind(&j.ranks[0], nil, func(kind string) bool { return kind == "recv" })
		if w.satisfied != c.satisfied || w.unsure != c.unsure || w.unknown != "" || len(w.deps) != c.deps {
			t.Errorf("%s: satisfied %t, unsure %q, unknown %q, %d dependencies", name, w.satisfied, w.unsure, w.unknown, len(w.deps))
		}
	}
}
