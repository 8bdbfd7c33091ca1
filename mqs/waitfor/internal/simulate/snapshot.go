package simulate

import (
	"maps"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// firstPID is the process id of rank 0.
const firstPID = 100

// PID returns the process id of a rank.
func PID(rank int) int { return firstPID + rank }

// Snapshot returns what a decoder would read at this moment.
func (s *State) Snapshot() *mqs.Snapshot {
	out := &mqs.Snapshot{}
	for _, p := range s.procs {
		out.Processes = append(out.Processes, s.process(p))
	}
	return out
}

func (s *State) process(p *proc) *mqs.Process {
	out := &mqs.Process{PID: PID(int(p.rank)), GlobalRank: mqs.Known(p.rank), WorldSize: mqs.Known(int32(len(s.procs))), MPI: "Open MPI",
		Phase: p.phase, ThreadMultiple: mqs.Known(len(p.threads) > 1)}
	switch p.phase {
	case mqs.Exited:
		return out
	case mqs.Finished:
		out.Threads = []mqs.Thread{{Number: 1, Placed: true, Activity: mqs.Computes, Function: "main", File: "a.c", Line: 1}}
		return out
	}
	switch {
	case s.Job.CountsMessages:
	case s.Job.OnlyReceives:
		out.Progress = mqs.Known(p.waited)
	default:
		out.Progress = mqs.Known(p.completed)
	}
	if s.Job.ReportsArriving {
		out.Arriving = mqs.Known(slices.ContainsFunc(s.net, func(o *packet) bool { return o.to() == p }))
	}
	for _, of := range p.sides {
		if of != nil {
			out.Communicators = append(out.Communicators, s.queues(p, of))
		}
	}
	out.Threads = []mqs.Thread{}
	for i, t := range p.threads {
		if t.doing != over {
			out.Threads = append(out.Threads, s.thread(t, i+1))
		}
	}
	return out
}

// uniqueID differs from process to process.
func (of *side) uniqueID(p *proc) mqs.Maybe[inferior.Addr] {
	return mqs.Known(inferior.Addr(0x100*(of.id+1) + 0x10000*int(p.rank)))
}

func (s *State) queues(p *proc, of *side) *mqs.Queues {
	q := &mqs.Queues{Communicator: mqs.Communicator{UniqueID: of.uniqueID(p).Value, LocalRank: mqs.Known(of.local),
		Size: mqs.Known(int32(len(of.of.Groups[of.at]))), Name: mqs.Known(of.of.Name), Context: of.of.Context, Inter: mqs.Known(of.of.Inter),
		Group: global(of.of.Groups[of.at])}, Queue: [3]*mqs.Queue{{}, {}, {}}}
	if of.of.Inter {
		q.RemoteGroup = global(of.of.Groups[1-of.at])
	}
	for _, r := range of.requests {
		if (s.Job.ShowsInternal || !r.internal) && (!s.Job.DropsComplete || r.status != mqs.Complete) {
			op := r.operation()
			if m := r.message; m != nil && s.hasID(m) && r.status == mqs.Pending {
				op.MessageID = mqs.Known(r.address)
			}
			if s.Job.AnonymousSends && r.internal && r.class == mqs.PendingSends {
				op.Internal, op.Kind, op.DesiredTag, op.ActualTag = false, callstack.KindNotKnown, mqs.Maybe[int32]{}, mqs.Maybe[int32]{}
			}
			add(q, r.class, op)
		}
	}
	if s.Job.QueuesProbes {
		for _, t := range p.threads {
			if c := t.call(); t.doing == waits && c.probes() && c.Comm == of.id {
				r := request{kind: kindOf(c), peer: c.From, tag: c.For, status: mqs.Pending}
				op := r.operation()
				op.Request.Known = false
				add(q, mqs.PendingReceives, op)
			}
		}
	}
	for _, m := range of.unexpected {
		if s.Job.ShowsInternal || !m.internal {
			op := m.operation()
			if s.hasID(m) {
				op.MessageID = mqs.Known(m.id)
			}
			add(q, mqs.UnexpectedMessages, op)
		}
	}
	if s.Job.CountsMessages {
		q.Traffic = []mqs.Traffic{}
		peers := maps.Clone(of.sent)
		maps.Copy(peers, of.arrived)
		for _, peer := range slices.Sorted(maps.Keys(peers)) {
			q.Traffic = append(q.Traffic, mqs.Traffic{Peer: peer, Sent: of.sent[peer], Arrived: of.arrived[peer]})
		}
	}
	return q
}

// hasID says whether a message carries an id of its sender's. It does in libraries that count only
// the receives that had to wait.
func (s *State) hasID(m *message) bool {
	return m.how != eager && !s.Job.CountsMessages && s.Job.OnlyReceives
}

func add(q *mqs.Queues, class mqs.OpClass, op mqs.PendingOperation) {
	q.Queue[class].Operations = append(q.Queue[class].Operations, op)
	q.Queue[class].Total++
}

func global(group []int32) []mqs.Maybe[int32] {
	out := make([]mqs.Maybe[int32], len(group))
	for i, r := range group {
		out[i] = mqs.Known(r)
	}
	return out
}

func (r *request) operation() mqs.PendingOperation {
	op := mqs.PendingOperation{Status: r.status, Kind: r.kind, Internal: r.internal, DesiredLocalRank: mqs.Known(r.peer),
		TagWild: mqs.Known(r.tag == Any && !r.internal), Request: mqs.Known(inferior.Addr(r.address)), DesiredLength: mqs.Known(int64(100_000))}
	if !op.TagWild.Value {
		op.DesiredTag = mqs.Known(r.tag)
	}
	if m := r.message; m != nil {
		op.ActualTag, op.ActualLength = mqs.Known(m.tag), mqs.Known(m.length)
		if op.ActualLocalRank = mqs.Known(m.from); r.class == mqs.PendingSends {
			op.ActualLocalRank, op.DesiredLength = op.DesiredLocalRank, op.ActualLength
		}
	}
	return op
}

func (m *message) operation() mqs.PendingOperation {
	how := []string{"eager"}
	if m.how != eager {
		how = []string{mqs.Rendezvous}
	}
	return mqs.PendingOperation{ExtraText: how, Status: mqs.Pending, Internal: m.internal, DesiredLocalRank: mqs.Known(m.from), DesiredTag: mqs.Known(m.tag),
		TagWild: mqs.Known(false), ActualLocalRank: mqs.Known(m.from), ActualTag: mqs.Known(m.tag), ActualLength: mqs.Known(m.length)}
}

// thread returns where a thread is.
func (s *State) thread(t *thread, number int) mqs.Thread {
	c := t.call()
	out := mqs.Thread{Number: number, Placed: true, Function: "main", File: "a.c", Line: 100*number + t.pc}
	if s.Job.ReusesLines {
		out.Line = 100*number + slices.IndexFunc(t.calls, func(o Call) bool { return o.Name == c.Name })
	}
	switch {
	case t.doing == joins:
		out.Activity = mqs.Joins
		return out
	case t.doing == ready && c.Name == "MPI_Test" && len(t.outstanding) > 0:
		out.Call = c.Name
		return out
	case !t.isInside():
		out.Activity = mqs.Computes
		return out
	}
	out.Call = c.Name
	if c.probes() || isCollective(c.Name) {
		out.Comm = t.proc.sides[c.Comm].uniqueID(t.proc)
	}
	if slices.Contains(rooted, c.Name) {
		out.Root = mqs.Known(c.Root)
	}
	if c.probes() && !s.Job.QueuesProbes {
		out.Source, out.Tag = mqs.Known(c.From), mqs.Known(c.For)
	}
	if t.doing == waits {
		for _, r := range t.requests {
			if !isCollective(c.Name) || r.status != mqs.Complete {
				out.Requests = append(out.Requests, inferior.Addr(r.address))
			}
		}
		out.AllRequests = len(out.Requests) > 0
	}
	return out
}
