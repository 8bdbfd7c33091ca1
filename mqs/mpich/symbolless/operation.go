package symbolless

import (
	"iter"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// Operations yields one queue of a communicator.
func (s *Source) Operations(c *mqs.Communicator, class mqs.OpClass) iter.Seq2[mqs.PendingOperation, error] {
	return func(yield func(mqs.PendingOperation, error) bool) {
		q := s.comms[c.UniqueID]
		switch class {
		case mqs.PendingSends:
			for _, r := range q.sends {
				if !yield(s.send(c, r), nil) {
					return
				}
			}
			if err := s.network.SendsErr; err != nil {
				yield(mqs.PendingOperation{}, err)
				return
			}
		case mqs.PendingReceives:
			for _, r := range q.receives {
				if !yield(inWorld(c, s.receive(c, r)), nil) {
					return
				}
			}
		case mqs.UnexpectedMessages:
			for _, m := range q.unexpected {
				if !yield(inWorld(c, s.network.Tags.Message(c, m, false)), nil) {
					return
				}
			}
			if err := s.network.UnexpectedErr; err != nil {
				yield(mqs.PendingOperation{}, err)
				return
			}
		}
		if err := s.elsewhere(); err != nil {
			yield(mqs.PendingOperation{}, err)
		}
	}
}

// inWorld completes an operation: on MPI_COMM_WORLD ranks are global, however many there are.
func inWorld(c *mqs.Communicator, op mqs.PendingOperation) mqs.PendingOperation {
	if c.UniqueID == worldContext {
		op.DesiredGlobalRank, op.ActualGlobalRank = op.DesiredLocalRank, op.ActualLocalRank
	}
	return op
}

// send describes a send, of which it is not known where it goes.
func (s *Source) send(c *mqs.Communicator, q *transport.Send) mqs.PendingOperation {
	op := s.network.Tags.Send(c, q, mqs.Maybe[int32]{})
	request := s.network.Sender(q).Addr()
	op.Request, op.Kind = mqs.Known(request), s.inCalls().kinds[request].Name
	if q.Buffer != 0 {
		return op
	}
	if data, ok := s.network.Elements(&q.Request); ok {
		op.Buffer, op.Count = data.Buffer, mqs.Known(data.Count)
	}
	return op
}

func (s *Source) receive(c *mqs.Communicator, q *transport.Receive) mqs.PendingOperation {
	op := s.network.Tags.Receive(c, q)
	request := s.network.Receiver(q).Addr()
	op.Request, op.Kind = mqs.Known(request), s.inCalls().kinds[request].Name
	if q.State != transport.Complete || q.Cancelled {
		s.setBuffer(&op, q)
	}
	return op
}

// setBuffer fills in where a receive puts its data. From 4.2 on, what is not contiguous goes
// into a buffer of the library's first, which only the library's own request tells from the
// program's.
func (s *Source) setBuffer(op *mqs.PendingOperation, q *transport.Receive) {
	if data, ok := s.network.Elements(&q.Request); ok {
		op.Buffer, op.Count, op.SystemBuffer = data.Buffer, mqs.Known(data.Count), mqs.Known(false)
	}
	if q.Length < 0 {
		return
	}
	op.DesiredLength = mqs.Known(q.Length)
	if s.objects != nil {
		switch to, err := s.objects.unpack(s.r, s.network.Receiver(q), &q.Request); {
		case err != nil:
		case to.IsUnpacked:
			op.Buffer, op.Count = to.To.Buffer, mqs.Known(to.To.Count)
		case to.IsProved, s.objects.isProved:
			op.Buffer = mqs.Known(q.Buffer)
		}
	} else if s.lib.ReceivesInPlace {
		op.Buffer = mqs.Known(q.Buffer)
	}
	if op.Buffer.Known {
		op.SystemBuffer = mqs.Known(false)
	}
}
