package ucx

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Bits of a request's flags (ucp/core/ucp_request.h, 1.11 to 1.23).
const (
	flagCompleted = 1 << 0
	flagReleased  = 1 << 1
	flagProtoSend = 1 << 2 // a send by one of the new protocols
	flagSent      = 1 << 4 // a synchronous send whose data has left: only the answer is missing
	flagCallback  = 1 << 6
	flagSync      = 1 << 8
	flagOffloaded = 1 << 10
	flagSendTag   = 1 << 14
	flagRecvTag   = 1 << 17
)

// statusCancelled is UCS_ERR_CANCELED (ucs/type/status.h).
const statusCancelled = -16

// Operations of new protocols (ucp_operation_id_t, ucp/core/ucp_types.h), which
// share a byte with flags from 1.14 on.
const (
	opTagSend     = 0
	opTagSendSync = 1
	opMask        = 0xf
)

// Classes of datatypes (enum ucp_dt_type, ucp/api/ucp.h): the low bits of a type.
const (
	classContiguous = 0
	classGeneric    = 7
	classMask       = 7
)

// stateBehindBuffer is how far behind its buffer, from 1.17 on, the state of data stands
// that is not contiguous: then the buffer is where that of contiguous data is.
const stateBehindBuffer = 24

// requestAt is a request and where it stands.
type requestAt struct {
	addr inferior.Addr
	request
}

// State is how far a request has come.
type State int

// The states of a request.
const (
	Posted   State = iota // a receive that has not matched, or a send
	Matched               // a receive whose data is not all there
	Complete              // not released by the MPI yet
)

// Receive is a request of a tag receive.
type Receive struct {
	Addr inferior.Addr
	// User is where the MPI's own part of the request is, UserData what it gave with it.
	User, UserData inferior.Addr
	State          State
	// Tag and Mask say which tags match: those that differ in no bit of the mask.
	Tag, Mask uint64
	// Sequence numbers a worker's receives in the order of posting.
	Sequence uint64
	// Buffer is where the data goes, 0 if it is not contiguous: then Generic is what the
	// MPI keeps for its type (the state that its ucp_generic_dt_ops have returned).
	Buffer, Generic inferior.Addr
	// Length is that of the buffer in bytes, -1 if not known.
	Length int64
	// Done is the function that is called on completion, 0 if there is none.
	Done inferior.Addr
	// SenderTag is the message's tag and Received its length in bytes, both of no meaning
	// before it has matched.
	SenderTag uint64
	Received  int64
	// Offloaded is true if a network card has been given the receive.
	Offloaded bool
	// Cancelled is true if it is complete since it has been cancelled.
	Cancelled bool
	// Released is true if the MPI does not wait for it any more.
	Released bool
}

// Send is a request of a tag send.
type Send struct {
	Addr           inferior.Addr
	User, UserData inferior.Addr
	State          State
	// Tag is of no meaning if the receiver has answered a rendezvous: see TagLost.
	Tag uint64
	// TagLost is true if what has become of the request has written over its tag. It may
	// have where this is false, by the old protocols.
	TagLost bool
	// Sync is true if it completes only once a receive has matched.
	Sync bool
	// Endpoint is the ucp_ep_t that it goes to.
	Endpoint        inferior.Addr
	Buffer, Generic inferior.Addr // as in Receive
	Length          int64         // bytes, packed
	Done            inferior.Addr
	// ID is what its message calls it ([Message.Sender]).
	ID       uint64
	Released bool
}

// receive makes of a request what it is to an MPI.
func (u *UCX) receive(r requestAt, state State) Receive {
	out := Receive{Addr: r.addr, User: r.addr + inferior.Addr(u.Request.Size()), UserData: r.UserData, State: state,
		Tag: r.RecvTag, Mask: r.RecvMask, Sequence: r.RecvSeq, Length: -1, Done: r.RecvDone,
		SenderTag: r.SenderTag, Received: length(r.InfoLength),
		Cancelled: state == Complete && r.Status == statusCancelled,
		Offloaded: r.Flags&flagOffloaded != 0, Released: r.Flags&flagReleased != 0}
	switch r.RecvType & classMask {
	case classContiguous:
		out.Buffer, out.Length = r.RecvBuffer, length(r.RecvLength)
	case classGeneric:
		out.Generic = r.RecvState
		// With the new protocols another request goes on with a rendezvous that has
		// matched: what it was is no more, but its place and length are.
		if inPlace := r.RecvStateAt-r.RecvBufferAt == stateBehindBuffer; state == Matched && inPlace {
			out.Buffer, out.Length, out.Generic = r.RecvBuffer, length(r.RecvLength), 0
		}
	}
	return out
}

