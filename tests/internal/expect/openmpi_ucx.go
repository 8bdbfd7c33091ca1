package expect

import (
	"slices"
	"strings"
)

// openMPIOverUCX is what Open MPI keeps with pml ucx. Sends have no order; of contiguous data
// neither count nor datatype is kept, of a receive that is complete what it asked for is
// not; a communicator that has been freed has nothing but its queues.
func openMPIOverUCX() Fidelity {
	return Fidelity{MayLackValue: lacksInUCX, MayBeUnordered: unorderedInUCX, MayBeAbsent: absentInUCX}
}

func lacksInUCX(comm Object, queue, key string, want, got Object) bool {
	if queue == "" {
		return bare(comm, got[key])
	}
	if isCopy := buffered(want) && got["kind"] == "bsend"; got[key] != nil && !isCopy {
		return false
	}
	switch {
	case comm["freed"] == true && strings.HasSuffix(key, "_rank"):
		// The ranks of its members are not known, nor who it sends to.
		return queue == "pending_sends" || strings.HasSuffix(key, "global_rank")
	case queue == "unexpected_messages" || persistent(want) && want["freed"] != true:
		return false
	case slices.Contains([]string{"count", "datatype", "kind"}, key):
		return true
	case queue == "pending_sends" && buffered(want):
		return slices.Contains([]string{"status", "buffer", "system_buffer"}, key)
	case queue == "pending_sends":
		// The answer to a rendezvous is written over its tag.
		return key == "buffer" || want["status"] == "complete" && (key == "desired_tag" || key == "actual_tag")
	case want["status"] == "complete":
		return slices.Contains(asked, key) || slices.Contains(buffers, key)
	}
	return false
}

// bare says whether a value of a communicator itself is unknown since it has been freed.
func bare(comm Object, got any) bool { return comm["freed"] == true && got == nil }

func unorderedInUCX(_ Object, queue string, op Object) bool {
	return queue == "pending_sends" || queue == "pending_receives" && op["status"] != "pending"
}

// absentInUCX: a buffered send that was eager leaves nothing.
func absentInUCX(_ Object, queue string, want Object) bool {
	return queue == "pending_sends" && buffered(want)
}
