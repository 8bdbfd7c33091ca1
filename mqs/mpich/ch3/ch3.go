// Package ch3 reads what MPICH's device ch3 keeps of requests, and the shared memory of its channel
// nemesis. The device matches all messages itself.
package ch3

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/mpich/mpir"
)

// Symbols that MPICH hides: a library has them until it is stripped.
const (
	symProcess    = "MPIDI_Process"                        // MPIDI_Process_t
	symRegion     = "MPID_nem_mem_region"                  // MPID_nem_mem_region_t
	symCompleted  = "MPIDI_CH3I_progress_completion_count" // MPL_atomic_int_t
	symPosted     = "recvq_posted_head"                    // MPIR_Request *
	symUnexpected = "recvq_unexpected_head"                // MPIR_Request *
)

// Symbols are the roots of what the device has.
func Symbols() []string {
	return []string{symProcess, symPosted, symUnexpected, symRegion, symCompleted}
}

// types are the C types of the device.
type types struct {
	// Dev is its part of a request.
	Dev     inferior.Struct[dev]     `c:"MPIR_Request"`
	Counter inferior.Struct[counter] `c:"MPL_atomic_int_t,optional"`
}

type counter struct {
	Value int32 `c:"v"`
}

// dev is MPIR_Request.dev. What a request does not use of it is stale.
type dev struct {
	Rank     int32         `c:"dev.match.parts.rank"`
	Tag      int32         `c:"dev.match.parts.tag"`
	Context  uint32        `c:"dev.match.parts.context_id"`
	Buffer   inferior.Addr `c:"dev.user_buf"`
	Count    int64         `c:"dev.user_count"`
	Datatype uint32        `c:"dev.datatype"`
	State    uint32        `c:"dev.state"`
	Tmpbuf   inferior.Addr `c:"dev.tmpbuf"`
}

// A request's state (src/mpid/ch3/include/mpidimpl.h, 4.0 to 5.0): two bits
// for how the message travels, and from the fifth on what the operation is.
const (
	stateEager      = 1
	stateRendezvous = 2
	stateMessage    = 0x3
	stateType       = 0x3f
	stateTypeShift  = 4
)

// kinds are the types of a request, and what MPI calls the operation.
var kinds = map[uint32]struct{ once, persistent string }{
	0: {"irecv", "recv_init"},
	1: {"isend", "send_init"},
	2: {"irsend", "rsend_init"},
	3: {"issend", "ssend_init"},
	4: {"ibsend", "bsend_init"},
}

// Device is the ch3 of one process. It is an [mpir.Device].
type Device struct {
	lib      *mpir.Library
	c        types
	groups   groupTypes
	arrivals arrivalTypes
	epochs   epochTypes
	// numbers of processes, by their virtual connection
	numbers map[inferior.Ptr[connection]]int32
}

// Types are the C types that a ch3 may have: pointers to structs as [inferior.Bind] binds.
func Types() []any { return []any{&types{}, &groupTypes{}, &arrivalTypes{}, &epochTypes{}} }

// Bind returns the device of a library. It fails if the library's layouts lack something.
func Bind(lib *mpir.Library) (*Device, error) {
	d := &Device{lib: lib, numbers: map[inferior.Ptr[connection]]int32{}}
	if err := inferior.Bind(&d.c, lib.Layouts); err != nil {
		return nil, err
	}
	if inferior.Bind(&d.epochs, lib.Layouts) != nil {
		d.epochs = epochTypes{}
	}
	if inferior.Bind(&d.arrivals, lib.Layouts) != nil {
		d.arrivals = arrivalTypes{} // of another release: what arrives is not known
	}
	if lib.HasGroups() {
		return d, nil
	}
	return d, inferior.Bind(&d.groups, lib.Layouts)
}

// Transport is the name of the device, whichever channel it uses.
func (d *Device) Transport() string { return "ch3" }

