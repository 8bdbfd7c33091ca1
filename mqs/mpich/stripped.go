package mpich

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs/transport"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport/ucx"
)

// stripped is a process with an MPICH of which nothing can be read, but which leaves its
// messages to a UCX that can: a distribution's ch4:ucx.
type stripped struct {
	r       *inferior.Reader
	symbols map[string]inferior.Symbol
	ucx     *ucx.UCX
	queues  *inUCX
	lost    int         // sends of which it is not known what communicator they are on
	naked   *nakedTypes // nil if nothing of MPICH's own can be read
	comms   map[inferior.Addr]*strippedComm
	kinds   map[inferior.Addr]string // of the requests of blocking calls
}

// strippedComm is a communicator of which the context id is known: what has it in its tag.
type strippedComm struct {
	known      *nakedComm // nil if nothing else is
	sends      []*transport.Send
	receives   []*transport.Receive
	unexpected []*transport.Message
}

// openStripped opens a process without symbols of MPICH's own.
func openStripped(r *inferior.Reader, symbols map[string]inferior.Symbol) (*stripped, error) {
	u, err := openUCX(r)
	if err != nil {
		return nil, err
	}
	queues, err := readUCX(u)
	if err != nil {
		return nil, err
	}
	s := &stripped{r: r, symbols: symbols, ucx: u, queues: queues, comms: map[inferior.Addr]*strippedComm{0: {}}}
	s.naked = s.openNaked()
	for i := range s.queues.receives {
		q := &s.queues.receives[i]
		tag := q.Tag
		if q.State == transport.Complete && !q.Cancelled {
			tag = q.SenderTag
		}
		c := s.comm(envelopeOf(tag).context)
		c.receives = append(c.receives, q)
		if s.naked != nil && q.State != transport.Complete && c.known == nil && envelopeOf(tag).context&^contextCollective&contextOwn == 0 {
			if known, err := s.nakedCommOf(s.naked, q.UserData, kindRecv); err == nil {
				c.known = &known
			}
		}
	}
	for i := range s.queues.unexpected {
		c := s.comm(envelopeOf(s.queues.unexpected[i].Tag).context)
		c.unexpected = append(c.unexpected, &s.queues.unexpected[i])
	}
	for i := range s.queues.sends {
		q := &s.queues.sends[i]
		_, known := s.comms[idOf(envelopeOf(q.Tag).context)]
		if q.TagLost || q.ID == 0 && !known {
			s.lost++ // an answer may have been written over its tag
			continue
		}
		c := s.commOfSend(q)
		c.sends = append(c.sends, q)
	}
	return s, nil
}

// commOfSend is the communicator that a send is on. The context in its tag is that which
// the receiver receives with, which of an intercommunicator is another than its own.
func (s *stripped) commOfSend(q *transport.Send) *strippedComm {
	if s.naked == nil || q.State == transport.Complete {
		return s.comm(envelopeOf(q.Tag).context)
	}
	known, err := s.nakedCommOf(s.naked, s.requestOf(q), kindSend)
	if err != nil {
		return s.comm(envelopeOf(q.Tag).context)
	}
	c := s.comm(known.RecvContext)
	if c.known == nil && known.RecvContext&contextOwn == 0 {
		c.known = &known
	}
	return c
}

// comm is the communicator with a context id. What the library does on parts of a
// communicator counts as that one's.
func (s *stripped) comm(context uint32) *strippedComm {
	id := idOf(context)
	if s.comms[id] == nil {
		s.comms[id] = &strippedComm{}
	}
	return s.comms[id]
}

func idOf(context uint32) inferior.Addr { return inferior.Addr(context &^ contextOwn) }

// Info fills in what is known of the process as a whole.
func (s *stripped) Info(p *mqs.Process) {
	root, _ := recognise(s.symbols)
	p.MPI = Decoder{}.Name()
	p.MPIVersion = version(s.r, s.symbols)
	p.Library = root.Object
	p.Source = "native"
	p.Layout, p.LayoutName = "table", s.ucx.LayoutName()
	if p.LayoutName == "" {
		p.Layout = "dwarf"
	}
	p.Progress = mqs.Known(s.queues.sequence)
	if c := s.model(worldContext); !p.GlobalRank.Known {
		p.GlobalRank, p.WorldSize = c.LocalRank, c.Size
	} else if !p.WorldSize.Known {
		p.WorldSize = c.Size
	}
}

// Notes says what UCX does not keep.
func (s *stripped) Notes() []string {
	root, _ := recognise(s.symbols)
	what := "not where sends go, nor partitioned operations, nor what a process sends to itself on a communicator of its own"
	if s.naked == nil {
		what = "communicators by their context ids (the sends of an intercommunicator by that of its other side), " + what
	}
	out := []string{fmt.Sprintf("%s is stripped, so this is what UCX beneath it has: %s", library(root), what)}
	if s.lost > 0 {
		out = append(out, fmt.Sprintf("%d sends that the receiver has answered are not shown: UCX does not keep which communicator they are on", s.lost))
	}
	if s.queues.offload {
		out = append(out, ucxOffloadNote)
	}
	return out
}

