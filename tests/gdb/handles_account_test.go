//go:build live

package gdb

import (
	"path/filepath"
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
						work.CompareHandles(t, p, job, account, where, every, live.NothingUnknown)
					})
				}
			}
		})
	}
}
