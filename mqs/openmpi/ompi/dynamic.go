package ompi

import (
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs/callstack"
)

// maxAgreeing bounds the requests among which those of an agreement are.
const maxAgreeing = 64

// withProgramsTag are requests among which is the one that a call waits for which sends messages of its own
// with the tag that the program has passed. Nothing tells these from the program's own messages.
//
// The leaders of MPI_Intercomm_create exchange the sizes of their groups, each with a handle on its stack
// (ompi/mpi/c/intercomm_create.c, 4.0 to 6.0). The members of MPI_Comm_create_group agree on a context by
// requests that their schedule alone leads to (ompi/communicator/comm_cid.c, 4.1).
func withProgramsTag(c *callstack.Call, open, held []Waitable) []Waitable {
	var among []Waitable
	switch {
	case c.Function == "MPI_Intercomm_create":
		among = held
	case c.Function == "MPI_Comm_create_group" && agreesOnContext(c):
		among = open
	}
	among = slices.DeleteFunc(slices.Clone(among), func(w Waitable) bool { return IsInternal(w.Tag) })
	if len(among) > maxAgreeing {
		return nil
	}
	return among
}
