//go:build live

package gdb

import "testing"

// gdb starts a job: its ranks stop in constructors and in main, step, are read, and end.
func TestStartedJobs(t *testing.T) { work.StartedJobs(t) }
