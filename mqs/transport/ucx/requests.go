package ucx

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
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

// isBufferKept says whether a request keeps the buffer of data that is not contiguous.
func (u *UCX) isBufferKept() bool {
	buffer, hasBuffer := inferior.OffsetOf(&u.Request, func(r *request) *inferior.Addr { return &r.RecvBuffer })
	state, hasState := inferior.OffsetOf(&u.Request, func(r *request) *inferior.Addr { return &r.RecvState })
	return hasBuffer && hasState && state-buffer == stateBehindBuffer
}

// requestAt is a request and where it stands.
type requestAt struct {
	at inferior.Ptr[request]
	request
}

// receive makes of a request what it is to an MPI.
func (u *UCX) receive(r requestAt, state transport.State) transport.Receive {
	out := transport.Receive{Request: u.common(r), Tag: r.RecvTag, Mask: r.RecvMask, Sequence: r.RecvSeq,
		SenderTag: r.SenderTag, Received: length(r.InfoLength),
		Cancelled: state == transport.Complete && r.Status == statusCancelled, Offloaded: r.Flags&flagOffloaded != 0}
	out.State, out.Length, out.Done = state, -1, r.RecvDone
	switch r.RecvType & classMask {
	case classContiguous:
		out.Buffer, out.Length = r.RecvBuffer, length(r.RecvLength)
	case classGeneric:
		out.Generic = r.RecvState
		// With the new protocols another request goes on with a rendezvous that has
		// matched: what it was is no more, but its place and length are.
		if state == transport.Matched && u.isBufferKept() {
			out.Buffer, out.Length, out.Generic = r.RecvBuffer, length(r.RecvLength), 0
		}
	}
	return out
}

// common is what a request has whatever it is for. What an MPI has of it stands behind it.
func (u *UCX) common(r requestAt) transport.Request {
	return transport.Request{Addr: r.at.Addr(), User: r.at.Addr() + inferior.Addr(u.Request.Size()), UserData: r.UserData, Released: r.Flags&flagReleased != 0}
}

// send makes of a request what it is to an MPI; false if it is no tag send. Its tag may be lost where
// that is not said: the old protocols may have written over it.
func (u *UCX) send(r requestAt) (transport.Send, bool, error) {
	out := transport.Send{Request: u.common(r), Tag: r.SendTag, Peer: transport.Peer{Value: uint64(r.Endpoint), Known: r.Endpoint != 0}, ID: r.ID}
	out.Length, out.Done = length(r.SendLength), r.SendDone
	class, state := r.SendType, r.SendState
	switch {
	case r.Flags&flagSendTag != 0:
		out.Buffer, out.Sync = r.SendBuffer, r.Flags&flagSync != 0
	case r.Flags&flagProtoSend != 0 && r.Config != 0 && u.ProtoConfig.Bound():
		op, err := u.operation(r.Config)
		switch {
		case err != nil:
			return transport.Send{}, false, err
		case op > opTagSendSync:
			// A rendezvous that has been answered goes on by another protocol. UCX sends
			// parts of messages in the same way, by call-backs of its own.
			if !u.isRendezvous(r.Config) || r.Flags&flagCallback == 0 {
				return transport.Send{}, false, nil
			}
			out.TagLost, out.State = true, transport.Matched
		}
		out.Sync = op == opTagSendSync
		out.Buffer, out.Length, class, state = r.IterBuffer, length(r.IterLength), r.IterType, r.IterState
	default:
		return transport.Send{}, false, nil
	}
	if class &= classMask; class != classContiguous {
		out.Buffer = 0
	}
	if class == classGeneric && r.Flags&(flagCompleted|flagSent) == 0 {
		out.Generic = state // after which it is given back
	}
	if r.Flags&flagCompleted != 0 {
		out.State = transport.Complete
	}
	return out, true, nil
}

// isRendezvous says whether a protocol moves the data of a rendezvous.
func (u *UCX) isRendezvous(config inferior.Ptr[protoConfig]) bool {
	return u.families[config] == "rndv"
}

// operation returns what a new protocol was selected for. The place of that in its
// configuration is all that some releases differ in, so it is held against the
// protocol's name.
func (u *UCX) operation(config inferior.Ptr[protoConfig]) (uint8, error) {
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
	next := func(at inferior.Ptr[chunk]) (inferior.Ptr[chunk], error) {
		var err error
		last, err = w.u.Chunk.Read(w.u.r, at)
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
			elem := c.Elems + (inferior.Addr(c.Num)-1-i)*inferior.Addr(w.stride())
			owner, err := w.u.r.Pointers(elem, 1)
			if err != nil {
				return err
			}
			at := inferior.Ptr[request](elem + word)
			if owner[0] != w.requests.Addr() || w.posted[at] {
				continue
			}
			r, err := w.u.Request.Read(w.u.r, at)
			if err != nil {
				return err
			}
			q := requestAt{at, r}
			if r.Flags&flagRecvTag != 0 {
				state := transport.Matched
				if r.Flags&flagCompleted != 0 {
					state = transport.Complete
				}
				w.queues.Matched = append(w.queues.Matched, w.u.receive(q, state))
				continue
			}
			s, ok, err := w.u.send(q)
			if err != nil {
				return err
			}
			switch {
			case ok && w.owns(r.Endpoint):
				w.queues.Sends = append(w.queues.Sends, s)
			case ok:
				w.queues.Dropped++
			}
		}
	}
	return nil
}

// owns says whether an endpoint is the worker's.
func (w *Worker) owns(at inferior.Ptr[endpoint]) bool {
	e, err := w.u.Endpoint.Read(w.u.r, at)
	return err == nil && e.Worker == w.at
}

// SendAt returns the send whose request stands at a, outside of the pool
// ([transport.Matcher]). If it is not proved, its endpoint and flags say that it is one.
func (w *Worker) SendAt(a inferior.Addr) (s transport.Send, proved, ok bool) {
	at := inferior.Ptr[request](a)
	r, err := w.u.Request.Read(w.u.r, at)
	if err != nil || r.Flags&(flagSendTag|flagProtoSend) == 0 || r.Flags&flagCompleted != 0 || !w.owns(r.Endpoint) {
		return transport.Send{}, false, false
	}
	s, ok, err = w.u.send(requestAt{at, r})
	return s, r.ID == uint64(a), ok && err == nil
}

// ReceiveAt returns the receive that has matched whose request stands at a, outside of the
// pool and of all queues ([transport.Matcher]).
func (w *Worker) ReceiveAt(a inferior.Addr) (transport.Receive, bool) {
	at := inferior.Ptr[request](a)
	r, err := w.u.Request.Read(w.u.r, at)
	if err != nil || w.posted[at] || r.Flags&flagRecvTag == 0 || r.Flags&flagCompleted != 0 || r.Worker != w.at {
		return transport.Receive{}, false
	}
	return w.u.receive(requestAt{at, r}, transport.Matched), true
}

// length is a number of bytes, -1 for one that can't be.
func length(v uint64) int64 {
	if v > math.MaxInt64 {
		return -1
	}
	return int64(v)
}
