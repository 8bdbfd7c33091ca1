package tagged

import (
	"context"
	"encoding/binary"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
)

// What a former call has left of its send's request on the stack is no send, though its endpoint and
// its tag may be right.
func TestFormerRequestsOnStacks(t *testing.T) {
	tg := inferiortest.Recorded(t, "openmpi-4.1.4-ucx/send-old-rank-1")
	onStacks := func(tg inferior.Inferior) (found []send) {
		_, all := openUCXOf(t, tg)
		for _, list := range all.sends {
			for _, r := range list {
				if r.call != nil {
					found = append(found, r)
				}
			}
		}
		return found
	}
	sends := onStacks(tg)
	if len(sends) != 1 {
		t.Fatalf("%d sends are on stacks", len(sends))
	}
	size := sends[0].User - sends[0].Addr
	b, err := inferior.NewReader(context.Background(), tg).Bytes(sends[0].Addr, int(size))
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
		copies++
		if again := onStacks(inferiortest.Patch(tg).PutWords(words)); len(again) > 1 {
			t.Fatalf("there is a send at %s, too", again[1].Addr)
		}
	}
	if copies == 0 {
		t.Error("the stack has no room for another request")
	}
}
