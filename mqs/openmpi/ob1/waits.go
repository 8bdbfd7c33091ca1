package ob1

import (
	"cmp"
	"maps"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/openmpi/ompi"
)

// Incomplete are the requests that are in use and not complete, in the order of their numbers.
func (q *queues) Incomplete() []ompi.Waitable { return waitables(q.incomplete()) }

func (q *queues) incomplete() []candidate {
	all := q.allRequests()
	var open []candidate
	add := func(at inferior.Addr, r request) {
		if r.State != ompi.RequestInactive && r.Complete != ompi.RequestCompleted {
			open = append(open, candidate{addr: at, request: r})
		}
	}
	for _, list := range all.sends {
		for _, r := range list {
			add(r.at.Addr(), r.Base)
		}
	}
	for _, list := range all.recvs {
		for _, r := range list {
			add(r.at.Addr(), r.Base)
		}
	}
	// Requests on several communicators may have the same number.
	slices.SortFunc(open, func(a, b candidate) int {
		return cmp.Or(int(int32(a.Sequence)-int32(b.Sequence)), cmp.Compare(a.addr, b.addr))
	})
	return open
}

// Probes are the requests on a call's part of the stack, which MPI_Probe has made, and those that
// it holds of MPI_Mprobe, which come from the library's list.
func (q *queues) Probes(c *callstack.Call) []ompi.Waitable {
	own := slices.DeleteFunc(q.incomplete(), func(r candidate) bool { return r.Type != typeMprobe || !c.CandidatePointers[r.addr] })
	for _, id := range slices.Sorted(maps.Keys(q.Comms)) {
		extra, _ := q.postedElsewhere(q.Comms[id]) // what can't be read has been said where it is shown
		for _, r := range extra {
			if c.OnStack(r.at.Addr()) {
				own = append(own, candidate{addr: r.at.Addr(), request: r.Base})
			}
		}
	}
	return waitables(own)
}

// Own are the requests of its own that a blocking call waits for. A call that waits has its mark in them where
// there are marks, and then waits for nothing that has none.
func (q *queues) Own(c *callstack.Call, _ []ompi.Waitable, _ bool) (own []ompi.Waitable, all bool) {
	if q.HasMarks() {
		return nil, false
	}
	_, sends := callstack.BlockingSends[c.Function]
	_, receives := callstack.BlockingRecvs[c.Function]
	switch {
	case sends && receives && ompi.IsWaiting(c):
		return ompi.Exchanged(c, func(class mqs.OpClass) []ompi.Waitable { return waitables(q.exchanged(c, class)) })
	case sends && receives:
		return nil, false
	case sends:
		return waitables(q.candidates(mqs.PendingSends).ownOf(c)), true
	}
	return waitables(q.candidates(mqs.PendingReceives).ownOf(c)), true
}

// exchanged returns the send or the receive of MPI_Sendrecv, which has one; none if it may be any of several.
func (q *queues) exchanged(c *callstack.Call, class mqs.OpClass) []candidate {
	of := q.candidates(class)
	may := of.heldBy(c)
	if class == mqs.PendingReceives {
		words := q.OwnWords(c)
		may = slices.DeleteFunc(may, func(r candidate) bool { return !words[r.addr] })
	}
	if may = of.newest(may); len(may) != 1 {
		return nil
	}
	return may
}

// Probed reads the request of MPI_Iprobe, which stands on the call's stack, or that of MPI_Improbe, which was taken
// from the library's list and is back there (ompi/mca/pml/ob1/pml_ob1_iprobe.c, 4.0 to 6.0). Nothing is known if
// there are several.
func (q *queues) Probed(c *callstack.Call) (ompi.Probed, bool) {
	all := q.allRequests()
	if all.recvErr != nil || all.elements == nil || !ompi.IsWaiting(c) && !matches(c) {
		return ompi.Probed{}, false
	}
	found := map[ompi.Probed]bool{}
	add := func(at inferior.Addr, want int32) {
		r, err := q.RecvRequest.Read(q.R, inferior.Ptr[recvRequest](at))
		if err == nil && r.Base.Type == want && q.CommAt(r.Base.Comm) != nil {
			found[ompi.Probed{Comm: r.Base.Comm, Source: r.Base.Peer, Tag: r.Base.Tag}] = true
		}
	}
	if c.Function == "MPI_Improbe" {
		for a := range c.CandidatePointers {
			if _, is := all.elements.Index(inferior.Ptr[recvRequest](a)); is {
				add(a, typeImprobe)
			}
		}
	} else {
		width := q.R.Info().PointerSize
		words, err := q.R.Pointers(c.Stack.Addr, c.Stack.Len/width)
		if err != nil {
			return ompi.Probed{}, false
		}
		for i, w := range words {
			if w == all.elements.Class().Addr() {
				add(c.Stack.Addr+inferior.Addr(i*width), typeIprobe)
			}
		}
	}
	for one := range found {
		return one, len(found) == 1
	}
	return ompi.Probed{}, false
}

// matches says whether a call has started a receive, which looks among the messages that have come.
func matches(c *callstack.Call) bool {
	return slices.ContainsFunc(c.Frames, func(f inferior.Frame) bool { return f.Function == "mca_pml_ob1_recv_req_start" })
}
