package ofi

import (
	"errors"
	"fmt"
	"math"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// AnyPeer is an address that stands for no peer in particular: FI_ADDR_UNSPEC, and FI_ADDR_NOTAVAIL (rdma/fabric.h).
const AnyPeer = ^uint64(0)

// Endpoint is an endpoint of one of the providers: messages match within one. It is a [transport.Matcher].
type Endpoint struct {
	baseTypes
	r      *inferior.Reader
	at     inferior.Addr
	queues transport.Queues
	// in is where its messages are.
	in provider
}

// Addr is the endpoint's.
func (e *Endpoint) Addr() inferior.Addr { return e.at }

// Queues are the endpoint's. Receives that have matched are known to nobody but the MPI.
func (e *Endpoint) Queues() *transport.Queues { return &e.queues }

// errOtherLayout means that what is read is sound, but as another layout has it.
var errOtherLayout = errors.New("the layout is another release's")

// openEndpoint reads all that an endpoint has. What is read proves the layouts: the provider has a name, its objects
// know each other and what they are for, and its lists agree with themselves.
func openEndpoint(r *inferior.Reader, l *layout.Layouts, at inferior.Addr) (*Endpoint, error) {
	e := &Endpoint{r: r, at: at, queues: transport.Queues{Uncounted: true}}
	err := inferior.Bind(&e.baseTypes, l)
	if err != nil {
		return nil, err
	}
	if e.in, err = e.openProvider(l); err != nil {
		return nil, err
	}
	for _, part := range []func() error{e.in.readPosted, e.in.readSends} {
		if err := part(); err != nil {
			return nil, fmt.Errorf("the endpoint at %s: %w", at, err)
		}
	}
	// By now the layout has proved itself, but for what messages alone tell: a process can be stopped while it changes a
	// list.
	e.queues.UnexpectedErr = e.in.readUnexpected()
	if errors.Is(e.queues.UnexpectedErr, errOtherLayout) {
		return nil, fmt.Errorf("the endpoint at %s: %w", at, e.queues.UnexpectedErr)
	}
	return e, nil
}

// MessageAt reads the message at a, which may have been taken out of the queue ([transport.Matcher]).
func (e *Endpoint) MessageAt(a inferior.Addr) (transport.Message, error) { return e.in.message(a) }

// Claimed reads the message that a program has taken out of the queue (FI_CLAIM) by a context (struct fi_context *),
// which is its own until it has received the message.
func (e *Endpoint) Claimed(context inferior.Addr) (transport.Message, error) {
	return e.in.claimed(context)
}

// Same is a peer by the first of the addresses that it has: a provider may give one more each time that a program names
// it. All peers of the endpoint's queues are so.
func (e *Endpoint) Same(p transport.Peer) transport.Peer { return e.in.same(p) }

// SendAt knows of no sends that nothing leads to ([transport.Matcher]).
func (e *Endpoint) SendAt(inferior.Addr) (s transport.Send, proved, ok bool) {
	return transport.Send{}, false, false
}

// ReceiveAt knows of no receives outside of the queues ([transport.Matcher]).
func (e *Endpoint) ReceiveAt(inferior.Addr) (transport.Receive, bool) {
	return transport.Receive{}, false
}

// post adds a posted receive, of which the first of so many parts is at an address. A length that is not known is that of
// the only part.
func (e *Endpoint) post(r transport.Receive, parts uint64, first inferior.Ptr[part]) error {
	if parts == 1 {
		p, err := e.Part.Read(e.r, first)
		if err != nil {
			return err
		}
		r.Buffer = p.Base
		if r.Length < 0 {
			r.Length = length(p.Length)
		}
	}
	e.queues.Posted = append(e.queues.Posted, r)
	return nil
}

// peerOf is the peer that an address stands for.
func peerOf(addr uint64) transport.Peer {
	return transport.Peer{Value: addr, Known: addr != AnyPeer}
}

// length is a number of bytes, -1 for one that can't be.
func length(v uint64) int64 {
	if v > math.MaxInt64 {
		return -1
	}
	return int64(v)
}
