package abi

import (
	"testing"
	"unsafe"
)

// The figures are those of LP64, as measured in the DLLs of Open MPI and MPICH.
func TestSizesAndOffsets(t *testing.T) {
	if unsafe.Sizeof(uintptr(0)) != 8 {
		t.Skip("the figures are those of 64-bit systems")
	}
	var c Communicator
	var o PendingOperation
	var s TargetTypeSizes
	var l ProcessLocation
	var basic BasicCallbacks
	var image ImageCallbacks
	var process ProcessCallbacks
	var job JobCallbacks
	for name, v := range map[string][2]uintptr{
		"mqs_communicator":            {unsafe.Sizeof(c), 88},
		"mqs_communicator.unique_id":  {unsafe.Offsetof(c.UniqueID), 0},
		"mqs_communicator.local_rank": {unsafe.Offsetof(c.LocalRank), 8},
		"mqs_communicator.size":       {unsafe.Offsetof(c.Size), 16},
		"mqs_communicator.name":       {unsafe.Offsetof(c.Name), 24},

		"mqs_pending_operation":                     {unsafe.Sizeof(o), 416},
		"mqs_pending_operation.status":              {unsafe.Offsetof(o.Status), 0},
		"mqs_pending_operation.desired_local_rank":  {unsafe.Offsetof(o.DesiredLocalRank), 8},
		"mqs_pending_operation.desired_global_rank": {unsafe.Offsetof(o.DesiredGlobalRank), 16},
		"mqs_pending_operation.tag_wild":            {unsafe.Offsetof(o.TagWild), 24},
		"mqs_pending_operation.desired_tag":         {unsafe.Offsetof(o.DesiredTag), 32},
		"mqs_pending_operation.desired_length":      {unsafe.Offsetof(o.DesiredLength), 40},
		"mqs_pending_operation.system_buffer":       {unsafe.Offsetof(o.SystemBuffer), 48},
		"mqs_pending_operation.buffer":              {unsafe.Offsetof(o.Buffer), 56},
		"mqs_pending_operation.actual_local_rank":   {unsafe.Offsetof(o.ActualLocalRank), 64},
		"mqs_pending_operation.actual_global_rank":  {unsafe.Offsetof(o.ActualGlobalRank), 72},
		"mqs_pending_operation.actual_tag":          {unsafe.Offsetof(o.ActualTag), 80},
		"mqs_pending_operation.actual_length":       {unsafe.Offsetof(o.ActualLength), 88},
		"mqs_pending_operation.extra_text":          {unsafe.Offsetof(o.ExtraText), 96},

		"mqs_target_type_sizes":                {unsafe.Sizeof(s), 20},
		"mqs_target_type_sizes.short_size":     {unsafe.Offsetof(s.ShortSize), 0},
		"mqs_target_type_sizes.int_size":       {unsafe.Offsetof(s.IntSize), 4},
		"mqs_target_type_sizes.long_size":      {unsafe.Offsetof(s.LongSize), 8},
		"mqs_target_type_sizes.long_long_size": {unsafe.Offsetof(s.LongLongSize), 12},
		"mqs_target_type_sizes.pointer_size":   {unsafe.Offsetof(s.PointerSize), 16},

		"mqs_process_location":            {unsafe.Sizeof(l), 8 + 4096 + 64},
		"mqs_process_location.image_name": {unsafe.Offsetof(l.ImageName), 8},
		"mqs_process_location.host_name":  {unsafe.Offsetof(l.HostName), 8 + 4096},

		"mqs_basic_callbacks":                         {unsafe.Sizeof(basic), 80},
		"mqs_basic_callbacks.mqs_malloc_fp":           {unsafe.Offsetof(basic.Malloc), 0},
		"mqs_basic_callbacks.mqs_free_fp":             {unsafe.Offsetof(basic.Free), 8},
		"mqs_basic_callbacks.mqs_dprints_fp":          {unsafe.Offsetof(basic.Dprints), 16},
		"mqs_basic_callbacks.mqs_errorstring_fp":      {unsafe.Offsetof(basic.Errorstring), 24},
		"mqs_basic_callbacks.mqs_put_image_info_fp":   {unsafe.Offsetof(basic.PutImageInfo), 32},
		"mqs_basic_callbacks.mqs_get_image_info_fp":   {unsafe.Offsetof(basic.GetImageInfo), 40},
		"mqs_basic_callbacks.mqs_put_process_info_fp": {unsafe.Offsetof(basic.PutProcessInfo), 48},
		"mqs_basic_callbacks.mqs_get_process_info_fp": {unsafe.Offsetof(basic.GetProcessInfo), 56},
		"mqs_basic_callbacks.mqs_put_job_info_fp":     {unsafe.Offsetof(basic.PutJobInfo), 64},
		"mqs_basic_callbacks.mqs_get_job_info_fp":     {unsafe.Offsetof(basic.GetJobInfo), 72},

		"mqs_image_callbacks":                       {unsafe.Sizeof(image), 48},
		"mqs_image_callbacks.mqs_get_type_sizes_fp": {unsafe.Offsetof(image.GetTypeSizes), 0},
		"mqs_image_callbacks.mqs_find_function_fp":  {unsafe.Offsetof(image.FindFunction), 8},
		"mqs_image_callbacks.mqs_find_symbol_fp":    {unsafe.Offsetof(image.FindSymbol), 16},
		"mqs_image_callbacks.mqs_find_type_fp":      {unsafe.Offsetof(image.FindType), 24},
		"mqs_image_callbacks.mqs_field_offset_fp":   {unsafe.Offsetof(image.FieldOffset), 32},
		"mqs_image_callbacks.mqs_sizeof_fp":         {unsafe.Offsetof(image.Sizeof), 40},

		"mqs_process_callbacks":                             {unsafe.Sizeof(process), 48},
		"mqs_process_callbacks.mqs_get_global_rank_fp":      {unsafe.Offsetof(process.GetGlobalRank), 0},
		"mqs_process_callbacks.mqs_get_image_fp":            {unsafe.Offsetof(process.GetImage), 8},
		"mqs_process_callbacks.mqs_fetch_data_fp":           {unsafe.Offsetof(process.FetchData), 16},
		"mqs_process_callbacks.mqs_target_to_host_fp":       {unsafe.Offsetof(process.TargetToHost), 24},
		"mqs_process_callbacks.mqs_get_process_job_fp":      {unsafe.Offsetof(process.GetProcessJob), 32},
		"mqs_process_callbacks.mqs_get_process_identity_fp": {unsafe.Offsetof(process.GetProcessIdentity), 40},

		"mqs_job_callbacks":                    {unsafe.Sizeof(job), 8},
		"mqs_job_callbacks.mqs_get_process_fp": {unsafe.Offsetof(job.GetProcess), 0},
	} {
		if v[0] != v[1] {
			t.Errorf("%s: %d, want %d", name, v[0], v[1])
		}
	}
}

