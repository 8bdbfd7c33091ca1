package compare

import (
	"slices"
	"sort"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// match pairs two lists of things that have no common name: for each of a the
// place of the same one in b, or -1. rest are the places of b that are left over.
//
// Each level is a part of the things' keys. Those of which the part is the same
// are paired, the first of a with the first of b; the next level goes on with
// what is left. A part that says too little is not ok.
func match[K comparable](a, b []K, levels ...func(K) (part K, ok bool)) (pairs, rest []int) {
	pairs = slices.Repeat([]int{-1}, len(a))
	rest = make([]int, len(b))
	for k := range rest {
		rest[k] = k
	}
	taken := make([]bool, len(b))
	for _, level := range levels {
		left := map[K][]int{}
		for _, k := range rest {
			if part, ok := level(b[k]); ok {
				left[part] = append(left[part], k)
			}
		}
		if len(left) == 0 {
			continue
		}
		for i := range a {
			if pairs[i] >= 0 {
				continue
			}
			part, ok := level(a[i])
			if same := left[part]; ok && len(same) > 0 {
				pairs[i], taken[same[0]] = same[0], true
				left[part] = same[1:]
			}
		}
		rest = slices.DeleteFunc(rest, func(k int) bool { return taken[k] })
	}
	return pairs, rest
}

// commKey is what tells a communicator from others.
type commKey struct {
	id         mqs.Maybe[inferior.Addr]
	name       string
	size, rank mqs.Maybe[int32]
}

// matchCommunicators pairs communicators. Two views need not number them in the
// same way, so a name says more than an id; but names may be shared or missing.
func matchCommunicators(native, dll []*mqs.Queues) (pairs, rest []int) {
	keys := func(comms []*mqs.Queues) []commKey {
		out := make([]commKey, len(comms))
		for i, c := range comms {
			out[i] = commKey{mqs.Known(c.UniqueID), c.Name.Value, plain(c.Size), plain(c.LocalRank)}
		}
		return out
	}
	return match(keys(native), keys(dll),
		func(k commKey) (commKey, bool) { return commKey{id: k.id, name: k.name}, true },
		func(k commKey) (commKey, bool) {
			return commKey{name: k.name, size: k.size, rank: k.rank}, k.name != ""
		},
		func(k commKey) (commKey, bool) { return commKey{id: k.id}, true },
		func(k commKey) (commKey, bool) {
			return commKey{size: k.size, rank: k.rank}, k.name == "" && k.size.Known
		})
}

// operationKey is what tells an operation from others.
type operationKey struct {
	buffer mqs.Maybe[inferior.Addr]
	tag    mqs.Maybe[int32]
	wild   bool // any tag
	rank   mqs.Maybe[int32]
	length mqs.Maybe[int64]
	status mqs.Status
}

// matchOperations pairs the operations of a queue: those that are alike, else
// those of one buffer that have most in common, else those of one peer and tag,
// of one length first.
func matchOperations(native, dll []mqs.PendingOperation) (pairs, rest []int) {
	keys := func(ops []mqs.PendingOperation) []operationKey {
		out := make([]operationKey, len(ops))
		for i := range ops {
			op := &ops[i]
			out[i] = operationKey{plain(op.Buffer), plain(op.DesiredTag), plain(op.TagWild).Value,
				plain(op.DesiredLocalRank), plain(op.DesiredLength), op.Status}
		}
		return out
	}
	return match(keys(native), keys(dll),
		func(k operationKey) (operationKey, bool) { return k, true },
		func(k operationKey) (operationKey, bool) {
			return operationKey{buffer: k.buffer, tag: k.tag, wild: k.wild, rank: k.rank}, true
		},
		func(k operationKey) (operationKey, bool) {
			return operationKey{buffer: k.buffer, tag: k.tag, wild: k.wild}, k.tag.Known || k.wild
		},
		func(k operationKey) (operationKey, bool) {
			return operationKey{buffer: k.buffer}, k.buffer.Value != 0
		},
		func(k operationKey) (operationKey, bool) {
			return operationKey{tag: k.tag, wild: k.wild, rank: k.rank, length: k.length},
				(k.tag.Known || k.wild) && k.rank.Known && k.length.Known
		},
		func(k operationKey) (operationKey, bool) {
			return operationKey{tag: k.tag, wild: k.wild, rank: k.rank}, (k.tag.Known || k.wild) && k.rank.Known
		})
}

// plain makes all unknown values equal.
func plain[T any](m mqs.Maybe[T]) mqs.Maybe[T] {
	if !m.Known {
		return mqs.Maybe[T]{}
	}
	return m
}

// moved tells which of the pairs stand elsewhere in the order of the other view:
// the fewest without which the rest is in the same order.
func moved(pairs []int) []bool {
	out := make([]bool, len(pairs))
	before := make([]int, len(pairs)) // what comes before in the longest run that ends here
	var ends []int                    // of the runs of each length, the one that ends first in the other view
	for i, k := range pairs {
		if k < 0 {
			continue
		}
		out[i] = true
		n := sort.Search(len(ends), func(n int) bool { return pairs[ends[n]] >= k })
		before[i] = -1
		if n > 0 {
			before[i] = ends[n-1]
		}
		if n == len(ends) {
			ends = append(ends, i)
		} else {
			ends[n] = i
		}
	}
	if len(ends) > 0 {
		for i := ends[len(ends)-1]; i >= 0; i = before[i] {
			out[i] = false
		}
	}
	return out
}

// placesInOrder ranks the pairs by their place in the other view: where each
// native operation would stand among the paired ones there.
func placesInOrder(pairs []int) []int {
	paired := make([]int, 0, len(pairs))
	for _, k := range pairs {
		if k >= 0 {
			paired = append(paired, k)
		}
	}
	slices.Sort(paired)
	out := make([]int, len(pairs))
	for i, k := range pairs {
		out[i], _ = slices.BinarySearch(paired, k)
	}
	return out
}
