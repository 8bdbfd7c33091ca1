package openmpi

import (
	"encoding/binary"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
)

// What a former call has left of its send's request on the stack is no send, though its endpoint and
// its tag may be right.
func TestFormerRequestsOnStacks(t *testing.T) {
	tg := inferiortest.Recorded(t, "openmpi-4.1.4-ucx/send-old-rank-1")
	s, err := start(t, tg)
	if err != nil {
		t.Fatal(err)
	}
	onStacks := func(s *source) (found []ucxSend) {
		for _, err := range s.Communicators() { // which one a send is on is told by their members
			if err != nil {
				t.Fatal(err)
			}
		}
		q, err := s.ucxQueues()
		if err != nil {
			t.Fatal(err)
		}
		for _, list := range q.sends {
			for _, r := range list {
				if r.call != nil {
					found = append(found, r)
				}
			}
		}
		return found
	}
	sends := onStacks(s)
	if len(sends) != 1 {
		t.Fatalf("%d sends are on stacks", len(sends))
	}
	size := sends[0].User - sends[0].Addr
	b, err := s.r.Bytes(sends[0].Addr, int(size))
	if err != nil {
		t.Fatal(err)
	}
	stack, copies := sends[0].call.Stack, 0
	for at := stack.Addr; at+size <= stack.Addr+inferior.Addr(stack.Len); at += 8 {
		if at+size > sends[0].Addr && at < sends[0].User {
			continue
		}
		words := map[inferior.Addr]uint64{}
		for i := inferior.Addr(0); i < size; i += 8 {
			words[at+i] = binary.LittleEndian.Uint64(b[i:])
		}
		copied, err := start(t, inferiortest.Patch(tg).PutWords(words))
		if err != nil {
			t.Fatal(err)
		}
		copies++
		if again := onStacks(copied); len(again) > 1 {
			t.Fatalf("there is a send at %s, too", again[1].Addr)
		}
	}
	if copies == 0 {
		t.Error("the stack has no room for another request")
	}
}
