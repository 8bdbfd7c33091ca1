package ofi

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// What a packet is (include/ofi_proto.h, prov/rxm/src/rxm.h, 1.17).
const (
	ctrlEager      = 0
	ctrlSegment    = 1
	ctrlRendezvous = 2
	opTagged       = 1 // ofi_op_tagged
	segmentFirst   = 1 // RXM_SAR_SEG_FIRST, in the low bits of a segment's data
	segmentMask    = 3
)

// States of a message that is on its way (enum rxm_proto_state, prov/rxm/src/rxm.h, 1.17).
const (
	stateEager         = 0  // RXM_TX
	stateSegment       = 4  // RXM_SAR_TX
	stateRendezvous    = 6  // RXM_RNDV_TX
	stateReadDoneWait  = 7  // RXM_RNDV_READ_DONE_WAIT
	stateWriteDataWait = 8  // RXM_RNDV_WRITE_DATA_WAIT
	stateWrite         = 11 // RXM_RNDV_WRITE
	stateReadDone      = 13 // RXM_RNDV_READ_DONE_RECVD
	stateWriteDoneSent = 16 // RXM_RNDV_WRITE_DONE_SENT
)

// Bounds on the pool of messages on their way.
const (
	maxEntries   = 1 << 20
	maxRegions   = 1 << 16
	maxEntrySize = 1 << 24
)

// readSends reads the messages that are on their way: the buffers of a pool that are not free.
func (e *Endpoint) readSends() error {
	if e.ep.TxPool == 0 {
		return nil
	}
	headers, err := e.readPool()
	if err != nil {
		return fmt.Errorf("the messages on their way: %w", err)
	}
	for _, h := range headers {
		at := inferior.Ptr[rxmTxBuf](h.Addr() + inferior.Addr(e.o.Header.Size()))
		b, err := e.o.Sent.Read(e.o.r, at)
		if err != nil {
			return err
		}
		if s, ok := e.send(at, b); ok {
			e.queues.Sends = append(e.queues.Sends, s)
		}
	}
	return nil
}

// send makes of a message on its way what it is to an MPI; false if it is none of a tagged send.
func (e *Endpoint) send(at inferior.Ptr[rxmTxBuf], b rxmTxBuf) (transport.Send, bool) {
	if b.Context == 0 || b.Packet.Op != opTagged {
		return transport.Send{}, false
	}
	out := transport.Send{Tag: b.Packet.Tag, TagKept: true}
	out.Addr, out.UserData, out.Length = at.Addr(), b.Context, length(b.Packet.Size)
	switch b.Packet.Type {
	case ctrlEager:
		if b.State != stateEager {
			return transport.Send{}, false
		}
		if e.domain.Dynamic { // the provider below has its envelope
			out.TagLost, out.TagKept, out.Length = true, false, -1
			return out, true
		}
	case ctrlSegment:
		if b.State != stateSegment || b.Packet.Segment&segmentMask != segmentFirst {
			return transport.Send{}, false
		}
	case ctrlRendezvous:
		switch b.State {
		case stateRendezvous, stateReadDoneWait, stateWriteDataWait:
		case stateWrite, stateReadDone, stateWriteDoneSent:
			out.State = transport.Matched
		default:
			return transport.Send{}, false
		}
		out.ID = messageID(b.Packet.MessageID)
	default:
		return transport.Send{}, false
	}
	// What the peer calls the connection tells the connection, if no other peer's is called so.
	if conns := e.connsCalled(b.Packet.ConnID); len(conns) == 1 {
		out.Peer = e.peerOfConn(conns[0])
	}
	return out, true
}

// readPool returns the headers of the buffers in use, in the order of their numbers. The pool proves
// its layout: regions know their pool and their place in the table, buffers their region and their number.
func (e *Endpoint) readPool() ([]inferior.Ptr[poolHeader], error) {
	o, at := e.o, e.ep.TxPool
	p, err := o.Pool.Read(o.r, at)
	if err != nil {
		return nil, err
	}
	least := uint64(o.Header.Size() + o.Sent.Size())
	isTooLarge := p.Entries > maxEntries || p.PerRegion > maxEntries || p.Regions > maxRegions || p.EntrySize > maxEntrySize
	if isTooLarge || p.EntrySize < least || p.PerRegion*p.Regions != p.Entries {
		return nil, fmt.Errorf("the pool at %s has %d buffers of %d bytes in %d regions", at, p.Entries, p.EntrySize, p.Regions)
	}
	if p.Regions == 0 {
		return nil, nil
	}
	table, err := inferior.ReadPointers(o.r, p.Table, int(p.Regions))
	if err != nil {
		return nil, err
	}
	var all []inferior.Ptr[poolHeader]
	var places []inferior.Range
	regions := make([]poolRegion, len(table))
	for i, region := range table {
		r, err := o.Region.Read(o.r, region)
		switch {
		case err != nil:
			return nil, err
		case r.Pool != at || r.Index != uint64(i):
			return nil, fmt.Errorf("the region at %s is not number %d of the pool at %s", region, i, at)
		}
		regions[i] = r
		for k := range p.PerRegion {
			header := inferior.Ptr[poolHeader](r.Memory + inferior.Addr(k*p.EntrySize) - inferior.Addr(o.Header.Size()))
			all = append(all, header)
			places = append(places, inferior.Range{Addr: header.Addr(), Len: int(least)})
		}
	}
	if err := o.r.Prefetch(places); err != nil {
		return nil, err
	}
	free := map[inferior.Ptr[poolHeader]]bool{}
	number := map[inferior.Ptr[poolHeader]]int{}
	for i, h := range all {
		header, err := o.Header.Read(o.r, h)
		switch {
		case err != nil:
			return nil, err
		case header.Index != uint64(i) || header.Region != table[uint64(i)/p.PerRegion]:
			return nil, fmt.Errorf("the buffer at %s is not number %d of its pool", h, i)
		}
		number[h] = i
	}
	next := func(h inferior.Ptr[poolHeader]) (inferior.Ptr[poolHeader], error) {
		if _, ok := number[h]; !ok {
			return 0, fmt.Errorf("the free buffer at %s is not one of the pool's", h)
		}
		header, err := o.Header.Read(o.r, h)
		free[h] = true
		return header.Next, err
	}
	for _, err := range inferior.Walk(p.Free, 0, len(all), next) {
		if err != nil {
			return nil, err
		}
	}
	var used []inferior.Ptr[poolHeader]
	for _, h := range all {
		if !free[h] {
			used = append(used, h)
		}
	}
	return used, nil
}
