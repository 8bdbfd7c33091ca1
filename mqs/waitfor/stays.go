package waitfor

import (
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// A process that looks the same at two looks may have gone round a loop between them, and may have
// sent a message that is in transit. What its MPI counts may be no more than the receives that had
// to wait (UCX). So a process is known to have stayed in its call only if its messages are counted,
// if it could not leave without such a receive, or if it could not leave before its message was
// received by a process that has stayed.

// findStays finds the ranks that have started nothing since the previous look. Among ranks that wait
// for each other to receive, none can have been the first to go on.
func (j *job) findStays() {
	if len(j.past.Earlier) == 0 {
		return
	}
	then := newJob(&mqs.Snapshot{Processes: j.earlier()})
	j.then = then
	senders := map[int32][]int32{} // the ranks that have stayed if the receiver has, by receiver
	var moved []int32
	for i := range j.ranks {
		r := &j.ranks[i]
		receivers, ok := then.holding(j, r)
		if r.stays = ok; !ok {
			moved = append(moved, int32(i))
			continue
		}
		for _, to := range receivers {
			senders[to] = append(senders[to], int32(i))
		}
	}
	for len(moved) > 0 {
		last := moved[len(moved)-1]
		moved = moved[:len(moved)-1]
		for _, i := range senders[last] {
			if j.ranks[i].stays {
				j.ranks[i].stays = false
				moved = append(moved, i)
			}
		}
	}
}

// earlier returns the processes of the ranks as they were at the previous look.
func (j *job) earlier() []*mqs.Process {
	var out []*mqs.Process
	for i := range j.ranks {
		if p := j.ranks[i].process; p != nil && j.past.Earlier[p.PID] != nil {
			out = append(out, j.past.Earlier[p.PID])
		}
	}
	return out
}

// holding returns the ranks without which a rank could not leave the calls that it was in at the
// previous look; false if it may have left them. A rank that computes may have done anything.
func (then *job) holding(now *job, r *rank) ([]int32, bool) {
	if r.process == nil || now.past.Earlier[r.process.PID] == nil || r.moved {
		return nil, false
	}
	before := then.at(r.number)
	switch mobility, _ := now.mobility(r); {
	case r.gone():
		return nil, true
	case slices.ContainsFunc(r.process.Threads, func(t mqs.Thread) bool { return len(t.LockHolders) > 0 }):
		return nil, false // it may have had the lock since
	case !r.same || mobility != waiting || before == nil || before.process != now.past.Earlier[r.process.PID]:
		return nil, false
	case r.counts() && before.counts():
		return nil, true
	}
	then.match() // which is not needed where messages are counted
	var out []int32
	for _, t := range blockedIn(before.process) {
		receivers, ok := then.holdingIn(before, &t)
		if !ok {
			return nil, false
		}
		out = append(out, receivers...)
	}
	return out, true
}

// holdingIn is holding for one thread. A probe receives nothing, and the receive that follows it is
// assumed to be counted. A thread that leaves MPI_Finalize is seen to have left.
func (j *job) holdingIn(r *rank, t *mqs.Thread) ([]int32, bool) {
	b := behaviourOf(t)
	if b == probes || b == finalizes || b == asks && isProbeCall(t.Call) {
		return nil, true
	}
	ops, found := r.operationsAndCollectives(t.Requests)
	if len(t.Requests) == 0 && b == pointToPoint {
		if ops = r.operationsOfKind(t, func(kind string) bool { return kind == ownKind(t) }); len(ops) > 1 {
			return nil, false
		}
	}
	var receivers []int32
	holds, needsAll := 0, b == waitsAny || b == asks || t.SomeRequests
	for _, o := range ops {
		if o.request != nil {
			if !o.holds() {
				continue
			}
			if holds++; !needsAll {
				return nil, true
			}
			continue
		}
		switch to, isSent := j.unmatchedAt(r, o); {
		case o.op.Status != mqs.Pending:
		case o.class == mqs.PendingReceives:
			if holds++; !needsAll {
				return nil, true
			}
		case isSent:
			holds++
			receivers = append(receivers, to)
		}
	}
	if needsAll {
		return receivers, found && (t.AllRequests || t.SomeRequests) && holds == len(ops) && holds > 0
	}
	// Any one of them is enough.
	if len(receivers) > 0 {
		return receivers[:1], true
	}
	return nil, false
}

// unmatchedAt returns the receiver of a send, and whether the send's message is known to have been
// unexpected there.
func (j *job) unmatchedAt(r *rank, o dependency) (int32, bool) {
	if o.class != mqs.PendingSends || o.op.Status != mqs.Pending {
		return -1, false
	}
	s, ok := o.member.send(o.op)
	to := o.member.globalOf(o.op.DesiredLocalRank.Value)
	if !ok || to < 0 {
		return -1, false
	}
	lies := j.lieUnmatched(r, s)
	if !o.op.MessageID.Known && !lies { // this MPI has no ids of messages
		lies = j.unexpected.countAlike(s) >= j.sends.countAlike(s)
	}
	return to, lies
}
