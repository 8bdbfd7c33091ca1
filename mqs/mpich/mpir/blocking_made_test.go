package mpir

import (
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
)

// A blocking call may have made any send or receive but what a persistent request has started, what is noted as a
// non-blocking one, and a receive of no communicator.
func TestMayBlock(t *testing.T) {
	request := func(at inferior.Ptr[Request], kind uint32, comm inferior.Ptr[Comm]) *Operation {
		return &Operation{At: at, Request: Request{Kind: kind, Comm: comm, Pending: 1}}
	}
	send, noted, started, recv, startedRecv, netmods := request(0x10, KindSend, 0), request(0x20, KindSend, 1), request(0x30, KindSend, 1), request(0x40, KindRecv, 1), request(0x50, KindRecv, 1), request(0x60, KindRecv, 0)
	noted.Noted, started.Owner, startedRecv.Owner = &SendqEntry{}, &Operation{}, &Operation{}
	for isUsers, want := range map[bool][]inferior.Addr{true: {0x10}, false: {0x10, 0x20}} {
		s := made(inferiortest.New(), &scripted{}, nil, send, noted, started, recv, startedRecv, netmods)
		s.lib.Sendq.IsUsers = isUsers
		got := s.mayBlock()
		if slices.Sort(got[mqs.PendingSends]); !slices.Equal(got[mqs.PendingSends], want) || !slices.Equal(got[mqs.PendingReceives], []inferior.Addr{0x40}) {
			t.Errorf("with a queue of the program's: %t: %v", isUsers, got)
		}
	}
}
