package expect

import (
	"fmt"
	"slices"
	"strings"
)

// strippedMPICH is what is kept of a distribution's stripped MPICH: what UCX beneath it
// has, and, if its requests know their communicators (named, from 4.1 on), what those say.
//
// A process with nothing of its own pending on a communicator knows nothing of that but
// its context id, and what is complete is gone, like all that a process sends to
// communicators of its own alone. Sends have no order and no destination.
func strippedMPICH(named bool) Fidelity {
	m := stripped{named}
	return Fidelity{MayLackValue: m.lacksValue, MayBeUnordered: unorderedInUCX, MayBeAbsent: absentFromStripped, OnlyWorldListed: true, MayBeElsewhere: m.isElsewhere}
}

type stripped struct{ named bool }

// isElsewhere: the context id in a send's tag is that by which the receivers know an
// intercommunicator.
func (m stripped) isElsewhere(comm Object) bool { return !m.named && comm["remote_group"] != nil }

// absentFromStripped: only a buffered send that is complete may be there, as the library's own
// send of what it has packed.
func absentFromStripped(comm Object, _ string, want Object) bool {
	return isSelf(comm) || want["status"] == "complete" && !buffered(want)
}

func (m stripped) lacksValue(comm Object, queue, key string, want, got Object) bool {
	switch queue {
	case "":
		return m.lacksOfCommunicator(comm, key, got)
	case "pending_sends":
		return lacksInSend(key, want, got)
	case "pending_receives":
		return got[key] == nil && m.lacksInReceive(comm, key, want)
	}
	return got[key] == nil && strings.HasSuffix(key, "_global_rank") && !isWorld(comm)
}

// lacksOfCommunicator is about a communicator, or the process if there is none.
func (m stripped) lacksOfCommunicator(comm Object, key string, got Object) bool {
	id := got["unique_id"]
	if comm == nil {
		id = "0x0"
		at := slices.IndexFunc(Communicators(got), func(c Object) bool { return c["unique_id"] == id })
		if got[key] != nil || at < 0 {
			return false
		}
		got = Communicators(got)[at]
	}
	unknown := !m.named || !pendingOn(got)
	switch key {
	case "name":
		return unknown && (got[key] == "context "+fmt.Sprint(id) || id == "0x0" && got[key] == "MPI_COMM_WORLD")
	case "inter":
		return unknown
	case "group":
		return got[key] == nil && (unknown || id != "0x0")
	case "remote_group":
		return got[key] == nil && (unknown || got["inter"] == true)
	}
	return unknown && (comm == nil || got[key] == nil)
}

// pendingOn says whether a process has something of its own pending on a communicator.
func pendingOn(shown Object) bool {
	for _, q := range Queues[:2] {
		ops, _ := Operations(shown, q)
		if slices.ContainsFunc(ops, func(op Object) bool { return op["status"] != "complete" }) {
			return true
		}
	}
	return false
}

func isWorld(comm Object) bool { return comm["name"] == "MPI_COMM_WORLD" }

func contiguous(op Object) bool {
	name, _ := op["datatype"].(string)
	return strings.HasPrefix(name, "MPI_")
}

func lacksInSend(key string, want, got Object) bool {
	switch {
	case buffered(want) && key == "status":
		return got[key] == "pending"
	case got[key] != nil:
		return false
	}
	switch key {
	case "kind":
		return !blocking(want)
	case "count", "datatype", "system_buffer":
		return true
	case "buffer":
		return !contiguous(want)
	}
	return strings.HasSuffix(key, "_rank")
}

func (m stripped) lacksInReceive(comm Object, key string, want Object) bool {
	switch key {
	case "kind":
		return want[key] != "recv"
	case "count", "datatype":
		return true
	case "desired_global_rank", "actual_global_rank":
		return show(want[key]) != "-1" && !isWorld(comm)
	case "buffer", "system_buffer", "desired_length":
		return !m.named && !contiguous(want)
	}
	return false
}
