package psm

import (
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// wayTypes are those that tell by which way a peer is reached (psm_ep.h). Libfabric's users don't need them.
type wayTypes struct {
	Endpoint inferior.Struct[endpoint] `c:"psm2_ep"`
	Peer     inferior.Struct[Peer]     `c:"psm2_epaddr"`
	Sender   inferior.Struct[sender]   `c:"psm2_mq_req"`
}

type endpoint struct {
	MQ     inferior.Ptr[Queues]   `c:"mq"`
	Shared inferior.Embedded[way] `c:"ptl_amsh"`
	Self   inferior.Embedded[way] `c:"ptl_self"`
}

// way is how peers are reached: through memory, by the network card, or not at all as it is the process itself.
type way struct{}

// Peer is a peer as psm calls it.
type Peer struct {
	Way inferior.Ptr[way] `c:"ptlctl"`
}

// sender is what is kept of a rendezvous' sender.
type sender struct {
	// Request is the sender's own request, where both share memory.
	Request inferior.Ptr[Request] `c:"ptl_req_ptr"`
}

// ways are those of an endpoint.
type ways struct {
	wayTypes
	endpoint
}

// openWays reads the endpoint of queues, which leads back to them.
func (q *MQ) openWays(types wayTypes) error {
	e, err := types.Endpoint.Read(q.r, inferior.Ptr[endpoint](q.queues.PSM))
	switch {
	case err != nil:
		return err
	case e.MQ != q.at:
		return fmt.Errorf("the endpoint at %s has other queues than those at %s", q.queues.PSM, q.at)
	}
	q.ways = &ways{types, e}
	return nil
}

// Sender is the request of a rendezvous' sender by its address there, 0 if it is not known. The sender waits for an answer
// but where it is this process and has copied the data.
func (q *MQ) Sender(m *Found) (at inferior.Ptr[Request], waits bool, err error) {
	if m.State != Rendezvous {
		return 0, false, nil
	}
	p, err := q.ways.Peer.Read(q.r, m.Peer)
	if err != nil || p.Way != q.ways.Shared.Ptr() && p.Way != q.ways.Self.Ptr() {
		return 0, true, err
	}
	s, err := q.ways.Sender.Read(q.r, inferior.Ptr[sender](m.At))
	if err != nil || p.Way != q.ways.Self.Ptr() {
		return s.Request, true, err
	}
	own, err := q.read(s.Request)
	return s.Request, own.State != Complete, err
}

// SharesMemory says whether the receiver of a send is reached through memory, so that its message leads back to the send.
func (q *MQ) SharesMemory(s *Found) (bool, error) {
	p, err := q.ways.Peer.Read(q.r, s.Peer)
	return p.Way == q.ways.Shared.Ptr() || p.Way == q.ways.Self.Ptr(), err
}
