package abi

// Entry is an entry point of a DLL.
type Entry int

// The entry points. [None] stands for code of the DLL's that is none of them:
// what runs while it is being loaded.
const (
	None Entry = iota
	SetupBasicCallbacks
	VersionString
	VersionCompatibility
	DLLTaddrWidth
	DLLErrorString
	SetupImage
	ImageHasQueues
	DestroyImageInfo
	SetupProcess
	ProcessHasQueues
	DestroyProcessInfo
	UpdateCommunicatorList
	SetupCommunicatorIterator
	GetCommunicator
	GetCommGroup
	NextCommunicator
	SetupOperationIterator
	NextOperation
	SetupJob
	DestroyJobInfo
	SetProcessIdentity
	SetupNewProcessIterator
	NextNewProcess
	entries
)

// Need says who must have an entry point.
type Need int

// Who needs what. Those that only tidy up, tell the width or list a group are
// missing in DLLs that work.
const (
	Optional Need = iota
	Required
	// MPI2 entry points are looked at in DLLs of compatibility 3 only, and optional there.
	MPI2
)

var entryPoints = [entries]struct {
	name string
	need Need
}{
	None:                      {"its initialisation", Optional},
	SetupBasicCallbacks:       {"mqs_setup_basic_callbacks", Required},
	VersionString:             {"mqs_version_string", Required},
	VersionCompatibility:      {"mqs_version_compatibility", Required},
	DLLTaddrWidth:             {"mqs_dll_taddr_width", Optional},
	DLLErrorString:            {"mqs_dll_error_string", Required},
	SetupImage:                {"mqs_setup_image", Required},
	ImageHasQueues:            {"mqs_image_has_queues", Required},
	DestroyImageInfo:          {"mqs_destroy_image_info", Optional},
	SetupProcess:              {"mqs_setup_process", Required},
	ProcessHasQueues:          {"mqs_process_has_queues", Required},
	DestroyProcessInfo:        {"mqs_destroy_process_info", Optional},
	UpdateCommunicatorList:    {"mqs_update_communicator_list", Required},
	SetupCommunicatorIterator: {"mqs_setup_communicator_iterator", Required},
	GetCommunicator:           {"mqs_get_communicator", Required},
	GetCommGroup:              {"mqs_get_comm_group", Optional},
	NextCommunicator:          {"mqs_next_communicator", Required},
	SetupOperationIterator:    {"mqs_setup_operation_iterator", Required},
	NextOperation:             {"mqs_next_operation", Required},
	SetupJob:                  {"mqs_setup_job", MPI2},
	DestroyJobInfo:            {"mqs_destroy_job_info", MPI2},
	SetProcessIdentity:        {"mqs_set_process_identity", MPI2},
	SetupNewProcessIterator:   {"mqs_setup_new_process_iterator", MPI2},
	NextNewProcess:            {"mqs_next_new_process", MPI2},
}

// Entries lists the entry points.
func Entries() []Entry {
	var out []Entry
	for e := SetupBasicCallbacks; e < entries; e++ {
		out = append(out, e)
	}
	return out
}

// Exists says whether it is one of those above, [None] included.
func (e Entry) Exists() bool { return e >= 0 && e < entries }

// String is the entry point's name.
func (e Entry) String() string {
	if !e.Exists() {
		return "an unknown function"
	}
	return entryPoints[e].name
}

// Need says who must have it.
func (e Entry) Need() Need {
	if !e.Exists() {
		return Optional
	}
	return entryPoints[e].need
}
