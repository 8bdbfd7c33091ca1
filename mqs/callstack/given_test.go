package callstack

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// What a call was given is what its own frame has: functions inside of it have arguments of the same names.
func TestData(t *testing.T) {
	frame := func(function string, variables map[string]int64) inferior.Frame {
		return inferior.Frame{Function: function, Variables: variables}
	}
	inner := frame("recursive_doubling", map[string]int64{"count": 1, "datatype": 2, "op": 3})
	for name, c := range map[string]struct {
		call                Call
		count, datatype, op int64
		ok, isReduction     bool
	}{
		"a reduction": {Call{Function: "MPI_Allreduce", Frames: []inferior.Frame{inner, frame("PMPI_Allreduce", map[string]int64{"count": 8, "datatype": 0x10, "op": 0x20})}},
			8, 0x10, 0x20, true, true},
		"behind a tail call": {Call{Function: "MPI_Scan", Frames: []inferior.Frame{inner, frame("internal_Scan", map[string]int64{"count": 8, "datatype": 0x10, "op": 0x20})}},
			8, 0x10, 0x20, true, true},
		"what is received": {Call{Function: "MPI_Alltoall", Frames: []inferior.Frame{frame("PMPI_Alltoall", map[string]int64{"recvcount": 4, "recvtype": 0x11})}},
			4, 0x11, 0, true, false},
		"no type":           {Call{Function: "MPI_Bcast", Frames: []inferior.Frame{inner, frame("PMPI_Bcast", map[string]int64{"count": 8})}}, 8, 0, 0, false, false},
		"no count":          {Call{Function: "MPI_Bcast", Frames: []inferior.Frame{inner, frame("PMPI_Bcast", map[string]int64{"datatype": 1})}}, 0, 1, 0, false, false},
		"a negative count":  {Call{Function: "MPI_Bcast", Frames: []inferior.Frame{frame("PMPI_Bcast", map[string]int64{"count": -1, "datatype": 1})}}, -1, 1, 0, false, false},
		"an absurd count":   {Call{Function: "MPI_Bcast", Frames: []inferior.Frame{frame("PMPI_Bcast", map[string]int64{"count": 1 << 41, "datatype": 1})}}, 1 << 41, 1, 0, false, false},
		"of one side":       {Call{Function: "MPI_Gather", Frames: []inferior.Frame{frame("PMPI_Gather", map[string]int64{"recvcount": 1, "recvtype": 1})}}, 0, 0, 0, false, false},
		"not a reduction's": {Call{Function: "MPI_Accumulate", Frames: []inferior.Frame{frame("PMPI_Accumulate", map[string]int64{"op": 5})}}, 0, 0, 0, false, false},
	} {
		count, datatype, ok := c.call.Data()
		op, isReduction := c.call.Reduction()
		if count != c.count || datatype != c.datatype || ok != c.ok || op != c.op || isReduction != c.isReduction {
			t.Errorf("%s: %d of %#x %v, %#x %v", name, count, datatype, ok, op, isReduction)
		}
	}
}
