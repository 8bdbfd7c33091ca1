package mpir

import (
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// attached is what a process, a session or a communicator has from 4.2 on once a buffer was attached to it
// (src/include/mpir_bsend.h).
type attached struct {
	IsAutomatic int32                      `c:"is_automatic"`
	Buffer      inferior.Addr              `c:"u.user.buffer"`
	Size        uint64                     `c:"u.user.buffer_size"`
	Active      inferior.Ptr[bufferedSend] `c:"u.user.active"`
}

// bufferedSend stands in an attached buffer before the data of a send that is under way, or of which the library has yet
// to notice that it is not.
type bufferedSend struct {
	Next    inferior.Ptr[bufferedSend] `c:"next"`
	Request inferior.Ptr[Request]      `c:"request"`
}

// attachedBuffer is what is known of one.
type attachedBuffer struct {
	attached
	sends map[inferior.Ptr[Request]]bool
}

// attachedTo are the buffers that sends on a communicator may have been put into: its own, its session's and the process's.
// It is false if that is not known.
func (l *Library) attachedTo(c *Communicator) ([]*attachedBuffer, bool) {
	if _, tells := inferior.OffsetOf(&l.c.Process, func(p *Process) *inferior.Ptr[attached] { return &p.Attached }); !tells || !l.c.Attached.Bound() {
		return l.attachedToAll()
	}
	own := []inferior.Ptr[attached]{l.Process.Attached, c.Attached}
	if s, err := l.o.session.Session.Read(l.Reader, c.Session); c.Session != 0 && l.o.session.Session.Bound() && err == nil {
		own = append(own, s.Attached)
	}
	var out []*attachedBuffer
	for _, at := range own {
		if at == 0 {
			continue
		}
		b, err := l.attachedAt(at)
		if err != nil {
			return nil, false
		}
		out = append(out, b)
	}
	return out, true
}

// attachedToAll is the buffer that sends on all communicators are put into, up to 4.1. A stripped library hides where it is.
func (l *Library) attachedToAll() ([]*attachedBuffer, bool) {
	if !l.hasOneBuffer() {
		return nil, false
	}
	sym := l.Symbols[symBsend]
	at := inferior.Ptr[attached](sym.Addr)
	if b := l.buffers[at]; b != nil {
		return []*attachedBuffer{b}, true
	}
	b, err := l.c.Bsend.Read(l.Reader, inferior.Ptr[bsend](sym.Addr))
	if err != nil {
		return nil, false
	}
	return []*attachedBuffer{l.keepBuffer(at, attached{Buffer: b.Buffer, Size: b.Size, Active: b.Active})}, true
}

// hasOneBuffer says whether it is known where that is.
func (l *Library) hasOneBuffer() bool {
	_, ok := l.Symbols[symBsend]
	return ok && l.c.Bsend.Bound() && !l.IsHidden()
}

// attachedAt reads one, once.
func (l *Library) attachedAt(at inferior.Ptr[attached]) (*attachedBuffer, error) {
	if b := l.buffers[at]; b != nil {
		return b, nil
	}
	a, err := l.c.Attached.Read(l.Reader, at)
	if err != nil {
		return nil, err
	}
	return l.keepBuffer(at, a), nil
}

// keepBuffer reads the sends of a buffer.
func (l *Library) keepBuffer(at inferior.Ptr[attached], a attached) *attachedBuffer {
	b := &attachedBuffer{attached: a, sends: map[inferior.Ptr[Request]]bool{}}
	if a.IsAutomatic == 0 && l.c.Buffered.Bound() {
		var of bufferedSend
		next := func(at inferior.Ptr[bufferedSend]) (inferior.Ptr[bufferedSend], error) {
			var err error
			of, err = l.c.Buffered.Read(l.Reader, at)
			return of.Next, err
		}
		for _, err := range inferior.Walk(a.Active, 0, maxObjects, next) {
			if err != nil {
				break // where their data is tells the others
			}
			b.sends[of.Request] = true
		}
	}
	if l.buffers == nil {
		l.buffers = map[inferior.Ptr[attached]]*attachedBuffer{}
	}
	l.buffers[at] = b
	return b
}

// isBuffered tells the library's own send of what MPI_Bsend has put into an attached buffer.
func (l *Library) isBuffered(r *Operation, a Arguments, c *Communicator) bool {
	if a.Datatype.Known && !isBytes(a.Datatype.Value) {
		return false
	}
	buffers, _ := l.attachedTo(c)
	for _, b := range buffers {
		if b.IsAutomatic == 0 && (b.sends[r.At] || a.Buffer.Known && isIn(a.Buffer.Value, b.Buffer, b.Size)) {
			return true
		}
	}
	return false
}

// isIn says whether an address is in size bytes at another one.
func isIn(a, at inferior.Addr, size uint64) bool { return a >= at && a-at < inferior.Addr(size) }

// isBytes says whether a handle is what a buffered send has: MPI_PACKED, and from 5.0 on the library's own type for bytes.
func isBytes(datatype uint32) bool {
	of, isOwn := programsDatatype(datatype)
	return of == packed || isOwn && (of == byteType || of&handleNumber == 0 && of>>8&0xff == 1)
}

// TellsBuffered says whether a buffered send on a communicator is known from others. A stripped library hides where buffers
// are, and of one that it makes itself (MPI_BUFFER_AUTOMATIC) MPICH forgets sends that are under way.
func (l *Library) TellsBuffered(c *Communicator) bool {
	if l.hasOneBuffer() {
		return true
	}
	buffers, ok := l.attachedTo(c)
	return ok && !slices.ContainsFunc(buffers, func(b *attachedBuffer) bool { return b.IsAutomatic != 0 })
}

// mayBeBuffered says whether a send that is not known to be buffered may be so.
func (l *Library) mayBeBuffered(a Arguments, c *Communicator) bool {
	return a.Datatype.Known && isBytes(a.Datatype.Value) && !l.TellsBuffered(c)
}
