package ompi

import (
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
)

// call is a call whose functions inside are named from the innermost outwards, as [inferiortest.Thread] has it.
func call(functions string) *callstack.Call {
	frames := inferiortest.Thread(1, functions).Frames
	return &callstack.Call{Frames: frames, Function: frames[len(frames)-1].Function[1:]}
}

func TestIsWaiting(t *testing.T) {
	for functions, want := range map[string]bool{
		"PMPI_Recv":                                  false,
		"mca_pml_ob1_recv < PMPI_Recv":               false,
		"opal_progress < PMPI_Recv":                  true,
		"sched_yield < mca_pml_ob1_recv < PMPI_Recv": true,
		"btl < opal_progress < ompi_request_default_wait_all < PMPI_Waitall":                       true,
		"epoll_wait < opal_progress < ompi_request_wait_completion < mca_pml_ob1_recv < PMPI_Recv": true,
		"opal_progress < modex < bml < mca_pml_ob1_send < PMPI_Send":                               false,
	} {
		if got := IsWaiting(call(functions)); got != want {
			t.Errorf("%s: %v", functions, got)
		}
	}
}

// The arguments of what is looked after meanwhile are not the call's.
func TestArgument(t *testing.T) {
	c := call("ompi_coll_tuned < opal_progress < ompi_coll_base_bcast < PMPI_Bcast")
	c.Frames[0].Variables = map[string]int64{"root": 1, "comm": 2}
	if v, ok := argument(c, "root"); ok {
		t.Errorf("its root is %d", v)
	}
	c.Frames[2].Variables = map[string]int64{"root": 3}
	if v, ok := argument(c, "root"); !ok || v != 3 {
		t.Errorf("its root is %d, %v", v, ok)
	}
}

func TestAgreesOnContext(t *testing.T) {
	for functions, want := range map[string]bool{
		"opal_progress < ompi_comm_nextcid < PMPI_Comm_dup":       true,
		"opal_progress < ? < ompi_comm_nextcid < PMPI_Comm_dup":   true,
		"opal_progress < ? < ? < ompi_comm_nextcid < PMPI_Comm_x": false,
		"ompi_comm_nextcid < PMPI_Comm_dup":                       false,
		"opal_progress < PMPI_Barrier":                            false,
	} {
		if got := agreesOnContext(call(functions)); got != want {
			t.Errorf("%s: %v", functions, got)
		}
	}
}

// MPI_Sendrecv waits for its send, then for its receive by the function of MPI_Wait.
func TestExchanged(t *testing.T) {
	const sends, receives = "opal_progress < mca_pml_ob1_send < PMPI_Sendrecv", "opal_progress < ompi_request_default_wait < PMPI_Sendrecv"
	send, recv := Waitable{Addr: 0x10, Class: mqs.PendingSends}, Waitable{Addr: 0x20, Class: mqs.PendingReceives}
	from := func(source int64) map[string]int64 { return map[string]int64{"source": source} }
	for _, c := range []struct {
		functions string
		arguments map[string]int64
		there     []Waitable
		want      []Waitable
		all       bool
	}{
		{sends, from(1), []Waitable{send, recv}, []Waitable{send, recv}, true},
		{sends, from(1), []Waitable{send}, []Waitable{send}, false},
		{sends, from(procNull), []Waitable{send, recv}, []Waitable{send}, true},
		{sends, from(procNull), nil, nil, false},
		{sends, nil, []Waitable{send, recv}, []Waitable{send}, false},
		{receives, nil, []Waitable{send, recv}, []Waitable{recv}, true},
		{receives, from(1), []Waitable{send}, nil, false},
	} {
		of := call(c.functions)
		of.Frames[len(of.Frames)-1].Variables = c.arguments
		got, all := Exchanged(of, func(class mqs.OpClass) (out []Waitable) {
			return slices.DeleteFunc(slices.Clone(c.there), func(w Waitable) bool { return w.Class != class })
		})
		if !slices.Equal(got, c.want) || all != c.all {
			t.Errorf("%s, %v, of %v: %v, all: %v", c.functions, c.arguments, c.there, got, all)
		}
	}
}
