package waitfor

import (
	"maps"
	"slices"
	"testing"
)

// Messages are found by the envelopes of all receives that match them, and counted with their lengths as far as these
// are known.
func TestMessages(t *testing.T) {
	at := func(source, tag int32) envelope { return envelope{channel: 3, dest: 1, source: source, tag: tag} }
	m := newMessages()
	m.add(sizedEnvelope{at(0, 7), 8})
	m.add(sizedEnvelope{at(0, 7), 8})
	m.add(sizedEnvelope{at(0, 7), -1})
	m.add(sizedEnvelope{at(2, 7), 9})
	for e, want := range map[envelope]bool{at(0, 7): true, at(wild, 7): true, at(0, anyTag): true, at(wild, anyTag): true, at(0, 8): false, at(2, 7): true, at(1, 7): false, at(1, anyTag): false, at(wild, 8): false} {
		if got := m.match(e); got != want {
			t.Errorf("%+v: %t", e, got)
		}
	}
	for length, want := range map[int64]int32{8: 3, 9: 1, -1: 3, 0: 1} {
		if got := m.countAlike(sizedEnvelope{at(0, 7), length}); got != want {
			t.Errorf("of %d bytes: %d, want %d", length, got, want)
		}
	}
	posted := postedReceives{at(0, 7): 1, at(wild, 8): 1, at(2, anyTag): 1}
	for e, want := range map[envelope]bool{at(0, 7): true, at(1, 7): false, at(0, 8): true, at(1, 8): true, at(2, 9): true, at(1, 9): false} {
		if got := posted.match(e); got != want {
			t.Errorf("%+v is posted: %t", e, got)
		}
	}
	if (postedReceives{at(wild, anyTag): 1}).match(at(1, 9)) == false || (postedReceives{}).match(at(1, 9)) {
		t.Error("a receive of anything matches all, and none matches nothing")
	}
}

// Each side of a communicator, and each of the program's and the library's messages on it, has a channel of its own.
func TestChannels(t *testing.T) {
	seen := map[int32]bool{}
	for id := range int32(3) {
		for side := range 2 {
			for _, internal := range []bool{false, true} {
				seen[(&communicator{id: id}).channel(side, internal)] = true
			}
		}
	}
	if len(seen) != 12 || slices.Min(slices.Collect(maps.Keys(seen))) != 0 || slices.Max(slices.Collect(maps.Keys(seen))) != 11 {
		t.Errorf("%v", seen)
	}
}
