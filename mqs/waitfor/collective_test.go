package waitfor

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// inside gives a rank's call a message of the library's own to wait for.
func (r *madeRank) inside(t *mqs.Thread, id inferior.Addr, from int32) {
	t.Requests = append(t.Requests, r.irecv(id, from, -20))
	ops := r.on(id).Queue[mqs.PendingReceives].Operations
	ops[len(ops)-1].Internal = true
}

// What a library has made for the collectives on a communicator has no more members than that
// one has. What is not known may be so, and the groups of an intercommunicator are two.
func TestMayBeWithin(t *testing.T) {
	of := func(members ...int32) *communicator {
		return &communicator{known: true, sides: [2]side{{group: members}}}
	}
	inter := of(0, 1, 2, 3)
	inter.inter, inter.sides[1] = true, side{group: []int32{4}}
	five, four, two, unknown := of(0, 1, 2, 3, 4), of(0, 1, 2, 3), of(0, 1), of(0, 1, 2, 3)
	unknown.known = false
	for _, c := range []struct {
		name   string
		it, of *communicator
		want   bool
	}{
		{"itself", four, four, true},
		{"a part", two, four, true},
		{"the whole of a part", four, two, false},
		{"one that is not known", unknown, two, true},
		{"a part of one that is not known", five, unknown, true},
		{"two groups", inter, two, true},
		{"a part of two groups", five, inter, true},
	} {
		if got := c.it.mayBeWithin(c.of); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
