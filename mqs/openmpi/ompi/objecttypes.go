package ompi

import "github.com/mpi-queues/mpi-queues/mqs/inferior"

// objectTypes are the C types of what handles stand for, and of what hangs on that. No process needs any of
// them for its queues: what a library's types lack is not known of its objects.
type objectTypes struct {
	Win        inferior.Struct[win]        `c:"ompi_win_t"`
	File       inferior.Struct[file]       `c:"ompi_file_t"`
	Op         inferior.Struct[op]         `c:"ompi_op_t"`
	Errhandler inferior.Struct[errhandler] `c:"ompi_errhandler_t"`
	InfoObject inferior.Struct[info]       `c:"ompi_info_t"`
	InfoEntry  inferior.Struct[infoEntry]  `c:"opal_info_entry_t"`
	CString    inferior.Struct[cString]    `c:"opal_cstring_t"`  // from 5.0
	Instance   inferior.Struct[instance]   `c:"ompi_instance_t"` // from 5.0
	Status     inferior.Struct[Status]     `c:"ompi_status_public_t"`

	RequestObject inferior.Struct[requestObject] `c:"ompi_request_t"`
	Collective    inferior.Struct[collective]    `c:"ompi_coll_libnbc_request_t"`
	LibNBC        inferior.Struct[libNBC]        `c:"ompi_coll_libnbc_component_t"`

	DatatypeArgs inferior.Struct[datatypeArgs] `c:"ompi_datatype_args_t"`

	HashTable    inferior.Struct[hashTable]   `c:"opal_hash_table_t"`
	HashElement  inferior.Struct[hashElement] `c:"opal_hash_element_t"`
	Attribute    inferior.Struct[attribute]   `c:"attribute_key_value_t"`
	OldAttribute inferior.Struct[oldAttr]     `c:"attribute_value_t"`
	TopoModule   inferior.Struct[topoModule]  `c:"mca_topo_base_module_t"`
	Cart         inferior.Struct[cart]        `c:"mca_topo_base_comm_cart_2_2_0_t"`
	Graph        inferior.Struct[graph]       `c:"mca_topo_base_comm_graph_2_2_0_t"`
	DistGraph    inferior.Struct[distGraph]   `c:"mca_topo_base_comm_dist_graph_2_2_0_t"`
	OMPIOData    inferior.Struct[ompioData]   `c:"mca_common_ompio_data_t"`
	OSCRDMA      inferior.Struct[oscRDMA]     `c:"ompi_osc_rdma_module_t"`
	OSCRDMASync  inferior.Struct[oscSync]     `c:"ompi_osc_rdma_sync_t"`
	OSCRDMAState inferior.Struct[oscState]    `c:"ompi_osc_rdma_state_t"`
	OSCSM        inferior.Struct[oscSM]       `c:"ompi_osc_sm_module_t"`
	OSCSMState   inferior.Struct[oscSMState]  `c:"ompi_osc_sm_node_state_t"`
	OSCPt2pt     inferior.Struct[oscPt2pt]    `c:"ompi_osc_pt2pt_module_t"` // up to 4.1
	OSCPt2ptSync inferior.Struct[oscSync]     `c:"ompi_osc_pt2pt_sync_t"`
	OSCUCX       inferior.Struct[oscUCX]      `c:"ompi_osc_ucx_module_t"`
	OSCUCXLock   inferior.Struct[oscUCXLock]  `c:"ompi_osc_ucx_lock_t"`
}

// win is an ompi_win_t.
type win struct {
	// Lock is an object too, whose class stays when the window has been freed.
	Lock         inferior.Embedded[Object] `c:"w_lock"`
	Name         inferior.Text             `c:"w_name"`
	Group        inferior.Ptr[Group]       `c:"w_group"`
	Flags        uint16                    `c:"w_flags"`
	Flavor       uint16                    `c:"w_flavor"`
	Attributes   inferior.Ptr[hashTable]   `c:"w_keyhash"`
	FortranIndex int32                     `c:"w_f_to_c_index"`
	Module       inferior.Addr             `c:"w_osc_module"` // of the component's own type
}

// file is an ompi_file_t.
type file struct {
	Lock         inferior.Embedded[Object]  `c:"f_lock"`
	Comm         inferior.Ptr[Communicator] `c:"f_comm"`
	Name         inferior.Text              `c:"f_filename"`
	AccessMode   uint32                     `c:"f_amode"`
	FortranIndex int32                      `c:"f_f_to_c_index"`
	Data         inferior.Addr              `c:"f_io_selected_data"` // of the component's own type
}

