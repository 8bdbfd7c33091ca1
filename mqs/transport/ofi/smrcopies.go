package ofi

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// smrCopies is an endpoint of shm's that copies the commands by which messages come. Its own stand on a stack while they
// are on their way.
type smrCopies struct {
	smrCopyTypes
	smrStackTypes
	r     *inferior.Reader
	at    inferior.Ptr[smrEP]
	stack inferior.Ptr[smrStack]
	peers *smrPeers
}

// smrCopyTypes are those of shm where it copies commands (prov/shm/src/smr.h, include/ofi_shm.h, 1.17 to 2.4).
type smrCopyTypes struct {
	EP   inferior.Struct[smrCopyEP] `c:"smr_ep"`
	Kept inferior.Struct[smrKept]   `c:"smr_cmd_ctx"`
}

type smrCopyEP struct {
	Sends inferior.Ptr[smrStack] `c:"tx_fs|pend_fs"` // the former from 1.18, where pend_fs is for what comes
	// Kept are for what is kept of messages: there was no pool of them at first.
	Kept   inferior.Ptr[pool]                    `c:"cmd_ctx_pool,optional"`
	KeptAt inferior.Embedded[inferior.Ptr[pool]] `c:"cmd_ctx_pool,optional"`
}

// smrHeader is what is in front of data.
type smrHeader struct {
	Op     uint32 `c:"hdr.op"`
	Source uint16 `c:"hdr.op_src"`
	Flags  uint16 `c:"hdr.op_flags"`
	Size   uint64 `c:"hdr.size"`
	Data   uint64 `c:"hdr.data"` // beside the tag
	Tag    uint64 `c:"hdr.tag"`
}

// smrKept is what is kept of a message that has come.
type smrKept struct {
	Entry   inferior.Ptr[peerEntry]                    `c:"rx_entry,optional"` // from 2.1
	EntryAt inferior.Embedded[inferior.Ptr[peerEntry]] `c:"rx_entry,optional"`
	EP      inferior.Ptr[smrEP]                        `c:"ep"`
	Header  smrHeader                                  `c:"cmd.msg"`
	// Saved are the segments that have come: up to 1.18 none was taken before there was a receive.
	Saved inferior.Embedded[list] `c:"buf_list,optional"`
}

// Sources of data (enum, include/ofi_shm.h, later prov/shm/src/smr_util.h): from smrVector on, the sender still has it,
// but for smrSegments where the receiver takes them as they come.
const (
	smrVector   = 2 // smr_src_iov
	smrSegments = 4 // smr_src_sar
	smrSources  = 6 // smr_src_max
)

// smrHasData says that there is data beside the tag (SMR_REMOTE_CQ_DATA).
const smrHasData = 1 << 0

func openSMRCopies(r *inferior.Reader, l *layout.Layouts, at inferior.Addr, peers *smrPeers) (*smrCopies, error) {
	s := &smrCopies{r: r, at: inferior.Ptr[smrEP](at), peers: peers}
	if err := inferior.Bind(&s.smrCopyTypes, l); err != nil {
		return nil, err
	}
	ep, err := s.EP.Read(r, inferior.Ptr[smrCopyEP](at))
	if err != nil {
		return nil, err
	}
	s.stack = ep.Sends
	_, doesLead := inferior.OffsetOf(&s.Kept, func(k *smrKept) *inferior.Ptr[peerEntry] { return &k.Entry })
	if !doesLead && ep.KeptAt != 0 {
		if err := provePool(r, l, ep.Kept, s.Kept.Size()); err != nil {
			return nil, err
		}
	}
	return s, s.bind(l)
}

func (s *smrCopies) kept(e *peerEntry) inferior.Range {
	return inferior.RangeOf(&s.Kept, inferior.Ptr[smrKept](e.Message), 1)
}

// describe: what is kept leads back to the endpoint, and in the later releases to the entry; where it does not, a pool has
// proved what it is.
func (s *smrCopies) describe(at inferior.Ptr[peerEntry], e *peerEntry) (transport.Message, error) {
	k, err := s.Kept.Read(s.r, inferior.Ptr[smrKept](e.Message))
	h := &k.Header
	switch {
	case err != nil:
		return transport.Message{}, err
	case k.EP != s.at || k.EntryAt != 0 && k.Entry != at:
		return transport.Message{}, fmt.Errorf("the message at %s is another endpoint's", at)
	case h.Tag != e.Tag || h.Op != opTagged:
		return transport.Message{}, fmt.Errorf("the message at %s has the tags %#x and %#x", at, h.Tag, e.Tag)
	case h.Source >= smrSources:
		return transport.Message{}, fmt.Errorf("the message at %s has its data in a place that is not known, %d", at, h.Source)
	}
	isTaken := h.Source == smrSegments && k.Saved != 0
	return transport.Message{Tag: e.Tag, Peer: peerOf(e.Peer), Length: length(h.Size), Rendezvous: h.Source >= smrVector && !isTaken,
		Beside: mqs.Maybe[uint64]{Value: h.Data, Known: h.Flags&smrHasData != 0}}, nil
}
