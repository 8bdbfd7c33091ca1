//go:build live

package gdb

import "testing"

// gdb starts a job: its ranks stop in constructors and in main, step, are read, and end.
func TestStartedJobs(t *testing.T) { work.StartedJobs(t) }

// Ranks that a job's ranks spawn become inferiors, too.
func TestSpawnedRanks(t *testing.T) {
	t.Parallel()
	work.SpawnedRanks(t, true)
}