// ompioData is what io/ompio keeps of a file, of which it has a communicator of its own.
type ompioData struct {
	File inferior.Ptr[file]         `c:"ompio_fh.f_fh"`
	Comm inferior.Ptr[Communicator] `c:"ompio_fh.f_comm"`
}

type op struct {
	Name         inferior.Text `c:"o_name"`
	Flags        uint32        `c:"o_flags"`
	FortranIndex int32         `c:"o_f_to_c_index"`
}

type errhandler struct {
	Name         inferior.Text `c:"eh_name"`
	FortranIndex int32         `c:"eh_f_to_c_index"`
}

// info is an ompi_info_t, which starts with a list of entries.
type info struct {
	First        inferior.Ptr[ListItem]      `c:"super.super.opal_list_sentinel.opal_list_next"`
	Sentinel     inferior.Embedded[ListItem] `c:"super.super.opal_list_sentinel"`
	FortranIndex int32                       `c:"i_f_to_c_index"`
}

// infoEntry is one key of an MPI_Info. Key and value are characters up to 4.1, and pointers to a [cString] from
// 5.0.
type infoEntry struct {
	Key   inferior.Text `c:"ie_key"`
	Value inferior.Text `c:"ie_value"`
	// Internal ones are not shown to programs (5.0.4).
	Internal bool `c:"ie_internal,optional"`
}

type cString struct {
	Text inferior.Text `c:"string"`
}

// instance is an ompi_instance_t, an MPI_Session.
type instance struct {
	Name         inferior.Text `c:"i_name"`
	FortranIndex int32         `c:"i_f_to_c_index"`
}

// Status is an MPI_Status.
type Status struct {
	Source    int32  `c:"MPI_SOURCE"`
	Tag       int32  `c:"MPI_TAG"`
	Error     int32  `c:"MPI_ERROR"`
	Cancelled bool   `c:"_cancelled"`
	Length    uint64 `c:"_ucount"` // bytes
}

// requestObject is what a request of any kind tells of itself.
type requestObject struct {
	Type         int32                      `c:"req_type"`
	Status       Status                     `c:"req_status"`
	Complete     uint64                     `c:"req_complete"`
	State        int32                      `c:"req_state"`
	Persistent   bool                       `c:"req_persistent"`
	FortranIndex int32                      `c:"req_f_to_c_index"`
	Comm         inferior.Ptr[Communicator] `c:"req_mpi_object.comm"`
}

// collective is a request of a non-blocking collective of coll/libnbc.
type collective struct {
	Comm inferior.Ptr[Communicator] `c:"comm"`
	// Tag is that of its messages, which it got in the order in which they began on the communicator.
	Tag int32 `c:"tag,optional"`
	// The requests of the messages of its present round.
	Parts      inferior.Addr `c:"req_array,optional"`
	PartsCount int32         `c:"req_count,optional"`
}

// libNBC is coll/libnbc, which has all of its requests on one list.
type libNBC struct {
	Requests inferior.Embedded[FreeList] `c:"requests"`
}

// datatypeArgs is how a datatype was built. It ends with its arrays.
type datatypeArgs struct {
	Combiner      int32                                `c:"create_type"`
	IntegerCount  int64                                `c:"ci"`
	AddressCount  int64                                `c:"ca"`
	DatatypeCount int64                                `c:"cd"`
	CountCount    int64                                `c:"cl,optional"` // from 6.0, of a type built with large counts
	Integers      inferior.Addr                        `c:"i"`
	Addresses     inferior.Addr                        `c:"a"`
	Datatypes     inferior.Ptr[inferior.Ptr[Datatype]] `c:"d"`
	Counts        inferior.Addr                        `c:"l,optional"`
}

// hashTable is an opal_hash_table_t: an array of elements, of which some are valid.
type hashTable struct {
	Elements inferior.Ptr[hashElement] `c:"ht_table"`
	Capacity uint64                    `c:"ht_capacity"`
	Size     uint64                    `c:"ht_size"`
}

type hashElement struct {
	Valid bool          `c:"valid"`
	Key   uint32        `c:"key.u32"`
	Value inferior.Addr `c:"value"`
}

// attribute is an attribute_key_value_t, from 4.1.4.
type attribute struct {
	Integer int32         `c:"av_value.av_int"`
	Address inferior.Addr `c:"av_value.av_pointer"`
	Length  int64         `c:"av_value.av_aint"`
}

