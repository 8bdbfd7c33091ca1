//go:build !verdicts

package main

import "github.com/mpi-queues/mpi-queues/mqs/liveness"

// watchJob samples a job until there is a report on it.
var watchJob = liveness.Watch
