package tagged

import (
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
)

// cmRequests are the requests of pml cm that are in use, those that are kept in its lists.
type cmRequests struct {
	sends, receives []cmAt // in the order of their making
	by              map[inferior.Ptr[ompi.Request]]*ownRequest
}

// at is what the request at an address says of itself, nil if it is none of these.
func (a *cmRequests) at(of inferior.Ptr[cmRequest]) *ownRequest {
	return a.by[inferior.Ptr[ompi.Request](of)]
}

// cmAt is a request and where it stands.
type cmAt struct {
	at inferior.Ptr[cmRequest]
	cmRequest
	mtl inferior.Ptr[mtlRequest]
}

// readRequests walks the two lists, whose allocations hold every request, used or not, once.
func (u *pmlCM) readRequests() error {
	all := &cmRequests{by: map[inferior.Ptr[ompi.Request]]*ownRequest{}}
	u.requests = all
	err := ompi.EachElement(u.Process, u.list(ompi.SymSendRequests), ompi.SymSendRequests, func(at inferior.Ptr[cmRequest]) error {
		r, err := u.CM.Read(u.R, at)
		if err != nil || r.Type > cmSendThin || !r.inUse() {
			return err
		}
		s := cmAt{at, r, u.mtlOf(at, r.Type)}
		k, err := u.keepSend(s)
		if err == nil {
			all.sends, all.by[inferior.Ptr[ompi.Request](at)] = append(all.sends, s), k
		}
		return err
	})
	if err != nil {
		return err
	}
	return ompi.EachElement(u.Process, u.list(ompi.SymRecvRequests), ompi.SymRecvRequests, func(at inferior.Ptr[cmRequest]) error {
		r, err := u.CM.Read(u.R, at)
		if err != nil || r.Type < cmReceiveHeavy || r.Type > cmReceiveThin || !r.inUse() {
			return err
		}
		s := cmAt{at, r, u.mtlOf(at, r.Type)}
		k, err := u.keepReceive(s)
		if err == nil {
			all.receives, all.by[inferior.Ptr[ompi.Request](at)] = append(all.receives, s), k
		}
		return err
	})
}

// inUse tells requests that stand for an operation: a free one is invalid, a persistent one that is not
// started inactive.
func (r *cmRequest) inUse() bool { return r.State == ompi.RequestActive }

// mtlOf is where the mtl's part of a request stands.
func (u *pmlCM) mtlOf(at inferior.Ptr[cmRequest], kind uint32) inferior.Ptr[mtlRequest] {
	switch kind {
	case cmSendHeavy:
		return inferior.Places(&u.HeavySend, inferior.Ptr[cmHeavy](at)).MTL.Ptr()
	case cmSendThin:
		return inferior.Places(&u.ThinSend, inferior.Ptr[cmThin](at)).MTL.Ptr()
	case cmReceiveHeavy:
		return inferior.Places(&u.Receive, inferior.Ptr[cmHeavy](at)).MTL.Ptr()
	}
	return inferior.Places(&u.ThinReceive, inferior.Ptr[cmThin](at)).MTL.Ptr()
}

// keep is what a request says of itself, whatever it is for.
func (u *pmlCM) keep(r cmAt) *ownRequest {
	k := &ownRequest{at: inferior.Ptr[ompi.Request](r.at), comm: r.Comm, isOnce: !r.Persistent, complete: r.Complete,
		message: status{source: r.Source, tag: r.Tag, length: r.Received, isCancelled: r.Cancelled}}
	// A buffered send that was collected is over for the program, and goes on.
	if r.Complete != ompi.RequestCompleted || r.FreeCalled {
		k.request = k.at
	}
	return k
}

// keepSend is what a send says of itself. Its status has the tag from the start (ompi/mca/pml/cm/pml_cm_sendreq.h,
// 4.1 to 6.0).
func (u *pmlCM) keepSend(r cmAt) (*ownRequest, error) {
	k := u.keep(r)
	k.isSend = true
	s, err := u.Send.Read(u.R, inferior.Ptr[cmSend](r.at))
	if err != nil {
		return nil, err
	}
	k.mode, k.data = s.Mode, u.sent(r)
	tag := r.Tag
	if r.Type == cmSendHeavy {
		h, err := u.HeavySend.Read(u.R, inferior.Ptr[cmHeavy](r.at))
		if err != nil {
			return nil, err
		}
		tag, k.rank = h.Tag, mqs.Known(h.Peer)
		if k.mode == ompi.ModeBuffered {
			u.keepBuffered(k, r, h)
		}
	}
	k.tag = u.tagOf(r.Comm, tag)
	return k, nil
}