// Progress counts requests that are over (ch3_progress.c of the channel nemesis).
func (d *Device) Progress() mqs.Maybe[uint64] {
	at, ok := d.lib.Symbols[symCompleted]
	if !ok || !d.c.Counter.Bound() {
		return mqs.Maybe[uint64]{}
	}
	c, err := d.c.Counter.Read(d.lib.Reader, inferior.Ptr[counter](at.Addr))
	if err != nil {
		return mqs.Maybe[uint64]{}
	}
	return mqs.Known(uint64(uint32(c.Value)))
}

// Posted returns the first receive that nothing has matched.
func (d *Device) Posted() ([]inferior.Ptr[mpir.Request], error) { return d.head(symPosted) }

// Unexpected returns the first message that no receive has matched.
func (d *Device) Unexpected() ([]inferior.Ptr[mpir.Request], error) { return d.head(symUnexpected) }

func (d *Device) head(name string) ([]inferior.Ptr[mpir.Request], error) {
	sym, ok := d.lib.Symbols[name]
	if !ok {
		return nil, fmt.Errorf("the library has no symbol %s", name)
	}
	return inferior.ReadPointers(d.lib.Reader, inferior.Ptr[inferior.Ptr[mpir.Request]](sym.Addr), 1)
}

// arguments reads what the device keeps of a request.
func (d *Device) arguments(r *mpir.Operation) (dev, mpir.Arguments) {
	q, err := d.c.Dev.Read(d.lib.Reader, inferior.Ptr[dev](r.At))
	if err != nil {
		return q, mpir.Arguments{}
	}
	a := mpir.Arguments{Peer: mqs.Known(q.Rank), Tag: mqs.Known(q.Tag), Kind: kinds[q.State>>stateTypeShift&stateType].once}
	return q, a.WithBuffer(q.Buffer, q.Count, q.Datatype)
}

// Send returns what a send asks for.
func (d *Device) Send(r *mpir.Operation, c *mpir.Communicator, _ string) mpir.Arguments {
	q, a := d.arguments(r)
	a.Context = mqs.Known(q.Context - c.Context)
	return a
}

// Receive returns what a receive asks for. One that was posted before its message came keeps it.
// One that found its message there has that message's envelope instead, and
// nothing tells the two apart, but that a message has no wildcards.
func (d *Device) Receive(r *mpir.Operation, c *mpir.Communicator, isPending bool) mpir.Arguments {
	q, a := d.arguments(r)
	a.Kind = "irecv"
	a.Context = mqs.Known(q.Context - c.RecvContext)
	if !isPending && !r.IsCancelled() && q.Rank != d.lib.Negatives().AnySource && q.Tag != d.lib.Negatives().AnyTag {
		a.Peer, a.Tag = mqs.Maybe[int32]{}, mqs.Maybe[int32]{}
	}
	return a
}

// Persistent returns what a persistent request asks for.
func (d *Device) Persistent(r *mpir.Operation) mpir.Arguments {
	q, a := d.arguments(r)
	a.Kind = kinds[q.State>>stateTypeShift&stateType].persistent
	return a
}

// Matched returns the message of a receive that is in no list: it has matched, and its status is the message's.
func (d *Device) Matched(r *mpir.Operation) (mpir.Message, bool) {
	return mpir.Message{Source: mqs.Known(r.Source), Tag: r.Tag, Bytes: mqs.Known(r.Bytes())}, true
}

// Arrived describes a message that no receive has matched.
func (d *Device) Arrived(r *mpir.Operation) mpir.Message {
	q, _ := d.arguments(r)
	m := mpir.Message{Source: mqs.Known(q.Rank), Tag: q.Tag &^ mpir.TagErrorBits, Bytes: mqs.Known(r.Bytes()), Context: q.Context}
	switch q.State & stateMessage {
	case stateEager:
		m.Protocol = mqs.Eager
		if r.Bytes() > 0 {
			m.Buffer = q.Tmpbuf
		}
	case stateRendezvous:
		m.Protocol = mqs.Rendezvous
	}
	return m
}

// Taken describes a message that MPI_Mprobe has taken.
func (d *Device) Taken(r *mpir.Operation, _ *mpir.Communicator) mpir.Message { return d.Arrived(r) }
