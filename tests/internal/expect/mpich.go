package expect

import (
	"slices"
	"strings"
)

// typedMPICH is what a build of MPICH with types keeps: with the device "ch3" or "ch4", with
// debugger support or without.
func typedMPICH(device string, debugger bool) Fidelity {
	m := mpich{ch4: device == "ch4", debugger: debugger}
	return Fidelity{MayLackValue: m.lacksValue, MayBeUnordered: m.isUnordered, MayBeAbsent: m.isAbsent, MayBeUnavailable: m.isUnavailable}
}

type mpich struct{ ch4, debugger bool }

// What was asked for, in what keys say it.
var (
	asked   = []string{"desired_local_rank", "desired_global_rank", "desired_tag", "tag_wild"}
	buffers = []string{"buffer", "system_buffer", "count", "datatype", "desired_length"}
	actual  = []string{"actual_local_rank", "actual_global_rank", "actual_tag", "actual_length"}
)

// toOtherWorld tells an operation that ch4 leaves to its network library: on one
// machine, those between MPI_COMM_WORLD and processes that it has spawned.
func (m mpich) toOtherWorld(comm, op Object) bool {
	return m.ch4 && op["desired_global_rank"] == nil && !isSelf(comm)
}

func isSelf(comm Object) bool { return show(comm["size"]) == "1" && comm["remote_group"] == nil }

func (m mpich) lacksValue(comm Object, queue, key string, want, got Object) bool {
	switch queue {
	case "pending_sends":
		return m.lacksInSend(comm, key, want, got)
	case "pending_receives":
		return got[key] == nil && m.lacksInReceive(comm, key, want)
	}
	return false
}

func (m mpich) lacksInSend(comm Object, key string, want, got Object) bool {
	if buffered(want) && got["kind"] == "bsend" {
		// The library's own send of what it has packed, while the program's is complete.
		isUnkept := m.ch4 && !m.debugger && got[key] == nil
		return isUnkept || slices.Contains([]string{"status", "kind", "count", "datatype", "buffer", "system_buffer"}, key)
	}
	switch {
	case got[key] != nil || !m.ch4 || persistent(want):
		return false
	case !m.debugger:
		return key != "status"
	case m.toOtherWorld(comm, want) && (slices.Contains(buffers, key) || key == "actual_length"):
		return true
	case key == "kind":
		return true
	case blocking(want):
		// Debugger support of 4.0 notes the sends that don't block.
		return slices.Contains(asked, key) || slices.Contains(actual, key)
	}
	return false
}

func (m mpich) lacksInReceive(comm Object, key string, want Object) bool {
	if want["cancelled"] == true || persistent(want) {
		return false
	}
	if m.toOtherWorld(comm, want) {
		return key != "status"
	}
	if want["status"] == "pending" {
		// Whether a receive from oneself named its source.
		return m.ch4 && slices.Contains(asked[:2], key) && isSelf(comm)
	}
	if slices.Contains(asked, key) {
		return true
	}
	return m.ch4 && want["status"] == "complete" && slices.Contains(buffers, key)
}

// isUnordered: matched receives have no place in the order of matching any more.
func (m mpich) isUnordered(comm Object, queue string, op Object) bool {
	switch queue {
	case "pending_sends":
		return !m.debugger || buffered(op) || op["kind"] == "bsend" || persistent(op) || blocking(op) || m.toOtherWorld(comm, op)
	case "pending_receives":
		return op["status"] != "pending" || m.toOtherWorld(comm, op)
	}
	return m.toOtherWorld(comm, op)
}

// isAbsent: a buffered send that was eager leaves nothing; the network library's
// messages are inside that, and of its sends the communicator is not known.
func (m mpich) isAbsent(comm Object, queue string, want Object) bool {
	switch queue {
	case "pending_sends":
		return buffered(want) || m.toOtherWorld(comm, want) && !m.debugger
	case "unexpected_messages":
		return m.toOtherWorld(comm, want)
	}
	return false
}

// isUnavailable: of sends that the network library has, the communicator is not known.
func (m mpich) isUnavailable(queue, reason string) bool {
	return m.ch4 && !m.debugger && queue == "pending_sends" && strings.Contains(reason, "network library")
}

func blocking(op Object) bool { return op["kind"] == "send" || op["kind"] == "ssend" }

func buffered(op Object) bool { return op["kind"] == "ibsend" }

// persistent tells a persistent operation by its name in an account or as it is shown.
func persistent(op Object) bool {
	kind, _ := op["kind"].(string)
	return strings.HasPrefix(kind, "persistent_") || strings.HasSuffix(kind, "_init")
}

// orTakenBack is a rule on what may be absent, and another: MPI_Request_get_status of 4.2 and newer, by which accounts know
// what is complete, leaves a persistent request inactive.
func orTakenBack(mayBeAbsent func(comm Object, queue string, want Object) bool) func(comm Object, queue string, want Object) bool {
	return func(comm Object, queue string, want Object) bool {
		return want["status"] == "complete" && persistent(want) || mayBeAbsent(comm, queue, want)
	}
}

// orUnmarked is a rule on what is not kept, and another: from 4.3 on, eager sends through shared memory are not marked as
// such, and from 5.0 on none are, so that where their data is is not known.
func orUnmarked(lacks func(comm Object, queue, key string, want, got Object) bool) func(comm Object, queue, key string, want, got Object) bool {
	return func(comm Object, queue, key string, want, got Object) bool {
		isPlace := slices.Contains(buffers, key) || key == "actual_length" || key == "kind"
		return queue == "pending_sends" && isPlace && got[key] == nil && !persistent(want) || lacks(comm, queue, key, want, got)
	}
}
