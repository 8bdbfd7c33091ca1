package symbolless

import (
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/ch4"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// A note says what is missing, and others what the network library does not have.
func TestNotes(t *testing.T) {
	const lost, offload, contexts = "1 sends that the receiver has answered", "a network card", "communicators by their context ids"
	for name, c := range map[string]struct {
		network    ch4.Network
		hasObjects bool
		want       []string
	}{
		"with MPICH's objects": {ch4.Network{}, true, nil},
		"without":              {ch4.Network{}, false, []string{contexts}},
		"with a lost send":     {ch4.Network{Sends: []transport.Send{{TagLost: true}}}, false, []string{contexts, lost}},
		"with a network card":  {ch4.Network{Offload: "a network card"}, true, []string{offload}},
	} {
		s := holding(c.network)
		s.lib.Root = inferior.Symbol{Object: "/opt/libmpich.so.12"}
		if c.hasObjects {
			s.objects = &objects{}
		}
		notes := s.Notes()
		if !strings.HasPrefix(notes[0], "libmpich.so.12 is stripped, so this is what a network beneath it has: ") {
			t.Errorf("%s: %q", name, notes[0])
		}
		for _, text := range []string{lost, offload, contexts} {
			isWanted := false
			for _, w := range c.want {
				isWanted = isWanted || w == text
			}
			if strings.Contains(strings.Join(notes, "\n"), text) != isWanted {
				t.Errorf("%s: %q", name, notes)
			}
		}
	}
}
