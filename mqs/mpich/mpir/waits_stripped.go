package mpir

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// A stripped library does not say what a call was given. What its messages tell of the call is in their tags: the
// communicator, and that they are of a collective.

// Tags of collectives' messages (src/include/mpir_tags.h, 4.0 to 5.0): those of blocking algorithms are fixed,
// those of schedules count up from the first one, and those that the program has given to MPI_Intercomm_create and to
// calls like it have a bit that no other has (MPIR_TAG_COLL_BIT, of the 31 bits that ch4:ucx has for tags).
const (
	lastBlockingTag  = 30
	firstScheduleTag = 287
	givenTag         = 1 << 28
)

// isOfSchedule says whether a tag is that of a schedule.
func isOfSchedule(tag int32) bool { return tag >= firstScheduleTag && tag < givenTag }

// MayWait says whether a call of which no function has a name may be where it waits: inside of it are the function
// that waits and the one that looks for messages, and it is not handing its message to UCX.
func MayWait(c *callstack.Call) bool {
	const inside = 2
	return len(c.Frames) > inside && !slices.ContainsFunc(c.Frames, func(f inferior.Frame) bool { return strings.HasPrefix(f.Function, "ucp_tag_") })
}

// isWaiting says whether a call may have come to where it waits.
func (s *Source) isWaiting(c *callstack.Call) bool {
	if s.lib.IsStripped {
		return MayWait(c) && !s.mayBeRefused(c)
	}
	return isWaiting(c)
}

// mayBeRefused says whether a call may still be handing over its message, without a request of its own: those that it
// holds are then others'. A synchronous send has one from the beginning (MPIDI_OFI_send_normal, 4.0).
func (s *Source) mayBeRefused(c *callstack.Call) bool {
	_, sends := callstack.BlockingSends[c.Function]
	return sends && c.Function != "MPI_Ssend" && s.device.MayRefuse()
}

// part is an incomplete message of a collective.
type part struct {
	*Operation
	tag int32
}

// parts are the incomplete messages of collectives, by whether they are of a blocking algorithm, or have a tag of the
// program's.
func (s *Source) parts() (blocking, given, scheduled []part) {
	q := s.requests()
	for _, list := range [][]*Operation{q.sends, q.receives} {
		for _, r := range list {
			c := s.communicators().byID[r.Comm.Addr()]
			if r.IsComplete() || c == nil || r.Owner != nil {
				continue
			}
			var a Arguments
			if r.Kind == KindSend {
				a = s.device.Send(r, c, "")
			} else {
				a = s.device.Receive(r, c, true)
			}
			switch {
			case a.Context != mqs.Known[uint32](ContextCollective) || !a.Tag.Known:
			case a.Tag.Value > 0 && a.Tag.Value <= lastBlockingTag:
				blocking = append(blocking, part{r, a.Tag.Value})
			case a.Tag.Value&givenTag != 0:
				given = append(given, part{r, a.Tag.Value})
			default:
				scheduled = append(scheduled, part{r, a.Tag.Value})
			}
		}
	}
	return blocking, given, scheduled
}

// givesTag says whether a call that makes a communicator was given a tag for its messages. All of these calls wait.
func givesTag(call string) bool {
	return strings.HasPrefix(call, "MPI_Intercomm_create") || call == "MPI_Comm_create_group" || call == "MPI_Comm_create_from_group"
}

// hasSchedule says whether a call that waits is carried out by a schedule, as non-blocking collectives are
// (MPIR_Neighbor_alltoall_allcomm_nb and the like, 4.0 to 5.0). Of other calls, messages of a schedule say nothing: they
// may be those of a collective that the program has begun before.
func hasSchedule(call string) bool { return strings.HasPrefix(call, "MPI_Neighbor_") }

// partsOf are the messages by which the library carries out a call, of which no others can be told apart: those of
// blocking algorithms are of calls that wait. Those of a schedule are known to be the call's only if there is no other.
func (s *Source) partsOf(c *callstack.Call, isAlone bool) (out []*Operation) {
	if !MayWait(c) || s.requests().err != nil || s.requests().postedErr != nil {
		return nil
	}
	own, given, scheduled := s.parts()
	if givesTag(c.Function) {
		own = append(own, given...)
	}
	if len(own) == 0 && hasSchedule(c.Function) && !slices.ContainsFunc(scheduled, func(p part) bool { return p.tag != scheduled[0].tag || p.Comm != scheduled[0].Comm }) {
		own = scheduled
	}
	for _, p := range own {
		if isAlone || c.CandidatePointers[p.At.Addr()] {
			out = append(out, p.Operation)
		}
	}
	if !isAlone && len(out) < len(own) {
		return nil // which of them are the other calls' is not known
	}
	return out
}

// makesCommunicator says whether a call makes a communicator of its own first, on which it goes on.
func makesCommunicator(call string) bool {
	return strings.HasPrefix(call, "MPI_Win_create") || strings.HasPrefix(call, "MPI_Win_allocate") || call == "MPI_File_open"
}

// commOfParts is the communicator that a collective was given, by its messages. These may be on a part of it that
// the library has made; nil if they do not tell.
func (s *Source) commOfParts(c *callstack.Call, parts []*Operation) *Communicator {
	if len(parts) == 0 || makesCommunicator(c.Function) {
		return nil
	}
	var out *Communicator
	for _, r := range parts {
		on := s.communicators().byID[r.Comm.Addr()]
		if on == nil {
			return nil
		}
		for _, may := range s.communicators().all {
			if !may.Model.Internal && may.RecvContext == on.RecvContext&^ContextOwn {
				on = may
				break
			}
		}
		if on.Model.Internal || out != nil && out != on {
			return nil
		}
		out = on
	}
	return out
}