// keepBuffered is what a buffered send says of its data, of which it notes the bytes. The convertor goes on with
// a copy, which is given back when the data has left.
func (u *pmlCM) keepBuffered(k *ownRequest, r cmAt, h cmHeavy) {
	size := u.DatatypeInfo(r.Datatype).Size
	k.data = data{buffer: h.Addr, datatype: r.Datatype, lacksCount: true}
	if size.Known && size.Value > 0 && h.Count%uint64(size.Value) == 0 {
		k.data.count, k.data.lacksCount = h.Count/uint64(size.Value), false
	}
	if !r.PMLDone && h.Count > 0 {
		k.copied = h.Copy
	}
}

// keepReceive is what a receive says of itself. One that is started once keeps no more than the mtl does.
func (u *pmlCM) keepReceive(r cmAt) (*ownRequest, error) {
	k := u.keep(r)
	k.data, k.mask = u.dataOf(r), ^uint64(0)
	if r.Type == cmReceiveThin {
		return k, u.ask(k, &r)
	}
	h, err := u.Receive.Read(u.R, inferior.Ptr[cmHeavy](r.at))
	if err != nil {
		return nil, err
	}
	k.tag, k.rank = u.tagOf(r.Comm, h.Tag), mqs.Known(h.Peer)
	if h.Tag == ompi.AnyTag {
		k.mask = ^u.tags().AnyTag
	}
	return k, nil
}

// tagOf is a message's tag in the transport, but for the sender's rank.
func (u *pmlCM) tagOf(comm inferior.Ptr[ompi.Communicator], tag int32) uint64 {
	tags := u.tags()
	out := tags.Tag.Truncate(uint64(tag))
	if c := u.CommAt(comm); c != nil {
		out |= tags.Context.Truncate(c.Index) << tags.Context.Shift
	}
	return out
}

// dataOf is where the data of a request is.
func (u *pmlCM) dataOf(r cmAt) data {
	c, err := u.Convertor.Read(u.R, r.Convertor.Ptr())
	if err != nil || c.Datatype != r.Datatype {
		return data{datatype: r.Datatype, lacksCount: true}
	}
	return data{buffer: c.Buffer, count: c.Count, datatype: c.Datatype}
}

// sent is where the data of a send is. Of contiguous data the convertor has the first byte, else the address that
// the program has given (mca_pml_cm_isend, ompi/mca/pml/cm, 4.1 to 6.0).
func (u *pmlCM) sent(r cmAt) data {
	out := u.dataOf(r)
	if t, err := u.Data.Read(u.R, inferior.Ptr[opalType](r.Datatype)); err == nil && t.Flags&typeContiguous != 0 && (out.count == 1 || t.Flags&typeNoGaps != 0) {
		out.buffer -= inferior.Addr(t.TrueLowerBound)
	}
	return out
}

// ownRequests are all requests that are in use: each keeps more than the transport does.
func (u *pmlCM) ownRequests() ([]ownRequest, error) {
	var out []ownRequest
	for _, list := range [][]cmAt{u.requests.sends, u.requests.receives} {
		for _, r := range list {
			out = append(out, *u.requests.by[inferior.Ptr[ompi.Request](r.at)])
		}
	}
	return out, nil
}

// persistentAt is a persistent request, started or not.
func (u *pmlCM) persistentAt(at inferior.Addr, class string) (ownRequest, bool) {
	isSend := class == u.HeavySend.Name()
	if !u.CM.Bound() || !isSend && class != u.Receive.Name() {
		return ownRequest{}, false
	}
	r, err := u.CM.Read(u.R, inferior.Ptr[cmRequest](at))
	if err != nil || !r.Persistent {
		return ownRequest{}, false
	}
	s := cmAt{inferior.Ptr[cmRequest](at), r, u.mtlOf(inferior.Ptr[cmRequest](at), r.Type)}
	keep := u.keepReceive
	if isSend {
		keep = u.keepSend
	}
	k, err := keep(s)
	if err != nil {
		return ownRequest{}, false
	}
	k.request = 0
	return *k, true
}
