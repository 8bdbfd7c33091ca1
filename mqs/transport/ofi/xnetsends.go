package ofi

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// What is said of an entry (prov/tcp/src/xnet.h, 1.18 to 2.6).
const (
	xnetInternal = 1 << 3  // XNET_INTERNAL_XFER
	xnetNeedsCTS = 1 << 11 // XNET_NEED_CTS
)

// xnetAnswers is the size of the array of those that wait for an answer (ofi_byte_idx_grow, src/indexer.c).
const xnetAnswers = 256

// readSends reads the messages on their way, by their sockets.
func (x *xnet) readSends() error {
	var conns []inferior.Ptr[xnetConn]
	var ranges []inferior.Range
	places := inferior.Places(&x.EP, x.at)
	err := eachIndexed(x.r, places.Conns.Addr(), places.ConnCounts.Addr(), func(at inferior.Addr) error {
		conns = append(conns, inferior.Ptr[xnetConn](at))
		ranges = append(ranges, inferior.RangeOf(&x.Conn, inferior.Ptr[xnetConn](at), 1))
		return nil
	})
	if err != nil {
		return err
	}
	if err := x.r.Prefetch(ranges); err != nil {
		return err
	}
	ranges = nil
	for _, at := range conns {
		c, err := x.Conn.Read(x.r, at)
		switch {
		case err != nil:
			return err
		case c.RDM != x.at:
			return fmt.Errorf("the connection at %s is another endpoint's", at)
		case c.Socket == 0: // it has been shut down
			continue
		}
		x.conns = append(x.conns, c)
		ranges = append(ranges, inferior.RangeOf(&x.Socket, c.Socket, 1), inferior.RangeOf(&x.PeerAddr, c.Peer, 1))
	}
	if err := x.r.Prefetch(ranges); err != nil {
		return err
	}
	var seen inferior.Addrs
	for i := range x.conns {
		if err := x.readSocket(&x.conns[i], &seen); err != nil {
			return fmt.Errorf("the messages on their way: %w", err)
		}
	}
	return nil
}

// readSocket reads the messages on their way to a peer: those that wait for an answer, the one that is being sent, those
// behind it, and those that the peer has not acknowledged.
func (x *xnet) readSocket(c *xnetConn, seen *inferior.Addrs) error {
	s, err := x.Socket.Read(x.r, c.Socket)
	switch {
	case err != nil:
		return err
	case s.SRX != x.ep.SRX:
		return fmt.Errorf("the socket at %s is another endpoint's", c.Socket)
	}
	peer := x.peerAt(c.Peer)
	read := func(at inferior.Ptr[xnetEntry]) (inferior.Ptr[xnetEntry], error) {
		e, err := x.Entry.Read(x.r, at)
		if err != nil {
			return 0, err
		}
		if out, ok := sendOf(at, &e); ok {
			out.Peer = peer
			x.queues.Sends = append(x.queues.Sends, out)
		}
		return e.Next, nil
	}
	alone, err := x.unanswered(s.Unanswered)
	if err != nil {
		return err
	}
	for _, at := range append(alone, s.Sending) {
		if at == 0 || !seen.Add(at.Addr()) {
			continue
		}
		if _, err := read(at); err != nil {
			return err
		}
	}
	for _, l := range []list{s.NeedAck, s.Queue} {
		if err := each(l, seen, read); err != nil {
			return err
		}
	}
	return nil
}

// unanswered reads the array of the messages that wait for an answer before their data is sent.
func (x *xnet) unanswered(array inferior.Ptr[xnetAnswer]) ([]inferior.Ptr[xnetEntry], error) {
	if array == 0 {
		return nil, nil
	}
	if err := x.r.Prefetch([]inferior.Range{inferior.RangeOf(&x.Answer, array, xnetAnswers)}); err != nil {
		return nil, err
	}
	var out []inferior.Ptr[xnetEntry]
	for i := range xnetAnswers {
		a, err := x.Answer.Read(x.r, inferior.At(&x.Answer, array, i))
		if err != nil {
			return nil, err
		}
		if a.Next == -1 {
			out = append(out, a.Message)
		}
	}
	return out, nil
}

// sendOf is what an entry is to an MPI; false if it is none of a tagged send.
func sendOf(at inferior.Ptr[xnetEntry], e *xnetEntry) (transport.Send, bool) {
	if e.Context == 0 || e.Flags&xnetInternal != 0 || !e.Header.isTagged() && e.Header.Op != xnetData {
		return transport.Send{}, false
	}
	out := transport.Send{Tag: e.Header.tag(), TagKept: true}
	out.Addr, out.UserData, out.Length = at.Addr(), e.Context, e.Header.length()
	if e.Header.Op == xnetData && e.Flags&xnetNeedsCTS == 0 {
		out.State = transport.Matched
	}
	return out, true
}
