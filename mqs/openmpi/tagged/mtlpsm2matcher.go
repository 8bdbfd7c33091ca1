package tagged

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
	"github.com/mpi-queues/mpi-queues/mqs/transport/psm"
)

// psm2Matcher is queues of PSM2's with what pml cm and mtl psm2 know besides.
type psm2Matcher struct {
	mq     *psm.MQ
	of     *mtlPSM2
	queues transport.Queues
}

func (m *psm2Matcher) Addr() inferior.Addr { return inferior.Addr(m.of.module.MQ) }

func (m *psm2Matcher) Queues() *transport.Queues { return &m.queues }

// SendAt knows of no sends that nothing leads to ([transport.Matcher]).
func (m *psm2Matcher) SendAt(inferior.Addr) (s transport.Send, proved, ok bool) {
	return transport.Send{}, false, false
}

// ReceiveAt knows of no receives outside of the queues ([transport.Matcher]).
func (m *psm2Matcher) ReceiveAt(inferior.Addr) (transport.Receive, bool) {
	return transport.Receive{}, false
}

// join puts the two together. What PSM2 has of an operation leads to the mtl's request by its context, and that to the
// pml's.
func (m *psm2Matcher) join() error {
	m.queues = transport.Queues{Uncounted: true}
	has := map[inferior.Ptr[mtlRequest]]bool{}
	posted, err := m.mq.Posted()
	for i := range posted {
		if err == nil {
			err = m.take(&posted[i], has)
		}
	}
	if err != nil {
		return err
	}
	matched, err := m.mq.Matched()
	for i := range matched {
		if err == nil {
			err = m.takeMatched(&matched[i], has)
		}
	}
	if err != nil {
		return err
	}
	m.queues.Matched = append(m.queues.Matched, m.of.forgotten(has)...)
	if err := m.joinSends(); err != nil {
		return err
	}
	// By now the layout has proved itself: a process can be stopped while it changes a list.
	messages, err := m.mq.Messages()
	m.queues.UnexpectedErr = err
	for i := range messages {
		message, err := m.message(&messages[i])
		if err != nil {
			m.queues.UnexpectedErr = err
			break
		}
		m.queues.Unexpected = append(m.queues.Unexpected, message)
	}
	return nil
}

// requestOf is the mtl's request that is the context of one of PSM2's, which is of a kind and has a length.
func (m *psm2Matcher) requestOf(r *psm.Found, kind, length uint32) (inferior.Ptr[mtlRequest], psm2Request, error) {
	of, err := m.of.PSM2.Read(m.of.R, inferior.Ptr[psm2Request](r.Context))
	if err == nil && (of.Type != kind || of.Length != uint64(length)) {
		err = fmt.Errorf("the request at %s is of kind %d and %d bytes, and the mtl's at %s of kind %d and %d bytes", r.At, kind, length, r.Context, of.Type, of.Length)
	}
	return inferior.Ptr[mtlRequest](r.Context), of, err
}

// tagOf is the context and the tag of one of PSM2's tags.
func (m *psm2Matcher) tagOf(r *psm.Found) uint64 { return uint64(r.More)<<32 | uint64(r.Low) }

// take adds a posted receive.
func (m *psm2Matcher) take(r *psm.Found, has map[inferior.Ptr[mtlRequest]]bool) error {
	const sign, all = 1 << 31, 1<<32 - 1
	if r.SelMore != all || r.SelLow != all && r.SelLow != sign || r.SelHigh != all && r.SelHigh != 0 || r.Peer != 0 {
		return fmt.Errorf("the receive at %s compares other bits of tags than mtl psm2 does", r.At)
	}
	at, of, err := m.requestOf(r, psm2Receive, r.Capacity)
	if err != nil {
		return err
	}
	out := transport.Receive{Tag: m.tagOf(r), Mask: all<<32 | uint64(r.SelLow), Sequence: r.Time,
		Beside: mqs.Maybe[uint64]{Value: uint64(r.High), Known: r.SelHigh != 0}}
	out.Length, out.Buffer = int64(r.Capacity), r.Buffer
	has[at] = true
	m.queues.Posted = append(m.queues.Posted, m.of.owned(out, at, of.Request, of.Data))
	return nil
}

// takeMatched adds a receive that has matched. What it has asked for is kept only of one that is started again and again: a
// message that came before its receive stands with what a former receive has asked for.
func (m *psm2Matcher) takeMatched(r *psm.Found, has map[inferior.Ptr[mtlRequest]]bool) error {
	at, of, err := m.requestOf(r, psm2Receive, r.Capacity)
	if err != nil {
		return err
	}
	out := m.of.owned(transport.Receive{Tag: m.tagOf(r), Mask: ^uint64(0), AskLost: true}, at, of.Request, of.Data)
	if k := m.of.requests.at(of.Request); k != nil && !k.askLost {
		out = k.asks(out.Request)
	}
	out.State, out.Length, out.Buffer = transport.Matched, int64(r.Capacity), r.Buffer
	out.SenderTag, out.SenderBeside, out.Received = m.tagOf(r), mqs.Known(uint64(r.High)), int64(r.Length)
	if r.Error != 0 {
		out.Received = -1
	}
	has[at] = true
	m.queues.Matched = append(m.queues.Matched, out)
	return nil
}

// joinSends puts the pml's sends to what PSM2 has of their messages, and adds those of blocking calls, which it alone
// has, and without their receiver.
func (m *psm2Matcher) joinSends() error {
	all, err := m.mq.Sends()
	if err != nil {
		return err
	}
	under := map[inferior.Ptr[mtlRequest]]transport.Send{}
	var ofCalls []transport.Send
	for i := range all {
		r := &all[i]
		out := transport.Send{Tag: m.tagOf(r), TagKept: true}
		out.Addr, out.Length = r.At.Addr(), int64(r.Length)
		if r.Flags&psm.IsOfCall != 0 {
			out.Buffer, out.OfCall, out.ID = r.Buffer, true, uint64(r.At)
			ofCalls = append(ofCalls, out)
			continue
		}
		at, _, err := m.requestOf(r, psm2Send, r.Length)
		if err != nil {
			return err
		}
		out.Peer = transport.Peer{Value: uint64(r.Peer), Known: r.Peer != 0}
		if isShared, err := m.mq.SharesMemory(r); err == nil && isShared {
			out.ID = uint64(r.At)
		}
		under[at] = out
	}
	m.queues.Sends = append(m.of.held(under), ofCalls...)
	return nil
}

// message is an unexpected message.
func (m *psm2Matcher) message(r *psm.Found) (transport.Message, error) {
	out := transport.Message{Addr: r.At.Addr(), Tag: m.tagOf(r), Beside: mqs.Known(uint64(r.High)), Length: int64(r.Length)}
	sender, waits, err := m.mq.Sender(r)
	if out.Rendezvous = waits; waits {
		out.Sender = uint64(sender)
	}
	if r.State == psm.Complete {
		out.Data = r.Buffer
	}
	return out, err
}

// MessageAt reads a message that MPI_Mprobe has taken.
func (m *psm2Matcher) MessageAt(a inferior.Addr) (transport.Message, error) {
	r, isTaken, err := m.mq.MessageAt(inferior.Ptr[psm.Request](a))
	if err == nil && !isTaken {
		err = fmt.Errorf("the message at %s has not been taken: %w", a, transport.ErrNoMessage)
	}
	if err != nil {
		return transport.Message{}, err
	}
	return m.message(&r)
}
