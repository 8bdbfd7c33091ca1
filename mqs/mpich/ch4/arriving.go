package ch4

import (
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// arrivalTypes are the shared memory through which the processes of a node send
// each other messages, of the module posix (4.0).
type arrivalTypes struct {
	Transports inferior.Struct[posixTransports] `c:"MPIDI_POSIX_eager_iqueue_global_t,optional"`
	Transport  inferior.Struct[posixTransport]  `c:"MPIDI_POSIX_eager_iqueue_transport_t,optional"`
	Terminal   inferior.Struct[posixTerminal]   `c:"MPIDU_genq_shmem_queue_u,optional"`
}

type posixTransports struct {
	First inferior.Embedded[posixTransport] `c:"transports"`
}

type posixTransport struct {
	Mine inferior.Ptr[posixTerminal] `c:"my_terminal"`
}

// posixTerminal is empty if both are 0.
type posixTerminal struct {
	Head inferior.Embedded[inferior.Addr] `c:"q.head"`
	Tail inferior.Embedded[inferior.Addr] `c:"q.tail"`
}

// Arriving says whether messages lie before the process that its library has
// not looked at yet. Of what comes from other nodes it knows nothing.
func (d *Device) Arriving() mqs.Maybe[bool] {
	at, ok := d.lib.Symbols[symTransports]
	if !ok || d.lib.Process.Nodes > 1 || !d.arrivals.Transports.Bound() || !d.arrivals.Transport.Bound() || !d.arrivals.Terminal.Bound() {
		return mqs.Maybe[bool]{}
	}
	all, err := d.arrivals.Transports.Read(d.lib.Reader, inferior.Ptr[posixTransports](at.Addr))
	if err != nil {
		return mqs.Maybe[bool]{}
	}
	t, err := d.arrivals.Transport.Read(d.lib.Reader, all.First.Ptr())
	if err != nil || t.Mine == 0 || d.arrivals.Transports.Size() != d.arrivals.Transport.Size() {
		return mqs.Maybe[bool]{} // with several virtual interfaces there are several
	}
	q, err := d.arrivals.Terminal.Read(d.lib.Reader, t.Mine)
	if err != nil {
		return mqs.Maybe[bool]{}
	}
	return d.lib.AnySet(q.Head, q.Tail)
}
