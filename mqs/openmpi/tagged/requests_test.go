package tagged

import (
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// What a former call has left of its request on the stack is none, though its endpoint, its tag and its data
// may be there.
func TestFormerRequestsOnStacks(t *testing.T) {
	type found struct {
		transport.Request
		call *callstack.Call
	}
	onStacks := func(tg inferior.Inferior) (out []found) {
		_, all := openUCXOf(t, tg)
		for _, list := range all.sends {
			for _, r := range list {
				out = append(out, found{r.Request, r.call})
			}
		}
		for _, list := range all.receives {
			for _, r := range list {
				out = append(out, found{r.Request, r.call})
			}
		}
		return slices.DeleteFunc(out, func(f found) bool { return f.call == nil })
	}
	for _, name := range []string{"send-old-rank-1", "recv-old-rank-0"} {
		tg := inferiortest.Recorded(t, "openmpi-4.1.4-ucx/"+name)
		requests := onStacks(tg)
		if len(requests) != 1 {
			t.Fatalf("%s: %d requests are on stacks", name, len(requests))
		}
		own := requests[0]
		size := own.User - own.Addr
		b, err := inferior.NewReader(t.Context(), tg).Bytes(own.Addr, int(size))
		if err != nil {
			t.Fatal(err)
		}
		stack, copies := own.call.Stack, 0
		for at := stack.Addr; at+size <= stack.Addr+inferior.Addr(stack.Len); at += 8 {
			if at+size > own.Addr && at < own.User || own.call.CandidatePointers[at+size] { // then nothing tells it from the call's own
				continue
			}
			copies++
			copied := inferiortest.Patch(tg).PutBytes(at, b).AddMemory(own.Buffer, make([]byte, own.Length))
			if again := onStacks(copied); len(again) > 1 {
				t.Fatalf("%s: there is a request at %s, too", name, again[1].Addr)
			}
		}
		if copies == 0 {
			t.Errorf("%s: the stack has no room for another request", name)
		}
	}
}
