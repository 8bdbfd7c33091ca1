//go:build live

package gdb

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// A breakpoint's condition may have the rank: of all ranks that come by, one stops.
func TestConditionOfRank(t *testing.T) {
	t.Parallel()
	job := work.Start(t, "tests/gdb/testdata/steps.c", 4, nil)
	s := work.StartSession(t, live.Process(job.Accounts[0].PID))
	s.Says("mpi-attach", "Attached 3 ranks")
	s.Do("set schedule-multiple on")
	for _, rank := range []int{3, 1} {
		s.Do(fmt.Sprintf("tbreak step if $mpi_rank() == %d", rank))
		if out := s.Do("continue"); !strings.Contains(out, "step (number=") {
			t.Errorf("nothing stops:\n%s", out)
		}
		s.Says("print $mpi_rank() * 10 + $mpi_size()", fmt.Sprintf("= %d4", rank))
	}
	s.Do("mpi-detach")
}
