package waitfor

import (
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// behaviour says for what a thread inside an MPI function waits, by the standard.
type behaviour int

const (
	goesOn       behaviour = iota // for nobody, or not for ever
	pointToPoint                  // until its own messages are sent and received
	probes                        // until there is a message
	waitsAll                      // for all of its requests
	waitsAny                      // for one of its requests
	// Collectives: which members need which.
	synchronises // nobody leaves before all have entered
	fromRoot     // the others wait for the root
	toRoot       // the root waits for all
	someWait     // who waits for whom depends on counts, neighbours or the library
	finalizes    // until all ranks of the job have entered
	accesses     // until it has a lock, or an access to another rank's memory is done, which a program may repeat in a loop
	exposes      // until others have opened or ended their epochs on a window
	asks         // for what a polling call asks about, as long as the program polls
	starts       // for ranks that have not called it, if the library synchronises them there
	comesAndGoes // for the members of a communicator that it makes or parts with, or for another job
	detaches     // until buffered sends have left the buffer
)

// collective says whether the members of a communicator call the function together.
func (b behaviour) collective() bool { return b >= synchronises && b <= finalizes }

// behaviours are those of the functions that may wait. A function that is not listed goes on: it is
// local, or returns at once, or nobody has thought of it.
var behaviours = func() map[string]behaviour {
	out := map[string]behaviour{}
	for b, names := range map[behaviour]string{
		pointToPoint: "Send Ssend Rsend Recv Mrecv Sendrecv Sendrecv_replace",
		probes:       "Probe Mprobe",
		waitsAll:     "Wait Waitall",
		waitsAny:     "Waitany Waitsome",

		synchronises: "Barrier Allreduce Allgather Alltoall Reduce_scatter Reduce_scatter_block " +
			"Comm_dup Comm_dup_with_info Comm_create Comm_split Comm_split_type Intercomm_merge " +
			"Cart_create Cart_sub Graph_create Dist_graph_create Dist_graph_create_adjacent " +
			"Win_create Win_create_dynamic Win_allocate Win_allocate_shared Win_free " +
			"File_open File_close File_set_view File_set_size File_preallocate",
		fromRoot: "Bcast Scatter",
		toRoot:   "Gather Reduce",
		someWait: "Scatterv Gatherv Scan Exscan Allgatherv Alltoallv Alltoallw " +
			"Neighbor_allgather Neighbor_allgatherv Neighbor_alltoall Neighbor_alltoallv Neighbor_alltoallw " +
			"Comm_free Comm_set_info Cart_map Graph_map Win_fence Win_set_info File_set_info File_sync File_set_atomicity File_seek_shared " +
			"File_read_all File_read_at_all File_read_ordered File_write_all File_write_at_all File_write_ordered " +
			"File_read_all_begin File_read_at_all_begin File_read_ordered_begin File_write_all_begin File_write_at_all_begin File_write_ordered_begin " +
			"File_read_all_end File_read_at_all_end File_read_ordered_end File_write_all_end File_write_at_all_end File_write_ordered_end " +
			// These make persistent requests, for which they may wait by the standard.
			"Barrier_init Bcast_init Gather_init Gatherv_init Scatter_init Scatterv_init Allgather_init Allgatherv_init " +
			"Alltoall_init Alltoallv_init Alltoallw_init Reduce_init Allreduce_init Reduce_scatter_init Reduce_scatter_block_init " +
			"Scan_init Exscan_init Neighbor_allgather_init Neighbor_allgatherv_init " +
			"Neighbor_alltoall_init Neighbor_alltoallv_init Neighbor_alltoallw_init",
		finalizes: "Finalize",

		starts: "Init Init_thread",
		comesAndGoes: "Session_init Session_finalize " +
			"Comm_create_group Comm_create_from_group Intercomm_create Intercomm_create_from_groups " +
			"Comm_disconnect Comm_spawn Comm_spawn_multiple Comm_accept Comm_connect Comm_join",
		detaches: "Buffer_detach Comm_detach_buffer Session_detach_buffer Buffer_flush Comm_flush_buffer Session_flush_buffer",
		exposes:  "Win_start Win_complete Win_wait",
		accesses: "Win_lock Win_lock_all Win_unlock Win_unlock_all Win_flush Win_flush_all Win_flush_local Win_flush_local_all",
	} {
		for name := range strings.FieldsSeq(names) {
			out["MPI_"+name] = b
		}
	}
	return out
}()

// behaviourOf says for what a thread in an MPI call waits.
func behaviourOf(t *mqs.Thread) behaviour {
	if t.Polls {
		return asks
	}
	return behaviours[t.Call]
}
