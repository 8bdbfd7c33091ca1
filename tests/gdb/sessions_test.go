//go:build live

package gdb

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// isOld says whether the Open MPI is of before 5.0, which has no sessions and can't go on after a failure.
func isOld(t *testing.T) bool {
	t.Helper()
	return strings.HasPrefix(release(t), "Open MPI 4.")
}

// Without MPI_COMM_WORLD ranks are those of the process set mpi://WORLD, of which only the launcher tells the
// size.
func TestSessions(t *testing.T) {
	t.Parallel()
	if isOld(t) {
		return
	}
	p := live.SessionProgram
	job := work.Start(t, p.Source, p.Ranks, nil)
	for _, account := range job.Accounts {
		core := filepath.Join(t.TempDir(), "core")
		for _, where := range job.Ways(account, core, live.Remote(account.PID)) {
			t.Run(account.Name+" "+where.Name, func(t *testing.T) {
				isLive := where.Name == "live"
				kept := expect.Fidelity{MayLackValue: func(_ expect.Object, _, key string, _, _ expect.Object) bool { return !isLive && key == "world_size" }}
				work.ReadOf(t, job, where, func(process expect.Object) []string { return kept.Compare(account, process) })
				every := 1
				if where.Name == "remote" {
					every = 4 // a command takes seconds
				}
				work.CompareHandles(t, p, job, account, where, every, work.MPI.Library(t).MayLack)
				work.GDB(t, where, "print $mpi_rank()").Contains(t, fmt.Sprintf("$1 = %v\n", account.GlobalRank))
				if isLive {
					work.GDB(t, where, "print $mpi_size()").Contains(t, "$1 = 3\n")
				}
			})
		}
	}
}

// Of a job that goes on without a process, the communicators say who has failed, and which of them are revoked.
func TestFailed(t *testing.T) {
	t.Parallel()
	if isOld(t) {
		return
	}
	p := live.FailedProgram
	job := work.Start(t, p.Source, p.Ranks, nil)
	for _, account := range p.Survivors(job) {
		for _, where := range job.Ways(account, filepath.Join(t.TempDir(), "core"), live.Remote(account.PID)) {
			t.Run(account.Name+" "+where.Name, func(t *testing.T) {
				work.CompareHandles(t, p, job, account, where, 1, work.MPI.Library(t).MayLack)
			})
		}
	}
	work.GDB(t, live.Process(job.Accounts[0].PID), "mpi-queues", "mpi-comms").Contains(t,
		"MPI_COMM_WORLD (rank 3 failed)", "given up (revoked)", "intra, rank 0 failed", "intra, revoked")
}
