package ofi

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// sm2 is an endpoint of the provider sm2 (sm2_ep, prov/sm2/src/sm2.h), whose queues are of the kind that providers share.
type sm2 struct {
	*sharedQueue
	sm2Taker
}

// sm2Taker is what an endpoint of sm2's does for whichever queue it takes messages for.
type sm2Taker struct {
	sm2Types
	r  *inferior.Reader
	at inferior.Ptr[sm2EP]
	ep sm2EP
}

// sm2Types are those of the provider sm2 (prov/sm2/src/sm2.h, prov/sm2/src/sm2_coordination.h, include/ofi_mem.h, 1.19 to
// 2.6).
type sm2Types struct {
	EP     inferior.Struct[sm2EP]     `c:"sm2_ep"`
	Kept   inferior.Struct[sm2Kept]   `c:"sm2_xfer_ctx"`
	Region inferior.Struct[sm2Region] `c:"sm2_region"`
	Stack  inferior.Struct[sm2Stack]  `c:"smr_freestack"`
	Slot   inferior.Struct[sm2Header] `c:"sm2_xfer_entry"`
	// Fetched is what a message has in front that the receiver fetches from the sender: 1.19 had none such.
	Fetched inferior.Struct[sm2Fetched] `c:"sm2_cma_data,optional"`
}

// sm2EP begins with a util_ep.
type sm2EP struct {
	Region inferior.Ptr[sm2Region] `c:"self_region"`
	// Number is what all endpoints call this one.
	Number uint32               `c:"gid"`
	Shared inferior.Ptr[shared] `c:"srx"`
	Pool   inferior.Ptr[pool]   `c:"xfer_ctx_pool"` // of what is kept of messages
}

// sm2Region is the endpoint's part of the memory that all endpoints share.
type sm2Region struct {
	StackAt int64 `c:"freestack_offset"` // from the region
}

// sm2Stack are places for messages on their way, of which the free ones are on a list.
type sm2Stack struct {
	SlotsAt uint64                   `c:"entry_base_offset"` // from the stack
	Width   uint64                   `c:"object_size"`
	Size    uint64                   `c:"size"`
	Free    int16                    `c:"free"`
	First   int16                    `c:"top"`
	Next    inferior.Embedded[int16] `c:"entry_next"` // an array: what follows each free place
}

// sm2Header is what is in front of data.
type sm2Header struct {
	Size    uint64        `c:"hdr.size"`
	Tag     uint64        `c:"hdr.tag"`
	Context inferior.Addr `c:"hdr.context"` // the MPI's
	Op      uint32        `c:"hdr.op"`
	How     uint16        `c:"hdr.proto"`
	Flags   uint16        `c:"hdr.proto_flags"`
	Sender  uint32        `c:"hdr.sender_gid"`
}

// sm2Kept is the copy of a message that has come.
type sm2Kept struct {
	EP     inferior.Ptr[sm2EP]      `c:"ep"`
	Header sm2Header                `c:"xfer_entry"`
	Data   inferior.Embedded[uint8] `c:"xfer_entry.user_data"`
}

type sm2Fetched struct {
	Parts uint64 `c:"iov_count"`
}

// How a message travels (enum, prov/sm2/src/sm2.h, from 1.20): all but the first have their data at the sender.
const (
	sm2Inject = 0 // sm2_proto_inject
	sm2CMA    = 1 // sm2_proto_cma
	sm2IPC    = 2 // sm2_proto_ipc
)

// What is said of a message (prov/sm2/src/sm2.h).
const (
	sm2Returned   = 1 << 0 // SM2_RETURN
	sm2Unexpected = 1 << 2 // SM2_UNEXP
	sm2Received   = 1 << 3 // SM2_GENERATE_COMPLETION
)

func openSM2(e *Endpoint, l *layout.Layouts) (provider, error) {
	t, err := openSM2Taker(e.r, l, e.at)
	if err != nil {
		return nil, err
	}
	q, err := openShared(e, l, t.ep.Shared, t)
	if err != nil {
		return nil, err
	}
	return &sm2{q, *t}, nil
}

func openSM2Taker(r *inferior.Reader, l *layout.Layouts, at inferior.Addr) (*sm2Taker, error) {
	s := &sm2Taker{r: r, at: inferior.Ptr[sm2EP](at)}
	err := inferior.Bind(&s.sm2Types, l)
	if err != nil {
		return nil, err
	}
	if s.ep, err = s.EP.Read(r, s.at); err != nil {
		return nil, err
	}
	return s, provePool(r, l, s.ep.Pool, s.Kept.Size())
}

func (s *sm2Taker) kept(e *peerEntry) inferior.Range {
	return inferior.RangeOf(&s.Kept, inferior.Ptr[sm2Kept](e.Message), 1)
}

// describe: the copy does not lead back to the entry, only to the endpoint.
func (s *sm2Taker) describe(at inferior.Ptr[peerEntry], e *peerEntry) (transport.Message, error) {
	k, err := s.Kept.Read(s.r, inferior.Ptr[sm2Kept](e.Message))
	switch {
	case err != nil:
		return transport.Message{}, err
	case k.EP != s.at:
		return transport.Message{}, fmt.Errorf("the message at %s is another endpoint's", at)
	case k.Header.Tag != e.Tag || k.Header.Op != opTagged:
		return transport.Message{}, fmt.Errorf("the message at %s has the tags %#x and %#x", at, k.Header.Tag, e.Tag)
	}
	m := transport.Message{Tag: e.Tag, Peer: peerOf(e.Peer), Length: length(k.Header.Size), Beside: e.beside()}
	switch k.Header.How {
	case sm2Inject:
		m.Data = k.Data.Addr()
	case sm2CMA, sm2IPC:
		m.Rendezvous = true
	default:
		return transport.Message{}, fmt.Errorf("the message at %s travels in a way that is not known, %d", at, k.Header.How)
	}
	return m, nil
}
