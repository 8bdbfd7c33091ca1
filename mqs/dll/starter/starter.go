// Package starter reads from the program that started a rank where the queue DLL of the rank's MPI is.
// The draft of the interface has it there, and some starters name it when the ranks do not.
package starter

import "github.com/mpi-queues/mpi-queues/mqs/dll/locate"

// Starter is an ancestor of a rank that names a DLL, or asks that queues not be shown.
type Starter struct {
	PID   int
	Found locate.Found
}
