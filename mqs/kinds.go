package mqs

// The kinds of partitioned operations, which match each other and no other messages.
const (
	KindPartitionedSend = "psend_init"
	KindPartitionedRecv = "precv_init"
)

// IsPartitioned says whether all partitions of a message are one operation.
func (op *PendingOperation) IsPartitioned() bool {
	return op.Kind == KindPartitionedSend || op.Kind == KindPartitionedRecv
}
