package callstack

import (
	"reflect"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Calls that are about the program's messages are told from those that make messages of their own.
func TestIsPointToPoint(t *testing.T) {
	for call, want := range map[string]bool{
		"MPI_Send": true, "MPI_Sendrecv_replace": true, "MPI_Isend": true, "MPI_Isendrecv": true, "MPI_Bsend_init": true, "MPI_Recv": true, "MPI_Imrecv": true,
		"MPI_Waitsome": true, "MPI_Test_cancelled": true, "MPI_Startall": true, "MPI_Mprobe": true, "MPI_Buffer_detach": true, "MPI_Pready_range": true,
		"MPI_Comm_detach_buffer": true, "MPI_Session_flush_buffer": true, "MPI_Comm_free": false, "MPI_Session_finalize": false,
		"MPI_Barrier": false, "MPI_Ibcast": false, "MPI_Reduce_scatter": false, "MPI_Iscatter": false, "MPI_Comm_dup": false, "MPI_Pack": false,
		"MPI_Publish_name": false, "MPI_Finalize": false, "MPI_File_read_all": false, "MPI_Put": false, "MPI_Rput": false, "": false,
	} {
		if got := IsPointToPoint(call); got != want {
			t.Errorf("%q: %v", call, got)
		}
	}
	for _, kinds := range []map[string]string{BlockingSends, BlockingRecvs} {
		for call := range kinds {
			if !IsPointToPoint(call) {
				t.Errorf("%s waits for a request of its own, and is not about the program's messages", call)
			}
		}
	}
}

// A request is of a call's kind once it is proved that the call has made it; MPI_Sendrecv's is of
// none. Calls that wait for no request of their own are not asked about.
func TestKindsOf(t *testing.T) {
	type asked struct {
		thread int
		class  mqs.OpClass
	}
	owned := map[asked]OwnRequests{
		{1, mqs.PendingReceives}: {[]inferior.Addr{0x10}, true},
		{2, mqs.PendingSends}:    {[]inferior.Addr{0x20, 0x30}, false},
		{3, mqs.PendingSends}:    {[]inferior.Addr{0x40}, true},
		{3, mqs.PendingReceives}: {nil, false},
		{4, mqs.PendingSends}:    {[]inferior.Addr{0x50}, true},
	}
	calls := []Call{{Thread: 1, Function: "MPI_Recv"}, {Thread: 2, Function: "MPI_Ssend"}, {Thread: 3, Function: "MPI_Sendrecv"}, {Thread: 4, Function: "MPI_Rsend"},
		{Thread: 5, Function: "MPI_Wait"}, {Thread: 6, Function: "MPI_Barrier"}}
	got := KindsOf(calls, func(c *Call, class mqs.OpClass) OwnRequests {
		own, ok := owned[asked{c.Thread, class}]
		if !ok {
			t.Errorf("%s was asked for class %d", c.Function, class)
		}
		return own
	})
	want := Kinds{0x10: {"recv", &calls[0]}, 0x20: {}, 0x30: {}, 0x40: {}, 0x50: {"rsend", &calls[3]}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := KindsNotKnown(0x10, 0x20); !reflect.DeepEqual(got, Kinds{0x10: {}, 0x20: {}}) {
		t.Errorf("not known: %+v", got)
	}
}