// ucxOffloadNote says what is missing where a network card matches messages.
const ucxOffloadNote = "a network card matches messages too: those that it holds are not among the unexpected ones"

// Communicators yields MPI_COMM_WORLD, whose context id is 0, and those that something is
// pending on.
func (s *stripped) Communicators() iter.Seq2[mqs.Communicator, error] {
	return func(yield func(mqs.Communicator, error) bool) {
		for _, id := range slices.Sorted(maps.Keys(s.comms)) {
			if !yield(s.model(id), nil) {
				return
			}
		}
	}
}

// model is what is known of a communicator.
func (s *stripped) model(id inferior.Addr) mqs.Communicator {
	c := mqs.Communicator{UniqueID: id, Context: fmt.Sprint(uint64(id)), Name: mqs.Known(fmt.Sprintf("context %s", id))}
	known := s.comms[id].known
	if id == worldContext {
		c.Name = mqs.Known("MPI_COMM_WORLD") // unless the program has renamed it
		c.Inter = mqs.Known(false)
		if rank := s.r.Info().Rank; rank != nil {
			c.LocalRank = mqs.Known(*rank)
		}
	}
	// A send may be on an intercommunicator of which the other side has given its context: then what
	// else has that context here is on another one.
	if q := s.comms[id]; len(q.sends) > 0 && (id == worldContext || len(q.receives)+len(q.unexpected) == 0) {
		c.LocalRank = mqs.Known(envelopeOf(q.sends[0].Tag).source)
	}
	if known == nil {
		return c
	}
	c.LocalRank, c.Size, c.Inter = mqs.Known(known.Rank), mqs.Known(known.LocalSize), mqs.Known(known.Kind == commInter)
	c.Context = contextOf(&comm{Context: known.Context, RecvContext: known.RecvContext, Kind: known.Kind})
	c.Name = mqs.Maybe[string]{}
	if name, err := known.Name.Read(s.r, maxName); err == nil {
		c.Name = mqs.Known(name)
	}
	if id == worldContext {
		c.Group = mqs.WholeGroup(known.LocalSize)
	}
	return c
}

// worldContext is MPI_COMM_WORLD's context id.
const worldContext = 0

