package ofi

import (
	"errors"
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/layout"
	"github.com/mpi-queues/mpi-queues/mqs/transport"
)

// smrPending is an endpoint of shm's that leaves commands where their senders have them, in memory that is shared, until
// what they ask for is done. What it waits for itself is in a pool of its own.
type smrPending struct {
	smrPendingTypes
	pools
	r     *inferior.Reader
	at    inferior.Ptr[smrEP]
	ep    smrPendingEP
	peers *smrPeers
}

// smrPendingTypes are those of shm where commands stay with their senders (prov/shm/src/smr.h, smr_util.h, 2.5 and 2.6).
type smrPendingTypes struct {
	EP      inferior.Struct[smrPendingEP] `c:"smr_ep"`
	Kept    inferior.Struct[smrTaken]     `c:"smr_cmd_ctx"`
	Waiting inferior.Struct[smrWaiting]   `c:"smr_pend_entry"`
	Command inferior.Struct[smrCommand]   `c:"smr_cmd"`
}

type smrPendingEP struct {
	Waiting inferior.Ptr[pool] `c:"pend_pool"`
}

// smrTaken is what is kept of a message that has come.
type smrTaken struct {
	Entry   inferior.Ptr[peerEntry]       `c:"rx_entry"`
	EP      inferior.Ptr[smrEP]           `c:"ep"`
	Command inferior.Ptr[smrCommand]      `c:"cmd"`
	Copy    inferior.Embedded[smrCommand] `c:"cmd_cpy"`
	Copied  smrCommand                    `c:"cmd_cpy"`
}

// smrCommand is what is in front of data.
type smrCommand struct {
	Waiting inferior.Ptr[smrWaiting] `c:"hdr.tx_ctx"` // the sender's
	Size    uint64                   `c:"hdr.size"`
	Tag     uint64                   `c:"hdr.tag"`
	Peer    int16                    `c:"hdr.tx_id"` // by the sender's numbers
	Op      uint8                    `c:"hdr.op"`
}

// smrWaiting is a message that is sent, or one that comes in segments.
type smrWaiting struct {
	Type    uint8                    `c:"type"`
	Command inferior.Ptr[smrCommand] `c:"cmd"`
	Context inferior.Addr            `c:"comp_ctx"` // the MPI's
}

// smrSends is the type of a message that is sent (SMR_TX_ENTRY, prov/shm/src/smr.h).
const smrSends = 0

// errNoCommand means that sends are left out: a core may lack the memory that processes share.
var errNoCommand = errors.New("sends are left out whose commands can't be read")

func openSMRPending(r *inferior.Reader, l *layout.Layouts, at inferior.Addr, peers *smrPeers) (*smrPending, error) {
	s := &smrPending{r: r, at: inferior.Ptr[smrEP](at), peers: peers, pools: pools{r: r}}
	err := errors.Join(inferior.Bind(&s.smrPendingTypes, l), inferior.Bind(&s.poolTypes, l))
	if err != nil {
		return nil, err
	}
	if s.ep, err = s.EP.Read(r, inferior.Ptr[smrPendingEP](at)); err != nil {
		return nil, err
	}
	return s, provePool(r, l, s.ep.Waiting, s.Waiting.Size())
}

func (s *smrPending) kept(e *peerEntry) inferior.Range {
	return inferior.RangeOf(&s.Kept, inferior.Ptr[smrTaken](e.Message), 1)
}

// describe: what is kept leads back to the entry and the endpoint. The data of a message is with its sender for as long as
// the command is.
func (s *smrPending) describe(at inferior.Ptr[peerEntry], e *peerEntry) (transport.Message, error) {
	k, err := s.Kept.Read(s.r, inferior.Ptr[smrTaken](e.Message))
	c := &k.Copied
	isCopied := k.Command == k.Copy.Ptr()
	switch {
	case err != nil:
		return transport.Message{}, err
	case k.EP != s.at || k.Entry != at || k.Command == 0:
		return transport.Message{}, fmt.Errorf("the message at %s is another endpoint's", at)
	case isCopied && (c.Tag != e.Tag || c.Op != opTagged):
		return transport.Message{}, fmt.Errorf("the message at %s has the tags %#x and %#x", at, c.Tag, e.Tag)
	case isCopied && c.Size != e.Length:
		return transport.Message{}, fmt.Errorf("the message at %s has the lengths %d and %d", at, c.Size, e.Length)
	}
	return transport.Message{Tag: e.Tag, Peer: peerOf(e.Peer), Length: length(e.Length), Rendezvous: !isCopied, Beside: e.beside()}, nil
}

// sending reads what waits for peers. Its commands know it. Those that do not are left out, which [errNoCommand] says:
// by then the pool has proved the layout.
func (s *smrPending) sending() ([]transport.Send, error) {
	used, err := s.used(s.ep.Waiting, s.Waiting.Size())
	if err != nil {
		return nil, err
	}
	var waiting []smrWaiting
	var commands []inferior.Range
	for _, at := range used {
		w, err := s.Waiting.Read(s.r, inferior.Ptr[smrWaiting](at))
		if err != nil {
			return nil, err
		}
		waiting = append(waiting, w)
		if w.Type == smrSends {
			commands = append(commands, inferior.RangeOf(&s.Command, w.Command, 1))
		}
	}
	if err := s.r.Prefetch(commands); err != nil {
		return nil, err
	}
	var out []transport.Send
	var leftOut error
	for i, w := range waiting {
		if w.Type != smrSends || w.Context == 0 {
			continue
		}
		c, err := s.Command.Read(s.r, w.Command)
		if err == nil && c.Waiting.Addr() != used[i] {
			err = fmt.Errorf("the command at %s is that of %s", w.Command, c.Waiting)
		}
		switch {
		case err != nil:
			leftOut = fmt.Errorf("%w: that at %s: %w", errNoCommand, used[i], err)
		case c.Op == opTagged:
			send := transport.Send{Tag: c.Tag, TagKept: true, Peer: s.peers.named(int64(c.Peer))}
			send.Addr, send.UserData, send.Length = used[i], w.Context, length(c.Size)
			out = append(out, send)
		}
	}
	return out, leftOut
}
