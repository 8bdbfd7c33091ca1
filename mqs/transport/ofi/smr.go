package ofi

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// smr is an endpoint of the provider shm (smr_ep, prov/shm/src/smr.h), whose queues are of the kind that providers share.
type smr struct {
	*sharedQueue
	smrTaker
}

// smrTaker is what an endpoint of shm's does for whichever queue it takes messages for.
type smrTaker struct {
	smrTypes
	r  *inferior.Reader
	at inferior.Ptr[smrEP]
	ep smrEP
}

// smrTypes are those of the provider shm (prov/shm/src/smr.h, 2.1 to 2.4).
type smrTypes struct {
	EP    inferior.Struct[smrEP]    `c:"smr_ep"`
	Kept  inferior.Struct[smrKept]  `c:"smr_cmd_ctx"`
	Stack inferior.Struct[smrStack] `c:"smr_tx_fs"`
	Slot  inferior.Struct[smrSlot]  `c:"smr_tx_fs_entry"`
}

// smrEP begins with a util_ep.
type smrEP struct {
	Shared inferior.Ptr[shared]   `c:"srx"`
	Sends  inferior.Ptr[smrStack] `c:"tx_fs"`
}

// smrHeader is what is in front of data.
type smrHeader struct {
	Op     uint32 `c:"hdr.op"`
	Source uint16 `c:"hdr.op_src"`
	Size   uint64 `c:"hdr.size"`
	Tag    uint64 `c:"hdr.tag"`
}

// smrKept is what is kept of a message that has come.
type smrKept struct {
	Entry  inferior.Ptr[peerEntry] `c:"rx_entry"`
	EP     inferior.Ptr[smrEP]     `c:"ep"`
	Header smrHeader               `c:"cmd.msg"`
}

// smrStack are places for messages on their way, of which the free ones are on a list. A link of that stands in front of
// what a place is for (include/ofi_mem.h).
type smrStack struct {
	Size  uint64                     `c:"size"`
	Free  inferior.Addr              `c:"next"`
	Slots inferior.Embedded[smrSlot] `c:"entry"` // an array
}

type smrSlot struct {
	Message inferior.Embedded[uint8] `c:"buf"`
	Context inferior.Addr            `c:"buf.context"` // the MPI's
	Header  smrHeader                `c:"buf.cmd.msg"`
}

// Sources of data (enum, prov/shm/src/smr_util.h): from smrVector on, the sender still has it, but for smrSegments, which the
// receiver takes as they come.
const (
	smrVector   = 2 // smr_src_iov
	smrSegments = 4 // smr_src_sar
)

// maxSlots bounds the messages on their way.
const maxSlots = 1 << 16

func openSMR(e *Endpoint, l *layout.Layouts) (provider, error) {
	t, err := openSMRTaker(e.r, l, e.at)
	if err != nil {
		return nil, err
	}
	q, err := openShared(e, l, t.ep.Shared, t)
	if err != nil {
		return nil, err
	}
	return &smr{q, *t}, nil
}

func openSMRTaker(r *inferior.Reader, l *layout.Layouts, at inferior.Addr) (*smrTaker, error) {
	s := &smrTaker{r: r, at: inferior.Ptr[smrEP](at)}
	err := inferior.Bind(&s.smrTypes, l)
	if err != nil {
		return nil, err
	}
	s.ep, err = s.EP.Read(r, s.at)
	return s, err
}

func (s *smrTaker) kept(e *peerEntry) inferior.Range {
	return s.Kept.Range(inferior.Ptr[smrKept](e.Message), 1)
}

func (s *smrTaker) describe(at inferior.Ptr[peerEntry], e *peerEntry) (transport.Message, error) {
	k, err := s.Kept.Read(s.r, inferior.Ptr[smrKept](e.Message))
	switch {
	case err != nil:
		return transport.Message{}, err
	case k.EP != s.at || k.Entry != at:
		return transport.Message{}, fmt.Errorf("the message at %s is another endpoint's", at)
	case k.Header.Tag != e.Tag || k.Header.Op != opTagged:
		return transport.Message{}, fmt.Errorf("the message at %s has the tags %#x and %#x", at, k.Header.Tag, e.Tag)
	}
	return transport.Message{Tag: e.Tag, Peer: peerOf(e.Peer), Length: length(k.Header.Size), Beside: e.beside(),
		Rendezvous: k.Header.Source >= smrVector && k.Header.Source != smrSegments}, nil
}

// beside is what a sender has sent beside the tag.
func (e *peerEntry) beside() mqs.Maybe[uint64] {
	return mqs.Maybe[uint64]{Value: e.Data, Known: e.Flags&remoteData != 0}
}

// readSends reads the messages on their way: those that the peer has to fetch, or to acknowledge. Who that is is not read.
func (s *smr) readSends() error {
	sends, err := s.sending()
	if err != nil {
		return fmt.Errorf("the messages on their way: %w", err)
	}
	s.queues.Sends = sends
	return nil
}

func (s *smrTaker) sending() ([]transport.Send, error) {
	if s.ep.Sends == 0 {
		return nil, nil
	}
	stack, err := s.Stack.Read(s.r, s.ep.Sends)
	switch {
	case err != nil:
		return nil, err
	case stack.Size > maxSlots:
		return nil, fmt.Errorf("there are %d places for them", stack.Size)
	}
	first := stack.Slots.Ptr()
	if err := s.r.Prefetch([]inferior.Range{s.Slot.Range(first, int(stack.Size))}); err != nil {
		return nil, err
	}
	width := s.r.Info().PointerSize
	isFree := map[inferior.Addr]bool{} // by the place's link, false of one in use
	for i := range int(stack.Size) {
		isFree[s.linkOf(s.Slot.Index(first, i))] = false
	}
	next := func(link inferior.Addr) (inferior.Addr, error) {
		if _, ok := isFree[link]; !ok {
			return 0, fmt.Errorf("the free place at %s is not one of those", link)
		}
		isFree[link] = true
		after, err := s.r.Uint(link, width)
		return inferior.Addr(after), err
	}
	for _, err := range inferior.Walk(stack.Free, 0, maxSlots, next) {
		if err != nil {
			return nil, err
		}
	}
	var out []transport.Send
	for i := range int(stack.Size) {
		at := s.Slot.Index(first, i)
		if isFree[s.linkOf(at)] {
			continue
		}
		slot, err := s.Slot.Read(s.r, at)
		if err != nil {
			return nil, err
		}
		if slot.Header.Op == opTagged && slot.Context != 0 {
			send := transport.Send{Tag: slot.Header.Tag, TagKept: true}
			send.Addr, send.UserData, send.Length = at.Addr(), slot.Context, length(slot.Header.Size)
			out = append(out, send)
		}
	}
	return out, nil
}

// linkOf is where the link of a place is.
func (s *smrTaker) linkOf(at inferior.Ptr[smrSlot]) inferior.Addr {
	return s.Slot.Places(at).Message.Addr() - inferior.Addr(s.r.Info().PointerSize)
}