// send makes of a request what it is to an MPI; false if it is no tag send.
func (u *UCX) send(r requestAt) (Send, bool, error) {
	out := Send{Addr: r.addr, User: r.addr + inferior.Addr(u.Request.Size()), UserData: r.UserData, Tag: r.SendTag,
		Endpoint: r.Endpoint, Length: length(r.SendLength), Done: r.SendDone, ID: r.ID, Released: r.Flags&flagReleased != 0}
	class, state := r.SendType, r.SendState
	switch {
	case r.Flags&flagSendTag != 0:
		out.Buffer, out.Sync = r.SendBuffer, r.Flags&flagSync != 0
	case r.Flags&flagProtoSend != 0 && r.Config != 0 && u.ProtoConfig.Bound():
		op, err := u.operation(r.Config)
		switch {
		case err != nil:
			return Send{}, false, err
		case op > opTagSendSync:
			// A rendezvous that has been answered goes on by another protocol. UCX sends
			// parts of messages in the same way, by call-backs of its own.
			if !u.isRendezvous(r.Config) || r.Flags&flagCallback == 0 {
				return Send{}, false, nil
			}
			out.TagLost, out.State = true, Matched
		}
		out.Sync = op == opTagSendSync
		out.Buffer, out.Length, class, state = r.IterBuffer, length(r.IterLength), r.IterType, r.IterState
	default:
		return Send{}, false, nil
	}
	if class &= classMask; class != classContiguous {
		out.Buffer = 0
	}
	if class == classGeneric && r.Flags&(flagCompleted|flagSent) == 0 {
		out.Generic = state // after which it is given back
	}
	if r.Flags&flagCompleted != 0 {
		out.State = Complete
	}
	return out, true, nil
}

// isRendezvous says whether a protocol moves the data of a rendezvous.
func (u *UCX) isRendezvous(config inferior.Addr) bool { return u.families[config] == "rndv" }

// operation returns what a new protocol was selected for. The place of that in its
// configuration is all that some releases differ in, so it is held against the
// protocol's name.
func (u *UCX) operation(config inferior.Addr) (uint8, error) {
	if op, ok := u.operations[config]; ok {
		return op, nil
	}
	c, err := u.ProtoConfig.Read(u.r, config)
	if err != nil {
		return 0, err
	}
	p, err := u.Proto.Read(u.r, c.Proto)
	if err != nil {
		return 0, err
	}
	const maxName = 64 // bytes
	name, err := p.Name.Read(u.r, maxName)
	if err != nil {
		return 0, err
	}
	op, family := c.Op&opMask, name[:strings.IndexByte(name+"/", '/')]
	switch least, most := operationsOf(family); {
	case op < least || op > most:
		return 0, fmt.Errorf("the protocol %q is said to be for operation %d", name, op)
	}
	u.operations[config], u.families[config] = op, family
	return op, nil
}

// operationsOf says which operations the protocols are for whose names begin with a word
// (the .name of each in ucp/tag, am, rma, rndv and stream, 1.11 to 1.23).
func operationsOf(family string) (least, most uint8) {
	switch family {
	case "egr", "tag":
		return opTagSend, opTagSendSync
	case "egrsnc":
		return opTagSendSync, opTagSendSync
	case "am", "stream", "put", "get", "amo", "rndv":
		return opTagSendSync + 1, opMask
	}
	return 0, opMask // reconfig, of a connection that is being made
}

// Bounds on a pool of requests.
const (
	maxChunks = 1 << 16
	maxElems  = 1 << 26
	maxBytes  = 2 << 30
)

