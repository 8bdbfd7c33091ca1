package ob1

import (
	"cmp"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
)

// isInactive tells a persistent request that is not started, nor was freed.
func isInactive(r request) bool {
	return r.State == ompi.RequestInactive && r.Persistent && !r.FreeCalled
}

// inactive is what a request would do that is not started; false if its communicator is not known.
func (q *queues) inactive(at inferior.Addr, r request, kind string) (mqs.InactiveRequest, bool) {
	c := q.CommAt(r.Comm)
	if c == nil {
		return mqs.InactiveRequest{}, false
	}
	out := mqs.InactiveRequest{Request: at, Kind: kind, Comm: c.Model.UniqueID, Peer: mqs.Known(r.Peer), Tag: mqs.Known(r.Tag)}
	if r.Peer == ompi.AnySource {
		out.Peer = mqs.Known(int32(mqs.AnyRank))
	}
	return out, true
}

// Inactive are the persistent requests that are not started, by address; nil if not all could be read.
func (q *queues) Inactive() []mqs.InactiveRequest {
	all := q.allRequests()
	if all.sendErr != nil || all.recvErr != nil {
		return nil
	}
	slices.SortFunc(all.inactive, func(a, b mqs.InactiveRequest) int { return cmp.Compare(a.Request, b.Request) })
	return all.inactive
}

// noteInactive notes a request that is not started.
func (q *queues) noteInactive(out *requests, at inferior.Addr, r request, kind string) {
	if !isInactive(r) || len(out.inactive) >= mqs.MaxInactive {
		return
	}
	if i, ok := q.inactive(at, r, kind); ok {
		out.inactive = append(out.inactive, i)
	}
}
