package ompi

import (
	"errors"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// The numbers of collectives count from the first tag down to the last one.
func TestNonBlockingNumber(t *testing.T) {
	const first = -27
	p := &Process{firstNonBlocking: mqs.Known[int32](first)}
	for tag, want := range map[int32]mqs.Maybe[int64]{
		first + 1: {}, first: mqs.Known[int64](1), first - 1: mqs.Known[int64](2), lastNonBlockingTag: mqs.Known(int64(first) - lastNonBlockingTag + 1), lastNonBlockingTag - 1: {},
	} {
		if got := p.nonBlockingNumber(tag); got != want {
			t.Errorf("%d is %v, want %v", tag, got, want)
		}
		if got := (&Process{}).nonBlockingNumber(tag); got.Known {
			t.Errorf("%d is %v, and the first one is not known", tag, got)
		}
	}
}

// A handle is a collective's own if it stands among those of its messages.
func TestIsInParts(t *testing.T) {
	p := &Process{collectiveParts: []inferior.Range{{Addr: 0x2000, Len: 16}, {Addr: 0x1000, Len: 8}}}
	for at, want := range map[inferior.Addr]bool{0xff8: false, 0x1000: true, 0x1007: true, 0x1008: false, 0x2000: true, 0x200f: true, 0x2010: false} {
		if got := p.isInParts(at); got != want {
			t.Errorf("%s: %t", at, got)
		}
	}
}

// The tags of collectives' messages lie in three ranges, none of which has a program's.
func TestRangesOfTags(t *testing.T) {
	for tag, want := range map[int32][3]bool{ // internal, of a blocking collective, of a non-blocking one
		0: {}, 7: {}, AnyTag: {}, firstCollectiveTag + 1: {true}, firstCollectiveTag: {true, true}, lastCollectiveTag: {true, true}, lastCollectiveTag - 1: {true, false, true},
		firstNeighbourTag + 1: {true, false, true}, firstNeighbourTag: {true, true}, lastNeighbourTag: {true, true}, lastNeighbourTag - 1: {true},
	} {
		if got := [3]bool{IsInternal(tag), isOfCollective(tag), IsOfNonBlocking(tag)}; got != want {
			t.Errorf("%d: %t, want %t", tag, got, want)
		}
	}
}

// What can't be a number of ranks is not known.
func TestCountOf(t *testing.T) {
	for n, want := range map[int64]mqs.Maybe[int32]{-1: {}, 0: mqs.Known[int32](0), 1: mqs.Known[int32](1), MaxGroup: mqs.Known[int32](MaxGroup), MaxGroup + 1: {}} {
		if got := countOf(n, nil); got != want {
			t.Errorf("%d is %v", n, got)
		}
		if got := countOf(n, errors.New("no memory")); got.Known {
			t.Errorf("%d, which can't be read, is %v", n, got)
		}
	}
}