// Operations yields one queue of a communicator.
func (s *stripped) Operations(c *mqs.Communicator, class mqs.OpClass) iter.Seq2[mqs.PendingOperation, error] {
	return func(yield func(mqs.PendingOperation, error) bool) {
		q := s.comms[c.UniqueID]
		if q == nil {
			yield(mqs.PendingOperation{}, fmt.Errorf("no communicator %s", c.UniqueID))
			return
		}
		switch class {
		case mqs.PendingSends:
			for _, r := range q.sends {
				if !yield(s.send(r), nil) {
					return
				}
			}
		case mqs.PendingReceives:
			for _, r := range q.receives {
				if !yield(inWorld(c, s.receive(c, r)), nil) {
					return
				}
			}
		case mqs.UnexpectedMessages:
			for _, m := range q.unexpected {
				if !yield(inWorld(c, messageInUCX(c, m)), nil) {
					return
				}
			}
			if err := s.queues.unexpectedErr; err != nil {
				yield(mqs.PendingOperation{}, err)
			}
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

func (s *stripped) send(r *transport.Send) mqs.PendingOperation {
	e := envelopeOf(r.Tag)
	op := mqs.PendingOperation{Status: statusInUCX[r.State], TagWild: mqs.Known(false), DesiredTag: mqs.Known(e.tag),
		DesiredLength: mqs.Maybe[int64]{Value: r.Length, Known: r.Length >= 0}, Request: mqs.Known(s.requestOf(r)), Internal: e.own}
	op.Kind = s.kind(op.Request.Value)
	op.MessageID = mqs.Maybe[uint64]{Value: r.ID, Known: r.ID != 0 && op.Status == mqs.Pending}
	if r.Buffer != 0 {
		op.Buffer = mqs.Known(r.Buffer)
	} else if p, ok := readPackState(s.r, r.Generic); ok {
		op.Buffer, op.Count = mqs.Known(p.buffer), mqs.Known(p.count)
	}
	op.ActualTag, op.ActualLength = op.DesiredTag, op.DesiredLength
	return op
}

func (s *stripped) receive(c *mqs.Communicator, r *transport.Receive) mqs.PendingOperation {
	op := mqs.PendingOperation{Status: statusInUCX[r.State], Request: mqs.Known(r.UserData), Kind: s.kind(r.UserData)}
	if r.State != transport.Complete || r.Cancelled {
		askInUCX(&op, c, r)
		s.buffer(&op, r)
	}
	switch {
	case r.Cancelled:
		op.ExtraText = append(op.ExtraText, "cancelled")
	case r.State != transport.Posted:
		arrivedInUCX(&op, c, r.SenderTag, mqs.Maybe[int64]{Value: r.Received, Known: r.Received >= 0 && (r.State == transport.Complete || !r.Offloaded)})
	}
	if r.Offloaded {
		op.ExtraText = append(op.ExtraText, "given to the network card for matching")
	}
	return op
}

// buffer fills in where a receive puts its data. From 4.2 on, what is not contiguous goes
// into a buffer of the library's first, which only the library's own request tells from the
// program's.
func (s *stripped) buffer(op *mqs.PendingOperation, r *transport.Receive) {
	if p, ok := readPackState(s.r, r.Generic); ok {
		op.Buffer, op.Count, op.SystemBuffer = mqs.Known(p.buffer), mqs.Known(p.count), mqs.Known(false)
	}
	if r.Length < 0 {
		return
	}
	op.DesiredLength = mqs.Known(r.Length)
	_, is40 := s.symbols[symVersion]
	switch {
	case s.naked != nil:
		if q, err := s.naked.Request.ReadAt(s.r, r.UserData); err == nil {
			op.Buffer = mqs.Known(r.Buffer)
			if q.Type == typeUnpack && q.PackBuffer == r.Buffer {
				op.Buffer, op.Count = mqs.Known(q.UserBuffer), mqs.Known(q.Count)
			}
		}
	case is40:
		op.Buffer = mqs.Known(r.Buffer)
	}
	if op.Buffer.Known {
		op.SystemBuffer = mqs.Known(false)
	}
}

// requestOf is MPICH's own request of a send.
func (s *stripped) requestOf(r *transport.Send) inferior.Addr {
	own, err := s.r.Pointers(r.User, 1)
	if err != nil {
		return 0
	}
	return own[0]
}

// kind is the name of the blocking call that waits for a request, as far as it is known. No
// others are: a persistent operation has a request like any other.
func (s *stripped) kind(request inferior.Addr) string {
	if s.kinds == nil {
		s.kinds = s.blockingKinds()
	}
	return s.kinds[request]
}

// blockingKinds finds the requests of blocking calls, which hold their addresses. What a
// call holds of several is not known.
func (s *stripped) blockingKinds() map[inferior.Addr]string {
	out := map[inferior.Addr]string{}
	calls, err := callstack.Calls(s.r)
	if err != nil {
		return out
	}
	for _, own := range s.owns(calls) {
		if own.request != 0 {
			out[own.request] = own.kind
		}
	}
	return out
}

// ownRequest is the request that a blocking call has made for itself, 0 if that is not known, and its kind.
type ownRequest struct {
	request inferior.Addr
	kind    string
}

// owns are the own requests of calls. The stack keeps old values, so a call whose request is complete
// may hold that of another thread's call: of several calls they are known only if each has one.
func (s *stripped) owns(calls []callstack.Call) []ownRequest {
	out := make([]ownRequest, len(calls))
	seen := map[inferior.Addr]bool{}
	for i := range calls {
		request, kind, ok := s.ownOf(&calls[i])
		if len(calls) > 1 && (!ok || seen[request]) {
			return make([]ownRequest, len(calls))
		}
		if ok {
			out[i], seen[request] = ownRequest{request, kind}, true
		}
	}
	return out
}

// ownOf is the request that a blocking call has made for itself, and its kind.
func (s *stripped) ownOf(c *callstack.Call) (request inferior.Addr, kind string, ok bool) {
	var held []inferior.Addr
	sendKind, sends := callstack.BlockingSends[c.Function]
	recvKind, recvs := callstack.BlockingRecvs[c.Function]
	if sends == recvs || !mayWait(c) { // MPI_Sendrecv may have one of each
		return 0, "", false
	}
	for i := range s.queues.sends {
		if r := &s.queues.sends[i]; sends && r.State != transport.Complete && c.CandidatePointers[s.requestOf(r)] {
			held, kind = append(held, s.requestOf(r)), sendKind
		}
	}
	for i := range s.queues.receives {
		if r := &s.queues.receives[i]; recvs && r.State != transport.Complete && c.CandidatePointers[r.UserData] {
			held, kind = append(held, r.UserData), recvKind
		}
	}
	if len(held) != 1 {
		return 0, "", false
	}
	return held[0], kind, true
}

// mayWait says whether a call of which no function has a name may be where it waits: inside of
// it are the function that waits and the one that looks for messages, and it is not handing
// its message to UCX.
func mayWait(c *callstack.Call) bool {
	const inside = 2
	return len(c.Frames) > inside && !slices.ContainsFunc(c.Frames, func(f inferior.Frame) bool { return strings.HasPrefix(f.Function, "ucp_tag_") })
}

// Waits finds out which request each blocking call waits for.
func (s *stripped) Waits(threads []mqs.Thread) {
	calls, err := callstack.Calls(s.r)
	if err != nil {
		return
	}
	for i, own := range s.owns(calls) {
		request := own.request
		at := slices.IndexFunc(threads, func(t mqs.Thread) bool { return t.Number == calls[i].Thread })
		if request == 0 || at < 0 {
			continue
		}
		threads[at].Requests, threads[at].AllRequests = []inferior.Addr{request}, true
		for id, c := range s.comms {
			if slices.ContainsFunc(c.sends, func(r *transport.Send) bool { return s.requestOf(r) == request }) ||
				slices.ContainsFunc(c.receives, func(r *transport.Receive) bool { return r.UserData == request }) {
				threads[at].Comm = mqs.Known(id)
			}
		}
	}
}
