package symbolless

import (
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// communicator is one of which the context id is known: what has it in its tag.
type communicator struct {
	known      *comm // nil if nothing else is
	sends      []*transport.Send
	receives   []*transport.Receive
	unexpected []*transport.Message
}

// MPI_COMM_WORLD's context id, and its name.
const (
	worldContext = 0
	worldName    = "MPI_COMM_WORLD"
)

// attribute finds the communicators of what is in the network library.
func (s *Source) attribute() {
	s.comms = map[inferior.Addr]*communicator{worldContext: {}}
	for i := range s.network.Receives {
		s.addReceive(&s.network.Receives[i])
	}
	for i := range s.network.Unexpected {
		m := &s.network.Unexpected[i]
		c := s.comm(s.contextOf(m.Tag))
		c.unexpected = append(c.unexpected, m)
	}
	for i := range s.network.Sends {
		s.addSend(&s.network.Sends[i])
	}
}

func (s *Source) addReceive(q *transport.Receive) {
	tag := q.Tag
	if q.State == transport.Complete && !q.Cancelled {
		tag = q.SenderTag
	}
	context := s.contextOf(tag)
	c := s.comm(context)
	c.receives = append(c.receives, q)
	if s.objects == nil || q.State == transport.Complete || c.known != nil || context&^mpir.ContextCollective&mpir.ContextOwn != 0 {
		return
	}
	if known, err := s.objects.commOf(s.network.Receiver(q), mpir.KindRecv); err == nil {
		c.known = &known
	}
}

func (s *Source) addSend(q *transport.Send) {
	_, isKnown := s.comms[idOf(s.contextOf(q.Tag))]
	if q.TagLost || q.ID == 0 && !isKnown {
		s.lost++ // an answer may have been written over its tag
		return
	}
	c := s.commOfSend(q)
	c.sends = append(c.sends, q)
}

// commOfSend is the communicator that a send is on. The context in its tag is that which
// the receiver receives with, which of an intercommunicator is another than its own.
func (s *Source) commOfSend(q *transport.Send) *communicator {
	if s.objects == nil || q.State == transport.Complete {
		return s.comm(s.contextOf(q.Tag))
	}
	known, err := s.objects.commOf(s.network.Sender(q), mpir.KindSend)
	if err != nil {
		return s.comm(s.contextOf(q.Tag))
	}
	c := s.comm(known.RecvContext)
	if c.known == nil && known.RecvContext&mpir.ContextOwn == 0 {
		c.known = &known
	}
	return c
}

// contextOf is the context id in a tag.
func (s *Source) contextOf(tag uint64) uint32 { return uint32(s.network.Tags.Envelope(tag).Context) }

// comm is the communicator with a context id. What the library does on parts of a
// communicator counts as that one's.
func (s *Source) comm(context uint32) *communicator {
	id := idOf(context)
	if s.comms[id] == nil {
		s.comms[id] = &communicator{}
	}
	return s.comms[id]
}

func idOf(context uint32) inferior.Addr { return inferior.Addr(context &^ mpir.ContextOwn) }

// Communicators yields MPI_COMM_WORLD, whose context id is 0, and those that something is
// pending on.
func (s *Source) Communicators() iter.Seq2[mqs.Communicator, error] {
	return func(yield func(mqs.Communicator, error) bool) {
		for _, id := range slices.Sorted(maps.Keys(s.comms)) {
			if !yield(s.model(id), nil) {
				return
			}
		}
	}
}

// model is what is known of a communicator.
func (s *Source) model(id inferior.Addr) mqs.Communicator {
	c := mqs.Communicator{UniqueID: id, Context: fmt.Sprint(uint64(id)), Name: mqs.Known(fmt.Sprintf("context %s", id))}
	q := s.comms[id]
	if id == worldContext {
		c.Name = mqs.Known(worldName) // unless the program has renamed it
		c.Handle, c.FortranHandle = s.handles(worldHandle, mpir.ABIWorld, mpir.ABIWorld)
		c.Inter = mqs.Known(false)
		if rank := s.r.Info().Rank; rank != nil {
			c.LocalRank = mqs.Known(*rank)
		}
	}
	// A send may be on an intercommunicator of which the other side has given its context: then what
	// else has that context here is on another one.
	if len(q.sends) > 0 && (id == worldContext || len(q.receives)+len(q.unexpected) == 0) {
		c.LocalRank = s.network.Tags.Envelope(q.sends[0].Tag).Source
	}
	if q.known == nil {
		return c
	}
	c.LocalRank, c.Size, c.Inter = mqs.Known(q.known.Rank), mqs.Known(q.known.LocalSize), mqs.Known(q.known.Kind == mpir.CommInter)
	c.Context = (&mpir.Comm{Context: q.known.Context, RecvContext: q.known.RecvContext, Kind: q.known.Kind}).ContextName()
	if id != worldContext {
		c.Handle, c.FortranHandle = s.handles(q.known.Handle, q.known.at.Addr(), q.known.Handle)
	}
	c.Name = mqs.Maybe[string]{}
	if name, err := q.known.Name.Read(s.r, mpir.MaxName); err == nil {
		c.Name = mqs.Known(name)
	}
	if id == worldContext {
		c.Group = mqs.WholeGroup(q.known.LocalSize)
	}
	return c
}

// handles are those of a communicator in C and Fortran: its number or, for programs of the ABI, another one in C and
// in Fortran.
func (s *Source) handles(number uint32, inABI inferior.Addr, fortran uint32) (mqs.Maybe[inferior.Addr], mqs.Maybe[int32]) {
	if !mpir.IsABI(s.lib.Root.Object) {
		return mqs.Known(inferior.Addr(number)), mqs.Known(int32(number))
	}
	return mqs.Known(inABI), mqs.Known(int32(fortran))
}
