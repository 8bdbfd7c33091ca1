package ofi

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// smrStackTypes are those of shm where it has a stack for what is on its way (include/ofi_mem.h), by the names of either
// time. What they are for is the same (smr_tx_entry).
type smrStackTypes struct {
	Stack inferior.Struct[smrStack]
	Slot  inferior.Struct[smrSlot]
}

type smrLaterStack struct {
	Stack inferior.Struct[smrStack] `c:"smr_tx_fs"` // from 1.18
	Slot  inferior.Struct[smrSlot]  `c:"smr_tx_fs_entry"`
}

type smrFirstStack struct {
	Stack inferior.Struct[smrStack] `c:"smr_pend_fs"`
	Slot  inferior.Struct[smrSlot]  `c:"smr_pend_fs_entry"`
}

// smrStack are places for messages on their way, of which the free ones are on a list. A link of that stands in front of
// what a place is for.
type smrStack struct {
	Size  uint64                     `c:"size"`
	Free  inferior.Addr              `c:"next"`
	Slots inferior.Embedded[smrSlot] `c:"entry"` // an array
}

type smrSlot struct {
	Message inferior.Embedded[uint8] `c:"buf"`
	Context inferior.Addr            `c:"buf.context"` // the MPI's
	Peer    int64                    `c:"buf.peer_id"`
	Header  smrHeader                `c:"buf.cmd.msg"`
}

// maxSlots bounds the messages on their way.
const maxSlots = 1 << 16

// bind takes the names by which the endpoint calls its stack.
func (t *smrStackTypes) bind(l *layout.Layouts) error {
	if _, isLater := l.Field("smr_ep", "tx_fs"); isLater {
		var of smrLaterStack
		err := inferior.Bind(&of, l)
		*t = smrStackTypes(of)
		return err
	}
	var of smrFirstStack
	err := inferior.Bind(&of, l)
	*t = smrStackTypes(of)
	return err
}

func (s *smrCopies) sending() ([]transport.Send, error) {
	if s.stack == 0 {
		return nil, nil
	}
	stack, err := s.Stack.Read(s.r, s.stack)
	switch {
	case err != nil:
		return nil, err
	case stack.Size > maxSlots:
		return nil, fmt.Errorf("there are %d places for them", stack.Size)
	}
	first := stack.Slots.Ptr()
	if err := s.r.Prefetch([]inferior.Range{inferior.RangeOf(&s.Slot, first, int(stack.Size))}); err != nil {
		return nil, err
	}
	width := s.r.Info().PointerSize
	isFree := map[inferior.Addr]bool{} // by the place's link, false of one in use
	for i := range int(stack.Size) {
		isFree[s.linkOf(inferior.At(&s.Slot, first, i))] = false
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
		at := inferior.At(&s.Slot, first, i)
		if isFree[s.linkOf(at)] {
			continue
		}
		slot, err := s.Slot.Read(s.r, at)
		if err != nil {
			return nil, err
		}
		if slot.Header.Op == opTagged && slot.Context != 0 {
			send := transport.Send{Tag: slot.Header.Tag, TagKept: true, Peer: s.peers.named(slot.Peer)}
			send.Addr, send.UserData, send.Length = at.Addr(), slot.Context, length(slot.Header.Size)
			out = append(out, send)
		}
	}
	return out, nil
}

// linkOf is where the link of a place is.
func (s *smrCopies) linkOf(at inferior.Ptr[smrSlot]) inferior.Addr {
	return inferior.Places(&s.Slot, at).Message.Addr() - inferior.Addr(s.r.Info().PointerSize)
}
