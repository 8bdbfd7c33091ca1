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

// readSends reads the messages that are on their way: the buffers of a pool that are not free.
func (x *rxm) readSends() error {
	if x.ep.TxPool == 0 {
		return nil
	}
	buffers, err := x.pools.used(x.ep.TxPool, x.Sent.Size())
	if err != nil {
		return fmt.Errorf("the messages on their way: %w", err)
	}
	for _, b := range buffers {
		at := inferior.Ptr[rxmTxBuf](b)
		sent, err := x.Sent.Read(x.r, at)
		if err != nil {
			return err
		}
		if s, ok := x.send(at, sent); ok {
			x.queues.Sends = append(x.queues.Sends, s)
		}
	}
	return nil
}

// send makes of a message on its way what it is to an MPI; false if it is none of a tagged send.
func (x *rxm) send(at inferior.Ptr[rxmTxBuf], b rxmTxBuf) (transport.Send, bool) {
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
		if x.domain.Dynamic { // the provider below has its envelope
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
	if conns := x.connsCalled(b.Packet.ConnID); len(conns) == 1 {
		out.Peer = x.peerOfConn(conns[0])
	}
	return out, true
}
