package ch4

import (
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
)

// Messages to oneself, on communicators of one process, go through no transport: they wait in their
// sends, as receives for them do, until they match (src/mpid/ch4/src/ch4_self.c, 4.0 to 5.0).

// SentToSelf returns the first send to oneself that no receive has matched.
func (d *Device) SentToSelf() (inferior.Ptr[mpir.Request], bool) {
	sym, ok := d.lib.Symbols[symSelfSends]
	if !ok {
		return 0, false
	}
	first, err := d.pointerAt(sym)
	return first, err == nil
}

// toSelf returns what an operation with oneself asks for. Its members are set when it goes into
// its list, before that it has no communicator. Whether a receive named its only
// possible source is not kept.
func toSelf(q dev, c *mpir.Communicator) mpir.Arguments {
	a := mpir.Arguments{Tag: mqs.Known(q.SelfTag), Context: mqs.Known(q.SelfContext - c.Context)}
	return a.WithBuffer(q.SelfBuffer, q.SelfCount, q.SelfDatatype)
}

// sendToSelf returns what a send to oneself asks for. One that is complete may have left nothing but its
// entry in the debugger's queue.
func (d *Device) sendToSelf(r *mpir.Operation, q dev, c *mpir.Communicator) mpir.Arguments {
	if r.IsComplete() {
		return d.noted(r)
	}
	a := toSelf(q, c)
	a.Peer = mqs.Known(int32(0))
	return a
}

// ToSelf returns the message that a send on a communicator of one process is.
func (d *Device) ToSelf(r *mpir.Operation) (mpir.Message, bool) {
	q, err := d.devOf(r.At)
	if err != nil {
		return mpir.Message{IsLost: true}, true
	}
	m := mpir.Message{Source: mqs.Known(int32(0)), Tag: q.SelfTag, Context: q.SelfContext, Sender: r.At}
	if size := d.lib.Datatype(q.SelfDatatype).Size; size.Known {
		m.Bytes = mqs.Known(q.SelfCount * size.Value)
	}
	return m, true
}

// takenToSelf describes a message to oneself that MPI_Mprobe has taken: its send has all of it.
func (d *Device) takenToSelf(r *mpir.Operation) mpir.Message {
	q, err := d.devOf(r.At)
	if err != nil || q.SelfMatch == 0 {
		return mpir.Message{IsLost: true}
	}
	return mpir.Message{Sender: q.SelfMatch}
}