// readChunks reads the chunks of the pool and brings their elements into the
// cache, as few fat reads.
func (w *Worker) readChunks() error {
	var last chunk
	next := func(a inferior.Addr) (inferior.Addr, error) {
		var err error
		last, err = w.u.Chunk.Read(w.u.r, a)
		return last.Next, err
	}
	var ranges []inferior.Range
	total := uint64(0)
	seen := map[inferior.Addr]bool{}
	for _, err := range inferior.Walk(w.pool.Chunks, 0, maxChunks, next) {
		if err != nil {
			return fmt.Errorf("the pool of requests: %w", err)
		}
		if total += uint64(last.Num); total > maxElems || total*w.stride() > maxBytes || seen[last.Elems] {
			return fmt.Errorf("the pool of requests can't be right: it has %d or more, of %d bytes", total, w.stride())
		}
		seen[last.Elems] = true
		w.chunks = append(w.chunks, last)
		ranges = append(ranges, inferior.Range{Addr: last.Elems, Len: int(uint64(last.Num) * w.stride())})
	}
	return w.u.r.Prefetch(ranges)
}

// stride is the distance between the elements of a chunk.
func (w *Worker) stride() uint64 {
	align := max(w.pool.Alignment, 1)
	return (w.pool.ElemSize + align - 1) &^ (align - 1)
}

// readRequests reads the requests of tag receives and sends in the pool that are in
// use. A free element points at the next free one where a used one points at its pool.
func (w *Worker) readRequests() error {
	word := inferior.Addr(w.u.r.Info().PointerSize)
	for _, c := range slices.Backward(w.chunks) { // the oldest one is the last
		for i := range inferior.Addr(c.Num) {
			at := c.Elems + (inferior.Addr(c.Num)-1-i)*inferior.Addr(w.stride())
			owner, err := w.u.r.Pointers(at, 1)
			if err != nil {
				return err
			}
			if owner[0] != w.requests || w.posted[at+word] {
				continue
			}
			r, err := w.u.Request.Read(w.u.r, at+word)
			if err != nil {
				return err
			}
			q := requestAt{at + word, r}
			if r.Flags&flagRecvTag != 0 {
				state := Matched
				if r.Flags&flagCompleted != 0 {
					state = Complete
				}
				w.Matched = append(w.Matched, w.u.receive(q, state))
				continue
			}
			s, ok, err := w.u.send(q)
			if err != nil {
				return err
			}
			switch {
			case ok && w.owns(s.Endpoint):
				w.Sends = append(w.Sends, s)
			case ok:
				w.Dropped++
			}
		}
	}
	return nil
}

// owns says whether an endpoint is the worker's.
func (w *Worker) owns(endpoint inferior.Addr) bool {
	e, err := w.u.Endpoint.Read(w.u.r, endpoint)
	return err == nil && e.Worker == w.Addr
}

// SendAt returns the send whose request stands at a, outside of the pool: an MPI may keep
// that of a blocking call on its stack. It is proved if its message knows it by its
// address; else nothing but its endpoint and flags says that it is one.
func (w *Worker) SendAt(a inferior.Addr) (s Send, proved, ok bool) {
	r, err := w.u.Request.Read(w.u.r, a)
	if err != nil || r.Flags&(flagSendTag|flagProtoSend) == 0 || r.Flags&flagCompleted != 0 || !w.owns(r.Endpoint) {
		return Send{}, false, false
	}
	s, ok, err = w.u.send(requestAt{a, r})
	return s, r.ID == uint64(a), ok && err == nil
}

// ReceiveAt returns the receive that has matched whose request stands at a, outside of the
// pool and of all queues.
func (w *Worker) ReceiveAt(a inferior.Addr) (Receive, bool) {
	r, err := w.u.Request.Read(w.u.r, a)
	if err != nil || w.posted[a] || r.Flags&flagRecvTag == 0 || r.Flags&flagCompleted != 0 || r.Worker != w.Addr {
		return Receive{}, false
	}
	return w.u.receive(requestAt{a, r}, Matched), true
}

// length is a number of bytes, -1 for one that can't be.
func length(v uint64) int64 {
	if v > math.MaxInt64 {
		return -1
	}
	return int64(v)
}
