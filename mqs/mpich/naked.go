package mpich

import (
	"errors"
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/transport"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
)

// nakedTypes are what of a stripped library's own objects can be read by the way of
// UCX's requests, which point at them. From 4.1 requests know their communicator.
type nakedTypes struct {
	Comm    inferior.Struct[nakedComm]    `c:"MPIR_Comm"`
	Request inferior.Struct[nakedRequest] `c:"MPIR_Request"`
}

type nakedComm struct {
	Handle      uint32        `c:"handle"`
	RefCount    int32         `c:"ref_count.v|ref_count"`
	Context     uint32        `c:"context_id"`
	RecvContext uint32        `c:"recvcontext_id"`
	Rank        int32         `c:"rank"`
	LocalSize   int32         `c:"local_size"`
	Kind        uint32        `c:"comm_kind"`
	Name        inferior.Text `c:"name"`
}

type nakedRequest struct {
	Handle   uint32        `c:"handle"`
	RefCount int32         `c:"ref_count.v|ref_count"`
	Kind     uint32        `c:"kind"`
	Comm     inferior.Addr `c:"comm"`
	// How data that is not contiguous is received: into a buffer that is unpacked later.
	Type       uint32        `c:"dev.ch4.netmod.ucx.s.type"`
	PackBuffer inferior.Addr `c:"dev.ch4.netmod.ucx.s.u.pack.pack_buf"`
	UserBuffer inferior.Addr `c:"dev.ch4.netmod.ucx.s.u.pack.user_buf"`
	Count      int64         `c:"dev.ch4.netmod.ucx.s.u.pack.count"`
}

// typeUnpack is a way of receiving (src/mpid/ch4/netmod/ucx/ucx_pre.h, 4.2 to 5.0).
const typeUnpack = 1

// errNothingToProve means that no request is there that could prove a layout.
var errNothingToProve = errors.New("no request is pending")

// openNaked finds the layout by which all requests of UCX lead to MPICH's own and to their
// communicators. It is nil if none fits: then less is known.
func (s *stripped) openNaked() *nakedTypes {
	t, err := inferior.Fit(s.r, inferior.Queries(&nakedTypes{}), nakedTables(), func(l *layout.Layouts) (*nakedTypes, error) {
		t := new(nakedTypes)
		if err := inferior.Bind(t, l); err != nil {
			return nil, err
		}
		return t, s.proveNaked(t)
	})
	if err != nil {
		return nil
	}
	return t
}

// proveNaked holds what tags say against what communicators say.
func (s *stripped) proveNaked(t *nakedTypes) error {
	proofs := 0
	for i := range s.queues.sends {
		r := &s.queues.sends[i]
		if r.State == transport.Complete || r.TagLost {
			continue
		}
		e := envelopeOf(r.Tag)
		c, err := s.nakedCommOf(t, s.requestOf(r), kindSend)
		if err != nil {
			return err
		}
		if c.Context != e.context&^contextCollective || c.Rank != e.source {
			return fmt.Errorf("a send on context %#x from rank %d is on communicator %#x with rank %d", e.context, e.source, c.Context, c.Rank)
		}
		proofs++
	}
	for i := range s.queues.receives {
		r := &s.queues.receives[i]
		if r.State == transport.Complete {
			continue
		}
		e := envelopeOf(r.Tag)
		c, err := s.nakedCommOf(t, r.UserData, kindRecv)
		if err != nil {
			return err
		}
		if c.RecvContext != e.context&^contextCollective {
			return fmt.Errorf("a receive on context %#x is on communicator %#x", e.context, c.RecvContext)
		}
		proofs++
	}
	if proofs == 0 {
		return errNothingToProve
	}
	return nil
}

// nakedCommOf reads the communicator of a request of MPICH's.
func (s *stripped) nakedCommOf(t *nakedTypes, at inferior.Addr, kind uint32) (nakedComm, error) {
	r, err := t.Request.ReadAt(s.r, at)
	if err != nil {
		return nakedComm{}, err
	}
	if err := proveHandle(r.Handle, storage(r.Handle), objectRequest, "a request"); err != nil || r.Kind != kind || r.RefCount <= 0 {
		return nakedComm{}, fmt.Errorf("at %s is no request of kind %d in use", at, kind)
	}
	c, err := t.Comm.ReadAt(s.r, r.Comm)
	if err != nil {
		return nakedComm{}, err
	}
	if err := proveHandle(c.Handle, storage(c.Handle), objectComm, "a communicator"); err != nil {
		return nakedComm{}, err
	}
	if c.RefCount <= 0 || c.LocalSize <= 0 || c.LocalSize > maxMembers || c.Rank < 0 || c.Rank >= c.LocalSize || c.Kind > commInter {
		return nakedComm{}, fmt.Errorf("the communicator at %s has rank %d of %d", r.Comm, c.Rank, c.LocalSize)
	}
	return c, nil
}
