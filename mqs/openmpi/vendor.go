package openmpi

import "github.com/mpi-queues/mpi-queues/mqs/layout"

// vendorAsks are the types and members that Open MPI's own debugger library, libompi_dbg_msgq.so,
// asks its host for, as it was asked in a run of each release. The types are all asked for by size
// too. That library refuses a process for a type that is missing, and takes -1 for the offset of a
// member that is.
var vendorAsks = []layout.TypeQuery{
	{Name: "mca_pml_base_recv_request_t", Fields: []string{"req_bytes_packed"}},
	{Name: "mca_pml_base_request_t", Fields: []string{"req_addr", "req_comm", "req_count", "req_datatype", "req_peer", "req_pml_complete",
		"req_proc", "req_sequence", "req_tag", "req_type"}},
	{Name: "mca_pml_base_send_request_t", Fields: []string{"req_addr", "req_bytes_packed", "req_send_mode"}},
	{Name: "mca_topo_base_comm_cart_2_2_0_t", Fields: []string{"coords", "dims", "ndims", "periods"}},
	{Name: "mca_topo_base_comm_dist_graph_2_2_0_t", Fields: []string{"in", "indegree", "inw", "out", "outdegree", "outw", "weighted"}},
	{Name: "mca_topo_base_comm_graph_2_2_0_t", Fields: []string{"edges", "index", "nnodes"}},
	{Name: "mca_topo_base_module_t", Fields: []string{"mtc", "reorder"}},
	{Name: "ompi_communicator_t", Fields: []string{"c_contextid", "c_contextidb", "c_f_to_c_index", "c_flags", "c_index", "c_keyhash",
		"c_local_group", "c_my_rank", "c_name", "c_remote_group", "c_topo"}},
	{Name: "ompi_datatype_t", Fields: []string{"name", "super"}},
	{Name: "ompi_group_t", Fields: []string{"grp_flags", "grp_my_rank", "grp_proc_count", "grp_proc_pointers"}},
	{Name: "ompi_request_t", Fields: []string{"req_complete", "req_f_to_c_index", "req_state", "req_status", "req_type"}},
	{Name: "ompi_status_public_t", Fields: []string{"MPI_ERROR", "MPI_SOURCE", "MPI_TAG", "_cancelled", "_ucount"}},
	{Name: "opal_datatype_t", Fields: []string{"size"}},
	{Name: "opal_free_list_item_t"},
	{Name: "opal_free_list_t", Fields: []string{"fl_allocations", "fl_frag_alignment", "fl_frag_class", "fl_frag_size", "fl_max_to_alloc",
		"fl_mpool", "fl_num_allocated", "fl_num_per_alloc"}},
	{Name: "opal_hash_table_t", Fields: []string{"ht_size", "ht_table"}},
	{Name: "opal_list_item_t", Fields: []string{"opal_list_next"}},
	{Name: "opal_list_t", Fields: []string{"opal_list_sentinel"}},
	{Name: "opal_pointer_array_t", Fields: []string{"addr", "lowest_free", "number_free", "size"}},
}
