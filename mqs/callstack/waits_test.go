package callstack

import (
	"reflect"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// The thread of a call has what the call waits for, others keep what they have. The communicator is the
// call's own or, where that is not known, that of all its requests.
func TestSetWaits(t *testing.T) {
	one, two, none := mqs.Known(inferior.Addr(1)), mqs.Known(inferior.Addr(2)), mqs.Maybe[inferior.Addr]{}
	for name, c := range map[string]struct {
		wait Wait
		want mqs.Thread
	}{
		"nothing":                      {Wait{}, mqs.Thread{}},
		"a collective":                 {Wait{Comm: two, Root: mqs.Known(int32(3))}, mqs.Thread{Comm: two, Root: mqs.Known(int32(3))}},
		"a probe":                      {Wait{Comm: one, Source: mqs.Known(int32(3)), Tag: mqs.Known(int32(4))}, mqs.Thread{Comm: one, Source: mqs.Known(int32(3)), Tag: mqs.Known(int32(4))}},
		"a request":                    {Wait{Requests: []Request{{0x10, one}}, All: true}, mqs.Thread{Comm: one, Requests: []inferior.Addr{0x10}, AllRequests: true}},
		"requests on one communicator": {Wait{Requests: []Request{{0x10, one}, {0x20, one}}}, mqs.Thread{Comm: one, Requests: []inferior.Addr{0x10, 0x20}}},
		"requests on two":              {Wait{Requests: []Request{{0x10, one}, {0x20, two}}}, mqs.Thread{Requests: []inferior.Addr{0x10, 0x20}}},
		"requests on it is not known":  {Wait{Requests: []Request{{0x10, one}, {0x20, none}}}, mqs.Thread{Requests: []inferior.Addr{0x10, 0x20}}},
		"requests, and its own":        {Wait{Comm: two, Requests: []Request{{0x10, one}}}, mqs.Thread{Comm: two, Requests: []inferior.Addr{0x10}}},
	} {
		threads := []mqs.Thread{{Number: 1}, {Number: 7, Call: "MPI_X"}}
		SetWaits(threads, []Call{{Thread: 5}, {Thread: 7}}, func(call *Call) Wait {
			if call.Thread != 7 {
				t.Errorf("%s: asked for thread %d", name, call.Thread)
			}
			return c.wait
		})
		c.want.Number, c.want.Call = 7, "MPI_X"
		if !reflect.DeepEqual(threads[1], c.want) || !reflect.DeepEqual(threads[0], mqs.Thread{Number: 1}) {
			t.Errorf("%s: %+v, want %+v", name, threads, c.want)
		}
	}
}
