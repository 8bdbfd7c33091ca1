package openmpi

import (
	"maps"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs/transport"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// persistentAt is a persistent request of pml ucx that has been started.
type persistentAt struct {
	addr inferior.Addr
	ucxPersistent
}

// ucxPersistentSend is a flag of a persistent request (ompi/mca/pml/ucx/pml_ucx_request.h).
const ucxPersistentSend = 1 << 0

// ucxPersistents returns the persistent requests that have been started and not been
// collected: by the request that they have started or, once that is complete and no
// more, by their own address.
func (s *source) ucxPersistents(symbols map[string]inferior.Symbol) map[inferior.Addr]*persistentAt {
	out := map[inferior.Addr]*persistentAt{}
	module, ok := symbols[symUCX]
	if !ok || !s.UCXModule.Bound() || !s.UCXPersistent.Bound() {
		return out
	}
	list := inferior.Addr(s.UCXModule.Places(module.Addr).Persistent)
	err := s.eachElement(list, "the persistent requests of pml ucx", func(a inferior.Addr) error {
		p, err := s.UCXPersistent.ReadAt(s.r, a)
		switch {
		case err != nil || p.State != requestActive:
		case p.Complete == requestCompleted:
			out[a] = &persistentAt{a, p}
		case p.Started != 0:
			out[p.Started] = &persistentAt{a, p}
		}
		return err
	})
	if err != nil {
		s.notef("persistent requests may be shown as others: %v", err)
	}
	return out
}

// assignComplete adds the persistent requests of which nothing is left but that they are
// complete.
func (s *source) assignComplete(q *ucxQueues, persistent map[inferior.Addr]*persistentAt) {
	for _, a := range slices.Sorted(maps.Keys(persistent)) {
		p := persistent[a]
		if a != p.addr {
			continue
		}
		r := ucxRequest{handle: p.addr, started: p}
		id := s.byContext(q, envelopeOf(p.Tag).context)
		for _, c := range s.comms {
			if c.addr == p.Comm {
				id = c.model.UniqueID
			}
		}
		if p.Flags&ucxPersistentSend == 0 {
			q.receives[id] = append(q.receives[id], ucxReceive{transport.Receive{Request: transport.Request{State: transport.Complete}, Tag: p.Tag, Mask: p.Mask}, r})
			continue
		}
		out := ucxSend{Send: transport.Send{Request: transport.Request{State: transport.Complete}, Tag: p.Tag}, ucxRequest: r, peer: s.rankAt(s.comms[id], p.Endpoint)}
		q.sends[id] = append(q.sends[id], out)
	}
}
