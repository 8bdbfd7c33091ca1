package ob1

import (
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// symModule is ob1's own object, mca_pml_ob1_t.
const symModule = "mca_pml_ob1"

// maxPackets bounds the packets that are counted.
const maxPackets = 1 << 16

// unsentPackets counts the packets of ob1's own, such as acknowledgements, for which it has had no resources. It tries
// them again when some of its other messages are through (mca_pml_ob1_process_pending_packets).
func (q *queues) unsentPackets() mqs.Maybe[int64] {
	var unknown mqs.Maybe[int64]
	root, ok := q.Symbols[symModule]
	if !ok || !q.Module.Bound() {
		return unknown
	}
	m, err := q.Module.Read(q.R, inferior.Ptr[module](root.Addr))
	if err != nil || q.ProveList(m.PacketsPending.Ptr()) != nil {
		return unknown
	}
	l, err := q.List.Read(q.R, m.PacketsPending.Ptr())
	if err != nil {
		return unknown
	}
	var count int64
	for _, err := range inferior.Walk(l.First, l.Sentinel.Ptr(), maxPackets, q.NextItem) {
		if err != nil {
			return unknown
		}
		count++
	}
	return mqs.Known(count)
}

// isUnsent tells a send of which something is yet to leave the process: mca_pml_ob1_send_pending_t says that it is in the
// list of those that are to begin, or to go on, when there are resources. It is 0, MCA_PML_OB1_SEND_PENDING_NONE, of others.
func isUnsent(s sendRequest) bool { return s.SendPending > 0 && s.SendPending <= startPending }

// startPending is MCA_PML_OB1_SEND_PENDING_START, the highest one (ompi/mca/pml/ob1/pml_ob1_sendreq.h, 4.0 to 6.0).
const startPending = 2

// Symbols are the component's roots besides those of all of Open MPI.
var Symbols = []string{symModule}