// exchangedUnseen is the incomplete request of MPI_Sendrecv's own that it is known to wait for: the only one that it
// holds. Of several, some may be old values, since neither of its own need be there still.
func (s *Source) exchangedUnseen(c *callstack.Call) []*Operation {
	if !MayWait(c) {
		return nil
	}
	q := s.requests()
	held := slices.DeleteFunc(slices.Concat(s.heldBy(c, q.sends), s.heldBy(c, q.receives)), (*Operation).IsComplete)
	if len(held) != 1 || q.err != nil {
		return nil
	}
	return held
}

// mayAwait are the program's requests among which those are that a call waits for which waits for such requests: all that
// are incomplete. Of up to 64 requests the call has the addresses on its stack (MPIR_REQUEST_PTR_ARRAY_SIZE in
// src/include/mpir_request.h, 4.0 to 5.0); it holds that of one at least. It is nil if it holds none, or if others may
// be there.
func (s *Source) mayAwait(c *callstack.Call) (out []*Operation) {
	q := s.requests()
	if !MayWait(c) || q.err != nil || q.postedErr != nil {
		return nil
	}
	blocking, given, scheduled := s.parts()
	isPart := map[*Operation]bool{}
	for _, p := range slices.Concat(blocking, given, scheduled) {
		isPart[p.Operation] = true
	}
	isUnexpected := map[*Operation]bool{}
	for _, r := range q.unexpected {
		isUnexpected[r] = true
	}
	holds := false
	for _, r := range q.byAddr {
		if isPart[r] || isUnexpected[r] || r.Owner != nil || r.IsTaken() || s.lib.isInactive(r) || s.started(r).IsComplete() {
			continue
		}
		if r.Kind > kindPersistentRecv && !r.IsCollective() && !isPartitioned(r) {
			return nil
		}
		out = append(out, r)
		holds = holds || c.CandidatePointers[r.At.Addr()] || c.CandidatePointers[s.started(r).At.Addr()]
	}
	if !holds {
		return nil
	}
	slices.SortFunc(out, func(a, b *Operation) int { return cmp.Compare(a.At, b.At) })
	return out
}

// commHeld returns the communicator of a blocking probe: the only one whose address is in the registers or on the stack of
// the call. A probe polls its communicator until a message comes (src/mpi/pt2pt, 4.0 to 5.0), so that address is there; others
// may be left over from earlier calls. It returns nil if there are none or several.
func (s *Source) commHeld(c *callstack.Call) *Communicator {
	return s.onlyHeld(c, func(*Communicator) bool { return true })
}

// commOfCollective returns the communicator passed to a collective call, or to a collective that the call has called in turn. It is the
// program's only communicator whose address is in the registers or on the stack. Each of these functions hands the address to its error handler
// when it fails (MPIR_Err_return_comm in src/mpi/coll up to 3.4, later in what maint/local_python/binding_c.py writes), so that it is there until the function returns. It returns
// nil if several are there.
func (s *Source) commOfCollective(c *callstack.Call) *Communicator {
	takes := func(f inferior.Frame) bool { return takesComm[strings.TrimPrefix(f.Function, "P")] }
	if makesCommunicator(c.Function) || !takesComm[c.Function] && !slices.ContainsFunc(c.Frames, takes) {
		return nil
	}
	return s.onlyHeld(c, func(may *Communicator) bool { return !may.Model.Internal })
}

// takesComm has the blocking collectives that are given a communicator and no window or file.
var takesComm = map[string]bool{
	"MPI_Barrier": true, "MPI_Bcast": true, "MPI_Gather": true, "MPI_Gatherv": true, "MPI_Scatter": true, "MPI_Scatterv": true,
	"MPI_Allgather": true, "MPI_Allgatherv": true, "MPI_Alltoall": true, "MPI_Alltoallv": true, "MPI_Alltoallw": true,
	"MPI_Reduce": true, "MPI_Allreduce": true, "MPI_Reduce_scatter": true, "MPI_Reduce_scatter_block": true, "MPI_Scan": true, "MPI_Exscan": true,
	"MPI_Neighbor_allgather": true, "MPI_Neighbor_allgatherv": true, "MPI_Neighbor_alltoall": true, "MPI_Neighbor_alltoallv": true, "MPI_Neighbor_alltoallw": true,
	"MPI_Comm_dup": true, "MPI_Comm_dup_with_info": true, "MPI_Comm_split": true, "MPI_Comm_split_type": true, "MPI_Comm_create": true,
	"MPI_Cart_create": true, "MPI_Cart_sub": true, "MPI_Graph_create": true, "MPI_Dist_graph_create": true, "MPI_Dist_graph_create_adjacent": true,
}

// takesRoot has those of them that are given a root. The library's own functions inside of others have one, too.
var takesRoot = map[string]bool{"MPI_Bcast": true, "MPI_Gather": true, "MPI_Gatherv": true, "MPI_Scatter": true, "MPI_Scatterv": true, "MPI_Reduce": true}

// onlyHeld returns the only one of some communicators whose address is in the registers or on the stack of a call, nil if there are
// none or several.
func (s *Source) onlyHeld(c *callstack.Call, isMeant func(*Communicator) bool) (out *Communicator) {
	for _, may := range s.communicators().all {
		switch {
		case !c.CandidatePointers[may.At.Addr()] || !isMeant(may):
		case out != nil:
			return nil
		default:
			out = may
		}
	}
	return out
}
