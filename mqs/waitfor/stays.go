package waitfor

import "github.com/mpi-queues/mpi-queues/mqs"

// A process that looks the same at two moments may have gone round a loop meanwhile, and have
// sent a message that is in transit. What its MPI counts may be no more than the receives that
// have had to wait (UCX). So that it has stayed in its call is known only of one whose messages
// are counted, of one that could not leave without such a receive, and of one that could not
// leave before its message was received by another one that has stayed.

// findStays finds the ranks that have started nothing since they were looked at before. Of those
// that wait for each other to receive, none was the first to go on.
func (j *job) findStays() {
	if len(j.past.Earlier) == 0 {
		return
	}
	then := newJob(&mqs.Snapshot{Processes: j.earlier()})
	then.communicators()
	then.messages()
	senders := map[int32][]int32{} // by whom they need to stay
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

// earlier are the processes of the ranks as they were when they were looked at before.
func (j *job) earlier() []*mqs.Process {
	var out []*mqs.Process
	for i := range j.ranks {
		if p := j.ranks[i].process; p != nil && j.past.Earlier[p.PID] != nil {
			out = append(out, j.past.Earlier[p.PID])
		}
	}
	return out
}

// holding returns the ranks without which a rank of the job, as it is now, could not leave the
// calls that it was in then; false if it may have left them. One that computes does what it likes.
func (then *job) holding(now *job, r *rank) ([]int32, bool) {
	if r.process == nil || now.past.Earlier[r.process.PID] == nil || r.moved {
		return nil, false
	}
	before := then.at(r.number)
	switch mobility, _ := now.mobility(r); {
	case r.gone():
		return nil, true
	case !r.same || mobility != waiting || before == nil || before.process != now.past.Earlier[r.process.PID]:
		return nil, false
	case r.counts() && before.counts():
		return nil, true
	}
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

// holdingIn is holding for one thread. A probe takes nothing, and what follows it is taken to be
// counted; nobody leaves MPI_Finalize unseen.
func (j *job) holdingIn(r *rank, t *mqs.Thread) ([]int32, bool) {
	b := behaviours[t.Call]
	if b == probes || b == finalizes {
		return nil, true
	}
	ops, found := r.operations(t.Requests)
	if len(t.Requests) == 0 && b == pointToPoint {
		if ops = r.ofKind(t, func(kind string) bool { return kind == ownKind(t) }); len(ops) > 1 {
			return nil, false
		}
	}
	var receivers []int32
	holds := 0
	for _, o := range ops {
		switch to, isSent := j.liesWith(r, o); {
		case o.op.Status != mqs.Pending:
		case o.class == mqs.PendingReceives:
			if holds++; b != waitsAny {
				return nil, true
			}
		case isSent:
			holds++
			receivers = append(receivers, to)
		}
	}
	if b == waitsAny {
		return receivers, found && t.AllRequests && holds == len(ops) && holds > 0
	}
	// Any of them is enough.
	if len(receivers) > 0 {
		return receivers[:1], true
	}
	return nil, false
}

// liesWith returns the rank that a send's message is known to have lain with, unmatched.
func (j *job) liesWith(r *rank, o goal) (int32, bool) {
	if o.class != mqs.PendingSends || o.op.Status != mqs.Pending {
		return -1, false
	}
	s, ok := o.of.send(o.op)
	to := o.of.globalOf(o.op.DesiredLocalRank.Value)
	if !ok || to < 0 {
		return -1, false
	}
	lies := j.liesThere(r, s)
	if !o.op.MessageID.Known && !lies { // no message has one
		lies = j.unexpected.like(s) >= j.sends.like(s)
	}
	return to, lies
}
