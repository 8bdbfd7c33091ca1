//go:build live

package gdb

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// cost is what a command says of itself with `set mpi-queues debug on'.
type cost struct{ roundTrips, bytes int }

// Round trips do not grow with the operations that are pending, only with the bytes that
// are read, and these with nothing but the operations.
func TestCost(t *testing.T) {
	t.Parallel()
	const (
		roundTrips    = 40
		bytesPerTrip  = 256 << 10
		bytesPerEntry = 1200    // a request of Open MPI's, with what lies between two of them
		bytesOfAll    = 3 << 20 // some blocks of each size, largely of what lies beside what is asked for
	)
	for _, n := range []int{10, 1000, 20_000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			job := work.Start(t, "many", 2, nil, strconv.Itoa(n))
			out := work.GDB(t, live.Process(job.Accounts[0].PID), "set mpi-queues debug on", "mpi-queues -limit unlimited -output /dev/null")
			var c cost
			for line := range strings.Lines(out.All()) {
				if _, err := fmt.Sscanf(line, "mpi-queues: %d round trips, %d bytes read", &c.roundTrips, &c.bytes); err == nil {
					break
				}
			}
			t.Logf("%d round trips, %d bytes", c.roundTrips, c.bytes)
			if most := roundTrips + c.bytes/bytesPerTrip; c.roundTrips == 0 || c.roundTrips > most {
				t.Errorf("%d round trips, the bound is %d:\n%.2000s", c.roundTrips, most, out.All())
			}
			if most := bytesOfAll + n*bytesPerEntry; c.bytes > most {
				t.Errorf("%d bytes read, the bound is %d", c.bytes, most)
			}
		})
	}
}
