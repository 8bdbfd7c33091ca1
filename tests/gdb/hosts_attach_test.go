//go:build live

package gdb

import (
	"fmt"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

func TestTry(t *testing.T) {
	s := work.Spread(t, live.OverAgent, "deadlock", "send-ring", 3)
	t.Log(s.GDB(t, fmt.Sprintf("mpi-attach %d", s.Launcher), "info inferiors", "mpi-ranks", "mpi-queues", "mpi-deadlock -all", "mpi-detach", "info inferiors", "info connections", "show sysroot", "show remotetimeout", "maint show target-non-stop").All())
	s.Via = ""
	t.Log(s.Says(t, fmt.Sprintf("report %d", s.Launcher)))
	s.NothingIsLeft(t)
}