func TestConstants(t *testing.T) {
	for name, v := range map[string][2]int{
		"mqs_ok": {OK, 0}, "mqs_no_information": {NoInformation, 1}, "mqs_end_of_list": {EndOfList, 2},
		"mqs_first_user_code": {FirstUserCode, 100}, "MQS_INVALID_PROCESS": {InvalidProcess, -1},
		"mqs_pending_sends": {int(PendingSends), 0}, "mqs_pending_receives": {int(PendingReceives), 1},
		"mqs_unexpected_messages": {int(UnexpectedMessages), 2},
		"mqs_st_pending":          {StPending, 0}, "mqs_st_matched": {StMatched, 1}, "mqs_st_complete": {StComplete, 2},
		"mqs_lang_c": {int(LangC), 'c'}, "mqs_lang_cplus": {int(LangCplus), 'C'},
		"mqs_lang_f77": {int(LangF77), 'f'}, "mqs_lang_f90": {int(LangF90), 'F'},
	} {
		if v[0] != v[1] {
			t.Errorf("%s: %d, want %d", name, v[0], v[1])
		}
	}
}

func TestEveryEntryPointHasAName(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range Entries() {
		if name := e.String(); len(name) < 5 || name[:4] != "mqs_" || seen[name] {
			t.Errorf("entry point %d is called %q", e, name)
		}
		seen[e.String()] = true
	}
	if len(seen) != 23 {
		t.Errorf("there are %d entry points", len(seen))
	}
}

func TestTextEndsAtItsTerminatorOrAtTheArraysEnd(t *testing.T) {
	if got := Text([]byte("abc\x00def")); got != "abc" {
		t.Errorf("%q", got)
	}
	if got := Text([]byte("abc")); got != "abc" {
		t.Errorf("%q", got)
	}
}
