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
		_, all := openOf(t, tg)
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

// A receive among the program's is a blocking call's by the call's mark, or if the call holds it, waits, and nothing was
// posted since. Where it only may be one, its kind is not known.
func TestReceiver(t *testing.T) {
	tg := inferiortest.Recorded(t, "openmpi-6.0.0rc2-ofi/recv-rank-0")
	q, all := openOf(t, tg)
	calls, err := q.Calls()
	made, madeErr := q.pml.ownRequests()
	if err != nil || madeErr != nil || len(calls) != 1 || len(made) != 1 || q.HasMarks() {
		t.Fatalf("%d calls, %d requests, %v, %v", len(calls), len(made), err, madeErr)
	}
	posted := all.matcher.Queues().Posted
	for name, c := range map[string]struct {
		change   func(c *callstack.Call, own *ownRequest)
		isLast   bool
		isOwn    bool
		mayBlock bool
	}{
		"the last one":                {func(*callstack.Call, *ownRequest) {}, true, true, true},
		"one before":                  {func(*callstack.Call, *ownRequest) {}, false, false, true},
		"one with its mark":           {func(c *callstack.Call, own *ownRequest) { own.complete = uint64(c.Stack.Addr) }, false, true, true},
		"one that it does not hold":   {func(_ *callstack.Call, own *ownRequest) { own.at += 8 }, true, false, false},
		"one of a call that sends":    {func(c *callstack.Call, _ *ownRequest) { c.Function = "MPI_Send" }, true, false, false},
		"one of an exchange":          {func(c *callstack.Call, _ *ownRequest) { c.Function = "MPI_Sendrecv" }, true, false, true},
		"one of a call that computes": {func(c *callstack.Call, _ *ownRequest) { c.Frames = c.Frames[len(c.Frames)-1:] }, true, false, true},
	} {
		call, own := calls[0], made[0]
		c.change(&call, &own)
		of, mayBlock := q.receiver([]callstack.Call{call}, posted, &own, c.isLast)
		if (of != nil) != c.isOwn || mayBlock != c.mayBlock {
			t.Errorf("%s: its own: %t, may be: %t", name, of != nil, mayBlock)
		}
	}
	onStack := append(slices.Clone(posted), transport.Receive{Request: transport.Request{Addr: calls[0].Stack.Addr}})
	if of, mayBlock := q.receiver(calls, onStack, &made[0], true); of != nil || mayBlock {
		t.Errorf("beside one on the stack: its own: %t, may be: %t", of != nil, mayBlock)
	}
}

// What a call may have made is of no known kind.
func TestMayBlock(t *testing.T) {
	q, all := openOf(t, inferiortest.Recorded(t, "openmpi-6.0.0rc2-ofi/recv-rank-0"))
	for id, list := range all.receives {
		for _, r := range list {
			if got := q.describeReceive(q.Comms[id].Model, &r).Kind; got != "recv" {
				t.Errorf("it is %q", got)
			}
			r.call, r.mayBlock = nil, true
			if got := q.describeReceive(q.Comms[id].Model, &r).Kind; got != callstack.KindNotKnown {
				t.Errorf("it is %q and may be another", got)
			}
			r.mayBlock = false
			if got := q.describeReceive(q.Comms[id].Model, &r).Kind; got != "irecv" {
				t.Errorf("it is %q and the program's", got)
			}
		}
	}
}
