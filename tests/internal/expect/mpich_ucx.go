package expect

import (
	"slices"
	"strings"
)

// mpichOverUCX is what a build of MPICH with ch4:ucx and types keeps: of contiguous data
// neither count nor datatype, no order of sends, and of what is complete, up to 4.0, not even
// which communicator it is on.
func mpichOverUCX() Fidelity {
	return Fidelity{MayLackValue: lacksOverUCX, MayBeUnordered: unorderedInUCX, MayBeAbsent: absentOverUCX}
}

func lacksOverUCX(comm Object, queue, key string, want, got Object) bool {
	if queue == "" {
		return bare(comm, got[key])
	}
	if buffered(want) && got["kind"] == "bsend" {
		return slices.Contains([]string{"status", "kind", "count", "datatype", "buffer", "system_buffer"}, key)
	}
	if isSelf(comm) {
		return typedMPICH("ch4", false).MayLackValue(comm, queue, key, want, got)
	}
	switch {
	case comm["freed"] == true && strings.HasSuffix(key, "_rank"):
		return got[key] == nil
	case got[key] != nil || queue == "unexpected_messages" || persistent(want):
		return false
	case key == "count" || key == "datatype" || key == "kind":
		return true
	case queue == "pending_sends":
		return key == "buffer" || key == "system_buffer" // of what is not contiguous and has left
	}
	return want["status"] != "pending" && (slices.Contains(asked, key) || slices.Contains(buffers, key))
}

func absentOverUCX(comm Object, queue string, want Object) bool {
	return queue == "pending_sends" && buffered(want) || want["status"] == "complete" && !persistent(want) && !isSelf(comm)
}
