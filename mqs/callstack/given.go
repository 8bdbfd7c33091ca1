package callstack

import "strings"

// givesData are the collectives in which each member gives, or gets of each, as much data of as many types as
// all others, and the arguments that say so (MPI 4.1, chapter 6). Those of MPI_Gather and MPI_Scatter are
// of the root on the one side and of the others on the other.
var givesData = map[string][2]string{
	"MPI_Bcast": {"count", "datatype"}, "MPI_Reduce": {"count", "datatype"}, "MPI_Allreduce": {"count", "datatype"},
	"MPI_Scan": {"count", "datatype"}, "MPI_Exscan": {"count", "datatype"}, "MPI_Reduce_scatter_block": {"recvcount", "datatype"},
	"MPI_Allgather": {"recvcount", "recvtype"}, "MPI_Alltoall": {"recvcount", "recvtype"},
}

// maxCount bounds the number of elements that is believed: what is in a register may be another value by then.
const maxCount = 1 << 40

// Data returns how many elements of which datatype a collective call was given, as the program has passed them;
// false if that is not known.
func (c *Call) Data() (count, datatype int64, ok bool) {
	names, isOne := givesData[c.Function]
	if !isOne {
		return 0, 0, false
	}
	count, isCounted := c.CallArgument(names[0])
	datatype, isTyped := c.CallArgument(names[1])
	return count, datatype, isCounted && isTyped && count >= 0 && count <= maxCount
}

// Reduction returns the operation of a reduction, as the program has passed it; false if that is not known.
func (c *Call) Reduction() (op int64, ok bool) {
	if !strings.Contains(c.Function, "educe") && c.Function != "MPI_Scan" && c.Function != "MPI_Exscan" {
		return 0, false
	}
	return c.CallArgument("op")
}
