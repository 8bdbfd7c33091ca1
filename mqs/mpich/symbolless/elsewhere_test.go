package symbolless

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/ch4"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// linked is a process that has libraries.
type linked struct {
	inferior.Inferior
	libraries []string
}

func (l linked) Info() inferior.Info {
	i := l.Inferior.Info()
	i.Libraries = l.libraries
	return i
}

// A queue of which more may be elsewhere is not shown as if it were whole.
func TestMayBeMore(t *testing.T) {
	sends, messages := errors.New("sends"), errors.New("messages")
	s := holding(ch4.Network{SendsErr: sends, UnexpectedErr: messages})
	s.r = inferior.NewReader(context.Background(), linked{inferiortest.New(), nil})
	world := s.model(worldContext)
	for class, want := range map[mqs.OpClass]error{mqs.PendingSends: sends, mqs.PendingReceives: nil, mqs.UnexpectedMessages: messages} {
		var last error
		for _, last = range s.Operations(&world, class) {
		}
		if !errors.Is(last, want) {
			t.Errorf("%s end with %v, want %v", class.Words(), last, want)
		}
	}
}

// A library that may have a way of its own for messages never shows a queue as if it were whole: an empty one is not
// available, and what is there is not all.
func TestElsewhere(t *testing.T) {
	for library, isWhole := range map[string]bool{
		"/usr/lib/libhwloc.so.15": true, "/opt/lib/mpich/libfabric.so.1": false, "libfabric.so": false, "/opt/libfabric/libucp.so.0": true,
	} {
		s := holding(ch4.Network{Unexpected: []transport.Message{{Tag: tagOf(0, 0, 5)}}})
		s.r = inferior.NewReader(context.Background(), linked{inferiortest.New(), []string{"/opt/lib/libmpi.so.12", library}})
		world := s.model(worldContext)
		for _, class := range []mqs.OpClass{mqs.PendingSends, mqs.PendingReceives, mqs.UnexpectedMessages} {
			var last error
			for _, err := range s.Operations(&world, class) {
				if last != nil {
					t.Errorf("%s: %s go on after %v", library, class.Words(), last)
				}
				last = err
			}
			if isWhole == errors.Is(last, errElsewhere) {
				t.Errorf("%s: %s end with %v", library, class.Words(), last)
			}
		}
		if says := strings.Contains(strings.Join(s.Notes(), "\n"), "MPIR_CVAR_NOLOCAL=1"); says == isWhole {
			t.Errorf("%s: the notes are %q", library, s.Notes())
		}
	}
}
