package mpich

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// The debugger's note of a send that is over says nothing of the one that has its place.
func TestForeignNote(t *testing.T) {
	const at, note = 0x1000, 0x2000
	for _, c := range []struct {
		what   string
		points bool // the library's requests have a member for it
		own    request
		want   bool
	}{
		{"its own", true, request{Kind: kindSend, SendNote: note}, true},
		{"one that is left", true, request{Kind: kindSend}, false},
		{"beside its own", true, request{Kind: kindSend, SendNote: note + 64}, false},
		{"of a persistent request", true, request{Kind: kindPersistentSend}, true},
		{"without the member", false, request{Kind: kindSend}, true},
	} {
		s := &source{noted: map[inferior.Addr]*envelope{at: {at: note, tag: 7}}, pointsAtNotes: c.points}
		if got := s.noteOf(at, &c.own); (got != nil) != c.want {
			t.Errorf("%s: %+v", c.what, got)
		}
	}
}
