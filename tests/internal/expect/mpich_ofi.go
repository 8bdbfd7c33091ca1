package expect

import (
	"slices"
	"strings"
)

// mpichOverOFI is what a build of MPICH with ch4:ofi and types keeps of messages between nodes, which it leaves to
// libfabric. Who gets a send is known only as long as it waits for an answer, if there is no other connection, or from
// debugger support; of a receive that has matched neither what it asked for is known nor the message before it is
// complete.
func mpichOverOFI(debugger bool) Fidelity {
	shared := typedMPICH("ch4", debugger)
	lacks := func(comm Object, queue, key string, want, got Object) bool {
		switch {
		case queue == "":
			return bare(comm, got[key])
		case queue == "pending_receives" && want["cancelled"] == true && !isSelf(comm):
			return got[key] == nil && key != "status"
		case isSelf(comm), queue != "pending_sends" && want["status"] == "complete", buffered(want) && got["kind"] == "bsend":
			return shared.MayLackValue(comm, queue, key, want, got)
		case got[key] != nil || persistent(want):
			return false
		case queue == "pending_sends" && (want["status"] == "complete" || kindOf(want) == "issend") && strings.HasSuffix(key, "_length"):
			return true // the data has left
		case comm["freed"] == true && strings.HasSuffix(key, "_rank"):
			return true
		case queue == "pending_sends":
			return strings.HasSuffix(key, "_rank") || slices.Contains([]string{"kind", "buffer", "system_buffer", "count", "datatype"}, key)
		case queue == "pending_receives" && want["status"] == "matched":
			return slices.Contains(asked, key) || slices.Contains(actual, key)
		}
		return false
	}
	unordered := func(comm Object, queue string, op Object) bool {
		// What a process sends to itself goes through shared memory.
		isOwn := !isSelf(comm) && op["desired_local_rank"] != nil && show(op["desired_local_rank"]) == show(comm["local_rank"])
		return isOwn || shared.MayBeUnordered(comm, queue, op)
	}
	return Fidelity{MayLackValue: lacks, MayBeUnordered: unordered, MayBeAbsent: func(_ Object, queue string, want Object) bool {
		return queue == "pending_sends" && (buffered(want) || !debugger && want["status"] == "complete") // it leads to no communicator any more
	}}
}

// foundMPICHOverOFI is what a stripped build of MPICH with ch4:ofi keeps whose objects are read: the same, but for what
// the frame of a blocking call says of a message that has left.
func foundMPICHOverOFI() Fidelity {
	out := mpichOverOFI(false)
	typed := out.MayLackValue
	out.MayLackValue = func(comm Object, queue, key string, want, got Object) bool {
		hasLeft := queue == "pending_sends" && kindOf(want) == "ssend" && strings.HasSuffix(key, "_length")
		return hasLeft && got[key] == nil || typed(comm, queue, key, want, got)
	}
	return out
}

// inPieces is what is kept where the library hands what has gaps to libfabric in pieces: where the first is need not be where
// the program's buffer begins.
func (f Fidelity) inPieces() Fidelity {
	whole := f.MayLackValue
	f.MayLackValue = func(comm Object, queue, key string, want, got Object) bool {
		datatype, _ := want["datatype"].(string)
		isOfPieces := queue == "pending_receives" && (key == "buffer" || key == "system_buffer") && !strings.HasPrefix(datatype, "MPI_")
		return isOfPieces && got[key] == nil || whole(comm, queue, key, want, got)
	}
	return f
}
