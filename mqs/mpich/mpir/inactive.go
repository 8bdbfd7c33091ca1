package mpir

import (
	"cmp"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// Inactive are the persistent requests that are not started, by address (read.Keeper); nil if the requests
// can't be read. What one would do stands where its device keeps it.
func (s *Source) Inactive() []mqs.InactiveRequest {
	q := s.requests()
	if q.err != nil {
		return nil
	}
	out := []mqs.InactiveRequest{}
	for _, r := range q.byAddr {
		c := s.communicators().byID[r.Comm.Addr()]
		if r.Kind != kindPersistentSend && r.Kind != kindPersistentRecv || r.Real != 0 || c == nil {
			continue
		}
		a := s.device.Persistent(r)
		i := mqs.InactiveRequest{Request: r.At.Addr(), Kind: a.Kind, Comm: c.Model.UniqueID, Peer: a.Peer, Tag: a.Tag}
		if a.Peer.Known {
			i.Peer = s.lib.Negatives().source(a.Peer.Value)
		}
		if a.Tag.Known {
			i.Tag = mqs.Known(s.lib.Negatives().tag(a.Tag.Value))
		}
		out = append(out, i)
	}
	slices.SortFunc(out, func(a, b mqs.InactiveRequest) int { return cmp.Compare(a.Request, b.Request) })
	return out[:min(len(out), mqs.MaxInactive)]
}
