package expect

import (
	"slices"
	"strings"
)

// openMPIOverOFI is what Open MPI keeps with pml cm and mtl ofi. Sends have no order; the receiver of one that is
// started once is known only as long as it waits for an answer, or if there is no other connection; of a
// receive that has matched what it asked for is not known, nor the message before it is complete.
func openMPIOverOFI() Fidelity {
	return Fidelity{MayLackValue: lacksInOFI, MayBeUnordered: unorderedInUCX, MayBeAbsent: absentInUCX}
}

// kindOf is how an operation was made, empty if that is not said.
func kindOf(op Object) string {
	kind, _ := op["kind"].(string)
	return kind
}

func lacksInOFI(comm Object, queue, key string, want, got Object) bool {
	switch {
	case queue == "":
		return bare(comm, got[key])
	case queue == "pending_sends" && buffered(want) && (key == "buffer" || key == "system_buffer"):
		return true // it depends on whether the data has left
	case got[key] != nil && (!buffered(want) || got["kind"] != "bsend"):
		return false
	case comm["freed"] == true && strings.HasSuffix(key, "_rank"):
		return queue == "pending_sends" || strings.HasSuffix(key, "global_rank")
	case queue == "unexpected_messages" || persistent(want) && want["freed"] != true:
		return false
	case queue == "pending_sends" && buffered(want):
		return slices.Contains([]string{"status", "buffer", "system_buffer"}, key)
	case queue == "pending_sends":
		isOfCall := !strings.HasPrefix(kindOf(want), "i") && !persistent(want)
		return strings.HasSuffix(key, "_rank") || isOfCall && slices.Contains([]string{"buffer", "count", "datatype"}, key)
	case want["status"] == "complete":
		return slices.Contains(asked, key)
	case want["status"] == "matched":
		return strings.HasPrefix(key, "actual_") || slices.Contains(asked, key)
	}
	return false
}
