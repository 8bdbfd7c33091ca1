// Package starter reads, out of the program that started a rank, where the
// library is that knows the rank's message queues: the draft of the interface
// has it there, and some starters know it where the ranks do not.
package starter

import "github.com/mpi-queues/mpi-queues/mqs/dll/locate"

// Starter is a process above a rank that says something.
type Starter struct {
	PID   int
	Found locate.Found
}