// oldAttr is an attribute_value_t, up to 4.1.3: one word, which is an integer, an address or a length, depending on the
// attribute (ompi/attribute/attribute.c).
type oldAttr struct {
	Value int64 `c:"av_value"`
}

// topoModule is a mca_topo_base_module_t. What it keeps is of the topology's own type.
type topoModule struct {
	Kept inferior.Embedded[inferior.Addr] `c:"mtc"`
}

type cart struct {
	Count       int32         `c:"ndims"`
	Sizes       inferior.Addr `c:"dims"`
	Periods     inferior.Addr `c:"periods"`
	Coordinates inferior.Addr `c:"coords"`
}

type graph struct {
	Nodes int32         `c:"nnodes"`
	Index inferior.Addr `c:"index"`
	Edges inferior.Addr `c:"edges"`
}

type distGraph struct {
	In        inferior.Addr `c:"in"`
	Out       inferior.Addr `c:"out"`
	InDegree  int32         `c:"indegree"`
	OutDegree int32         `c:"outdegree"`
}

// oscRDMA is what osc/rdma keeps of a window, and oscPt2pt osc/pt2pt.
type oscRDMA struct {
	Win       inferior.Ptr[win]                   `c:"win"`
	Comm      inferior.Ptr[Communicator]          `c:"comm"`
	AllSync   inferior.Embedded[oscSync]          `c:"all_sync"`
	PostGroup inferior.Ptr[Group]                 `c:"pw_group"`
	Locks     inferior.Embedded[hashTable]        `c:"outstanding_locks"`
	LockArray inferior.Ptr[inferior.Ptr[oscSync]] `c:"outstanding_lock_array"` // of small jobs
	State     inferior.Ptr[oscState]              `c:"state,optional"`
	// LockingMode says how MPI_Win_lock_all goes.
	LockingMode inferior.Embedded[int32] `c:"locking_mode,optional"`
}

// oscState is what other processes change of osc/rdma's part of a window.
type oscState struct {
	Completed int64 `c:"num_complete_msgs"`
}

type oscPt2pt struct {
	Comm      inferior.Ptr[Communicator]   `c:"comm"`
	AllSync   inferior.Embedded[oscSync]   `c:"all_sync"`
	PostGroup inferior.Ptr[Group]          `c:"pw_group"`
	Locks     inferior.Embedded[hashTable] `c:"outstanding_locks"`
}

// oscSync is an access epoch of osc/rdma or osc/pt2pt.
type oscSync struct {
	Module     inferior.Addr       `c:"module,optional"` // the window's
	Type       int32               `c:"type"`
	Target     int32               `c:"sync.lock.target"`
	LockType   int32               `c:"sync.lock.type"`
	StartGroup inferior.Ptr[Group] `c:"sync.pscw.group"`
	// Expected counts the answers that osc/pt2pt waits for.
	Expected inferior.Embedded[int32] `c:"sync_expected,optional"`
}

// oscSM is what osc/sm keeps of a window.
type oscSM struct {
	Comm       inferior.Ptr[Communicator] `c:"comm"`
	Flavor     int32                      `c:"flavor"`
	StartGroup inferior.Ptr[Group]        `c:"start_group"`
	PostGroup  inferior.Ptr[Group]        `c:"post_group"`
	Locks      inferior.Addr              `c:"outstanding_locks"` // of an enumeration for each rank
	State      inferior.Ptr[oscSMState]   `c:"my_node_state,optional"`
	Lock       inferior.Embedded[Object]  `c:"lock"`
}

// oscSMState is what other processes change of osc/sm's part of a window.
type oscSMState struct {
	Completed int32 `c:"complete_count"`
}

// oscUCX is what osc/ucx keeps of a window.
type oscUCX struct {
	Comm       inferior.Ptr[Communicator]   `c:"comm"`
	Access     int32                        `c:"epoch_type.access"`
	Exposure   int32                        `c:"epoch_type.exposure"`
	StartGroup inferior.Ptr[Group]          `c:"start_group"`
	PostGroup  inferior.Ptr[Group]          `c:"post_group"`
	Completed  inferior.Embedded[uint64]    `c:"state.complete_count,optional"`
	Locks      inferior.Embedded[hashTable] `c:"outstanding_locks"`
}

type oscUCXLock struct {
	Target int32 `c:"target_rank"`
	Type   int32 `c:"type"`
}
