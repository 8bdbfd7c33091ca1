package openmpi

import (
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// vendorAsks are the types and members that Open MPI's own debugger library asks
// for, as its host was asked in a run of each release. The types are all asked for
// by size too. The library of 4.1 does not ask for what newInVendor names.
var vendorAsks = map[string][]string{
	"mca_pml_base_recv_request_t": {"req_bytes_packed"},
	"mca_pml_base_request_t": {"req_addr", "req_comm", "req_count", "req_datatype", "req_peer", "req_pml_complete",
		"req_proc", "req_sequence", "req_tag", "req_type"},
	"mca_pml_base_send_request_t":           {"req_addr", "req_bytes_packed", "req_send_mode"},
	"mca_topo_base_comm_cart_2_2_0_t":       {"coords", "dims", "ndims", "periods"},
	"mca_topo_base_comm_dist_graph_2_2_0_t": {"in", "indegree", "inw", "out", "outdegree", "outw", "weighted"},
	"mca_topo_base_comm_graph_2_2_0_t":      {"edges", "index", "nnodes"},
	"mca_topo_base_module_t":                {"mtc", "reorder"},
	"ompi_communicator_t": {"c_contextid", "c_contextidb", "c_f_to_c_index", "c_flags", "c_index", "c_keyhash",
		"c_local_group", "c_my_rank", "c_name", "c_remote_group", "c_topo"},
	"ompi_datatype_t":       {"name", "super"},
	"ompi_group_t":          {"grp_flags", "grp_my_rank", "grp_proc_count", "grp_proc_pointers"},
	"ompi_request_t":        {"req_complete", "req_f_to_c_index", "req_state", "req_status", "req_type"},
	"ompi_status_public_t":  {"MPI_ERROR", "MPI_SOURCE", "MPI_TAG", "_cancelled", "_ucount"},
	"opal_datatype_t":       {"size"},
	"opal_free_list_item_t": nil,
	"opal_free_list_t": {"fl_allocations", "fl_frag_alignment", "fl_frag_class", "fl_frag_size", "fl_max_to_alloc",
		"fl_mpool", "fl_num_allocated", "fl_num_per_alloc"},
	"opal_hash_table_t":    {"ht_size", "ht_table"},
	"opal_list_item_t":     {"opal_list_next"},
	"opal_list_t":          {"opal_list_sentinel"},
	"opal_pointer_array_t": {"addr", "lowest_free", "number_free", "size"},
}

var newInVendor = []string{"c_contextidb", "c_index"}

// Every embedded table answers whatever the vendor's library asks. That library
// refuses a process for a type that is missing, and takes -1 for the offset of a
// member that is.
func TestTablesAnswerTheVendor(t *testing.T) {
	for _, table := range tables() {
		var queries []layout.TypeQuery
		for name, fields := range vendorAsks {
			queries = append(queries, layout.TypeQuery{Name: name, Fields: fields})
		}
		layouts := table.Layouts(queries)
		for _, q := range queries {
			size, ok := layouts.Size(q.Name)
			if !ok || size <= 0 {
				t.Errorf("%s: no %s", table.Release, q.Name)
			}
			for _, field := range q.Fields {
				asked := table.Release != "Open MPI 4.1.4" || !slices.Contains(newInVendor, field)
				if f, ok := layouts.Field(q.Name, field); ok != asked || f.Offset+f.Size > size {
					t.Errorf("%s: %s.%s: %v, %+v in %d bytes", table.Release, q.Name, field, ok, f, size)
				}
			}
		}
	}
}
