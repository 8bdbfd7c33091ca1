//go:build live

package gdb

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// What is said of a handle is what the program says of it, in C and in Fortran, of a process and of a core.
func TestHandlesOfPrograms(t *testing.T) {
	t.Parallel()
	for _, p := range live.HandlePrograms {
		t.Run(filepath.Base(p.Source), func(t *testing.T) {
			t.Parallel()
			job := work.Start(t, p.Source, p.Ranks, nil)
			for _, account := range job.Accounts {
				core := filepath.Join(t.TempDir(), "core")
				for _, where := range job.Ways(account, core, live.Remote(account.PID)) {
					every := 1
					if where.Name == "remote" {
						every = 9 // a command takes seconds
					}
					t.Run(account.Name+" "+where.Name, func(t *testing.T) {
						work.CompareHandles(t, p, job, account, where, every, work.MPI.Library(t).MayLack)
					})
				}
			}
		})
	}
}

// The handles in sight cost no more round trips than the costliest of them, in one request.
func TestCostOfVariables(t *testing.T) {
	t.Parallel()
	p := live.HandlePrograms[0]
	job := work.Start(t, p.Source, p.Ranks, nil)
	costs := func(commands ...string) (roundTrips []int) {
		commands = append([]string{"set mpi-queues debug on", "frame function " + p.Function}, commands...)
		out := work.GDB(t, live.Process(job.Accounts[0].PID), commands...)
		for _, said := range strings.SplitAfter(out.All(), "mpi-queues: ") {
			var c cost
			if _, err := fmt.Sscanf(said, "%d round trips, %d bytes read", &c.roundTrips, &c.bytes); err == nil {
				roundTrips = append(roundTrips, c.roundTrips)
			}
		}
		return roundTrips
	}
	each := costs("mpi-handle halo", "mpi-handle nested", "mpi-handle locked", "mpi-handle file", "mpi-handle persistent")
	all := costs("mpi-handle halo", "info locals", "print halo", "info locals")
	if len(each) != 5 || len(all) != 2 || all[1] > slices.Max(each) {
		t.Errorf("handles one by one cost %v round trips, one and then all of them %v", each, all)
	}
}
