package expect

import (
	"maps"
	"slices"
)

// Fidelity says what a library keeps of what a program has done. Its zero value stands for everything.
type Fidelity struct {
	// MayLackValue says whether a value may differ from what is wanted since the library does not keep
	// it; mostly it is unknown then. The value is that of an operation on a communicator. If queue is
	// empty, it is the communicator's own, or the process's if comm is nil, too.
	MayLackValue func(comm Object, queue, key string, want, got Object) bool
	// MayBeUnordered says whether the library keeps no order of an operation.
	MayBeUnordered func(comm Object, queue string, op Object) bool
	// MayBeUnavailable says whether a queue may be unavailable for this reason.
	MayBeUnavailable func(queue, reason string) bool
	// MayBeAbsent says whether an operation may be absent.
	MayBeAbsent func(comm Object, queue string, want Object) bool
	// OnlyWorldListed is true if, of the communicators without operations, only MPI_COMM_WORLD is shown.
	OnlyWorldListed bool
	// MayBeElsewhere says whether the sends on a communicator may be shown on another communicator.
	MayBeElsewhere func(comm Object) bool
}

// mayBeAbsent says whether an operation may be absent.
func (k Fidelity) mayBeAbsent(comm Object, queue string, want Object) bool {
	return want["optional"] == true || k.MayBeAbsent != nil && k.MayBeAbsent(comm, queue, want)
}

// mayBeUnlisted says whether a communicator may be absent.
func (k Fidelity) mayBeUnlisted(want Object) bool {
	if !k.OnlyWorldListed || want["name"] == "MPI_COMM_WORLD" {
		return false
	}
	for _, q := range Queues {
		ops, _ := Operations(want, q)
		if slices.ContainsFunc(ops, func(op Object) bool { return !k.mayBeAbsent(want, q, op) }) {
			return false
		}
	}
	return true
}

// withoutElsewhere removes from both sides the sends that may be shown on another communicator, if one
// communicator shows them as they are wanted.
func (d *differences) withoutElsewhere(want, got []Object) (_, _ []Object) {
	const queue = "pending_sends"
	if d.fidelity.MayBeElsewhere == nil {
		return want, got
	}
	want, got = slices.Clone(want), slices.Clone(got)
	for i, w := range want {
		sends, _ := Operations(w, queue)
		if !d.fidelity.MayBeElsewhere(w) || len(sends) == 0 {
			continue
		}
		best, missing, others := -1, sends, sends
		for k, g := range got {
			shown, _ := Operations(g, queue)
			if m, o := d.unmatched(w, queue, sends, shown); len(m) < len(missing) {
				best, missing, others = k, m, o
			}
		}
		if best < 0 {
			continue
		}
		want[i], got[best] = withOperations(w, queue, missing), withOperations(got[best], queue, others)
		if d.fidelity.OnlyWorldListed && d.idle(got[best]) && !predefined(got[best]) {
			got = slices.Delete(got, best, best+1)
		}
	}
	return want, got
}

// unmatched pairs operations that do not differ, and returns the others.
func (d *differences) unmatched(comm Object, queue string, want, got []Object) (missing, others []Object) {
	inner := d.inner()
	inner.comm = comm
	others = slices.Clone(got)
	for _, w := range want {
		at := slices.IndexFunc(others, func(g Object) bool { return len(inner.operation(queue, w, g).lines) == 0 })
		if at < 0 {
			missing = append(missing, w)
			continue
		}
		others = slices.Delete(others, at, at+1)
	}
	return missing, others
}

// withOperations returns the communicator with other operations in a queue.
func withOperations(comm Object, queue string, ops []Object) Object {
	comm = maps.Clone(comm)
	list := []any{}
	for _, op := range ops {
		list = append(list, op)
	}
	comm[queue] = list
	return comm
}

func (k Fidelity) mayLackValue(comm Object, queue, key string, want, got Object) bool {
	return k.MayLackValue != nil && k.MayLackValue(comm, queue, key, want, got)
}

func (k Fidelity) mayBeUnavailable(queue string, comm Object) bool {
	reasons, _ := comm["unavailable"].(map[string]any)
	reason, _ := reasons[queue].(string)
	return k.MayBeUnavailable != nil && k.MayBeUnavailable(queue, reason)
}

// split separates the operations that may be in any order from the others.
func (k Fidelity) split(comm Object, queue string, ops []Object) (ordered, unordered []Object) {
	if k.MayBeUnordered == nil {
		return ops, nil
	}
	for _, op := range ops {
		if k.MayBeUnordered(comm, queue, op) {
			unordered = append(unordered, op)
		} else {
			ordered = append(ordered, op)
		}
	}
	return ordered, unordered
}

// unordered compares operations that may be in any order. Each is compared with the one that fits it
// best.
func (outer *differences) unordered(queue string, want, got []Object) differences {
	d := outer.inner()
	left := slices.Clone(got)
	var order []int // those that must be there first: others may look like them
	for _, mayMiss := range []bool{false, true} {
		for i, w := range want {
			if d.fidelity.mayBeAbsent(d.comm, queue, w) == mayMiss {
				order = append(order, i)
			}
		}
	}
	for _, i := range order {
		w := want[i]
		best, fit := -1, d.inner()
		for k, g := range left {
			if inner := d.operation(queue, w, g); best < 0 || inner.closer(fit) {
				best, fit = k, inner
			}
		}
		mayMiss := d.fidelity.mayBeAbsent(d.comm, queue, w)
		if best < 0 || mayMiss && len(fit.lines) > 0 {
			if !mayMiss {
				d.addf("[%d] is missing: %s", i, show(w))
			}
			continue
		}
		d.within("["+show(i)+"]", fit)
		left = slices.Delete(left, best, best+1)
	}
	for _, g := range left {
		d.addf("should not be there: %s", show(g))
	}
	return d
}

// Values returns the differences between the values of some keys.
func Values(want, got Object, keys ...string) []string {
	var d differences
	for _, key := range keys {
		d.value(key, want[key], got[key])
	}
	return d.lines
}
