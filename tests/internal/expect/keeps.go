package expect

import (
	"maps"
	"slices"
)

// Keeps is what a library keeps of what a program has done: everything, where
// it says nothing else.
type Keeps struct {
	// Lost says whether a value of an operation on a communicator may be other
	// than wanted, mostly unknown, since the library does not keep it. If queue is
	// empty, the value is the communicator's own, or the process's if comm is nil.
	Lost func(comm Object, queue, key string, want, got Object) bool
	// Loose says whether the library keeps no order of an operation.
	Loose func(comm Object, queue string, op Object) bool
	// Mute says whether a queue may be unknown for the reason given.
	Mute func(queue, reason string) bool
	// Gone says whether an operation may be absent.
	Gone func(comm Object, queue string, want Object) bool
	// Unlisted says that no communicator but MPI_COMM_WORLD is shown without operations.
	Unlisted bool
	// Strays says whether the sends on a communicator may be shown on another one.
	Strays func(comm Object) bool
}

// misses says whether an operation may be absent.
func (k Keeps) misses(comm Object, queue string, want Object) bool {
	return want["optional"] == true || k.Gone != nil && k.Gone(comm, queue, want)
}

// unlisted says whether a communicator may be absent.
func (k Keeps) unlisted(want Object) bool {
	if !k.Unlisted || want["name"] == "MPI_COMM_WORLD" {
		return false
	}
	for _, q := range Queues {
		ops, _ := Operations(want, q)
		if slices.ContainsFunc(ops, func(op Object) bool { return !k.misses(want, q, op) }) {
			return false
		}
	}
	return true
}

// gather takes the sends that may have strayed out of both sides, where one
// communicator shows them as they are wanted.
func (d *differences) gather(want, got []Object) (_, _ []Object) {
	const queue = "pending_sends"
	if d.keeps.Strays == nil {
		return want, got
	}
	want, got = slices.Clone(want), slices.Clone(got)
	for i, w := range want {
		sends, _ := Operations(w, queue)
		if !d.keeps.Strays(w) || len(sends) == 0 {
			continue
		}
		best, missing, others := -1, sends, sends
		for k, g := range got {
			shown, _ := Operations(g, queue)
			if m, o := d.without(w, queue, sends, shown); len(m) < len(missing) {
				best, missing, others = k, m, o
			}
		}
		if best < 0 {
			continue
		}
		want[i], got[best] = with(w, queue, missing), with(got[best], queue, others)
		if d.keeps.Unlisted && d.idle(got[best]) && !predefined(got[best]) {
			got = slices.Delete(got, best, best+1)
		}
	}
	return want, got
}

// without pairs operations that do not differ, and returns the others.
func (d *differences) without(comm Object, queue string, want, got []Object) (missing, others []Object) {
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

// with is a communicator with other operations in a queue.
func with(comm Object, queue string, ops []Object) Object {
	comm = maps.Clone(comm)
	list := []any{}
	for _, op := range ops {
		list = append(list, op)
	}
	comm[queue] = list
	return comm
}

func (k Keeps) loses(comm Object, queue, key string, want, got Object) bool {
	return k.Lost != nil && k.Lost(comm, queue, key, want, got)
}

func (k Keeps) muted(queue string, comm Object) bool {
	reasons, _ := comm["unavailable"].(map[string]any)
	reason, _ := reasons[queue].(string)
	return k.Mute != nil && k.Mute(queue, reason)
}

// split takes operations that stand in no order from the others.
func (k Keeps) split(comm Object, queue string, ops []Object) (ordered, loose []Object) {
	if k.Loose == nil {
		return ops, nil
	}
	for _, op := range ops {
		if k.Loose(comm, queue, op) {
			loose = append(loose, op)
		} else {
			ordered = append(ordered, op)
		}
	}
	return ordered, loose
}

// set compares operations that stand in no order: each takes what fits it best.
func (outer *differences) set(queue string, want, got []Object) differences {
	d := outer.inner()
	left := slices.Clone(got)
	for i, w := range want {
		best, fit := -1, d.inner()
		for k, g := range left {
			if inner := d.operation(queue, w, g); best < 0 || inner.closer(fit) {
				best, fit = k, inner
			}
		}
		mayMiss := d.keeps.misses(d.comm, queue, w)
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

// Values says how the values of some keys differ.
func Values(want, got Object, keys ...string) []string {
	var d differences
	for _, key := range keys {
		d.value(key, want[key], got[key])
	}
	return d.lines
}
