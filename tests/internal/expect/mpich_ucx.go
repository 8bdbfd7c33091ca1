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

// foundMPICH is what a stripped build of MPICH with ch4:ucx keeps whose objects are read: the same, but where the
// buffer of MPI_Buffer_attach is and which sends to oneself came first is hidden.
func foundMPICH() Fidelity {
	lacks := func(comm Object, queue, key string, want, got Object) bool {
		return lacksOverUCX(comm, queue, key, want, got) ||
			queue == "pending_sends" && buffered(want) && got["kind"] == nil && slices.Contains([]string{"status", "kind", "count", "datatype", "buffer", "system_buffer"}, key)
	}
	unordered := func(comm Object, queue string, op Object) bool {
		return isSelf(comm) || unorderedInUCX(comm, queue, op)
	}
	return Fidelity{MayLackValue: lacks, MayBeUnordered: unordered, MayBeAbsent: absentOverUCX}
}

// besideSharedMemory returns the fidelity of a build that also has a shared-memory module. A process sends to itself through
// that, so the order of these operations among those in UCX is not known.
func (f Fidelity) besideSharedMemory() Fidelity {
	alone := f.MayBeUnordered
	f.MayBeUnordered = func(comm Object, queue string, op Object) bool {
		return op["desired_local_rank"] != nil && op["desired_local_rank"] == comm["local_rank"] || alone(comm, queue, op)
	}
	return f
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
	case queue == "pending_sends" && want["status"] == "complete":
		return key != "status" // from 4.2 on it is on its communicator still
	case queue == "pending_sends":
		return key == "buffer" || key == "system_buffer" // of what is not contiguous and has left
	}
	return want["status"] != "pending" && (slices.Contains(asked, key) || slices.Contains(buffers, key))
}

func absentOverUCX(comm Object, queue string, want Object) bool {
	return queue == "pending_sends" && buffered(want) || want["status"] == "complete" && !persistent(want) && !isSelf(comm)
}
