package mqs

import "fmt"

// Remarks that stand in the ExtraText of operations, whichever MPI they are of.
const (
	// Rendezvous is said of an unexpected message whose sender waits until a receive matches it.
	Rendezvous = "rendezvous"
	// Eager is said of an unexpected message whose sender does not wait for a receive.
	Eager = "eager"
	// TakenByProbe is said of a message that MPI_Mprobe has taken out of the queue.
	TakenByProbe = "taken by MPI_Mprobe, not received yet"
	// DataInBuffer is said of a buffered send that is complete for MPI, while its data is still here.
	DataInBuffer = "the data waits in the buffer"
	// Cancelled is said of an operation that the program has cancelled.
	Cancelled = "cancelled"
	// Freed is said of an operation whose request the program has freed.
	Freed = "freed: nobody will collect it"
	// Unsent is said of a send of which something is yet to leave the process: the library lacked resources for it.
	Unsent = "not all of it has been sent: the library waits for resources"
	// PartitionsMissing, LastPartition and PartitionsSent are said of a partitioned send that is started: how far it has come.
	PartitionsMissing = "not all partitions are ready"
	LastPartition     = "one partition is not ready, or the receiver has yet to start"
	PartitionsSent    = "all partitions are ready, and on their way"
	// NonBlockingCollective is said of a message by which the library carries out a non-blocking
	// collective: the program's own, or one that a call of the program's makes inside.
	NonBlockingCollective = "of a non-blocking collective"
)

// NumberOnCommunicator is said of the request of a collective, by its number as in [CollectiveRequest].
func NumberOnCommunicator(number int64) string {
	return fmt.Sprintf("number %d on its communicator", number)
}

// SetActual says that what was desired of an operation is what is: of a send, and of a message that no
// receive has matched, which is what its sender has written on it.
func (op *PendingOperation) SetActual() {
	op.ActualLocalRank, op.ActualGlobalRank = op.DesiredLocalRank, op.DesiredGlobalRank
	op.ActualTag, op.ActualLength = op.DesiredTag, op.DesiredLength
}
