package expect

import "slices"

// Keeps is what a library keeps of what a program has done: everything, where
// it says nothing else.
type Keeps struct {
	// Lost says whether a value of an operation on a communicator may be other
	// than wanted, mostly unknown, since the library does not keep it.
	Lost func(comm Object, queue, key string, want, got Object) bool
	// Loose says whether the library keeps no order of an operation.
	Loose func(comm Object, queue string, op Object) bool
	// Mute says whether a queue may be unknown for the reason given.
	Mute func(queue, reason string) bool
	// Bare says that of a communicator that has been freed only its queues are kept.
	Bare bool
	// Gone says whether an operation may be absent.
	Gone func(comm Object, queue string, want Object) bool
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
		mayMiss := w["optional"] == true || d.keeps.Gone != nil && d.keeps.Gone(d.comm, queue, w)
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
