package waitfor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// made is a made-up job, in which each rank has MPI_COMM_WORLD.
type made struct {
	*mqs.Snapshot
	next inferior.Addr // of requests
}

// madeRank is one of its ranks.
type madeRank struct {
	*mqs.Process
	of *made
	me int32
}

const (
	worldID = inferior.Addr(0x100)
	dupID   = inferior.Addr(0x200)
	wild    = mqs.AnyRank
)

func newMade(n int) *made {
	m := &made{Snapshot: &mqs.Snapshot{}, next: 0x1000}
	all := identity(n)
	for i := range n {
		m.Processes = append(m.Processes, &mqs.Process{PID: 100 + i, GlobalRank: mqs.Known(int32(i)), WorldSize: mqs.Known(int32(n)), MPI: "Open MPI",
			Phase: mqs.Active, Threads: []mqs.Thread{}, Communicators: []*mqs.Queues{{Communicator: mqs.Communicator{
				UniqueID: worldID, LocalRank: mqs.Known(int32(i)), Size: mqs.Known(int32(n)), Name: mqs.Known(world), Group: all, Context: "0"},
				Queue: [3]*mqs.Queue{{}, {}, {}}, Traffic: []mqs.Traffic{}}}})
	}
	return m
}

// known is a made-up job up to what its ranks wait for.
func known(m *made) *job {
	j := newJob(m.Snapshot)
	j.communicators()
	j.messages()
	j.findStays()
	j.findWaits()
	return j
}

func identity(n int) []mqs.Maybe[int32] {
	all := make([]mqs.Maybe[int32], n)
	for i := range all {
		all[i] = mqs.Known(int32(i))
	}
	return all
}

func (m *made) rank(i int) *madeRank { return &madeRank{m.Processes[i], m, int32(i)} }

// each calls f with the ranks.
func (m *made) each(f func(r *madeRank), ranks ...int) *made {
	for _, i := range ranks {
		f(m.rank(i))
	}
	return m
}

// comm adds a communicator to its members.
func (m *made) comm(id inferior.Addr, name string, ranks ...int32) {
	var group []mqs.Maybe[int32]
	for _, r := range ranks {
		group = append(group, mqs.Known(r))
	}
	for i, r := range ranks {
		p := m.Processes[r]
		p.Communicators = append(p.Communicators, &mqs.Queues{Communicator: mqs.Communicator{UniqueID: id, LocalRank: mqs.Known(int32(i)),
			Size: mqs.Known(int32(len(ranks))), Name: mqs.Known(name), Group: group, Context: fmt.Sprint(id)}, Queue: [3]*mqs.Queue{{}, {}, {}}, Traffic: []mqs.Traffic{}})
	}
}

func (r *madeRank) on(id inferior.Addr) *mqs.Queues {
	for _, c := range r.Communicators {
		if c.UniqueID == id {
			return c
		}
	}
	panic("no such communicator")
}

// thread puts another thread of the rank into a call.
func (r *madeRank) thread(call string, line int, requests ...inferior.Addr) *mqs.Thread {
	for _, c := range r.Communicators {
		for i := range c.Queue[mqs.PendingSends].Operations {
			// What a call has made is of its kind.
			op := &c.Queue[mqs.PendingSends].Operations[i]
			if kind, ok := callstack.BlockingSends[call]; ok && kind != callstack.KindNotKnown && slices.Contains(requests, op.Request.Value) {
				op.Kind = kind
			}
		}
	}
	r.Threads = append(r.Threads, mqs.Thread{Number: len(r.Threads) + 1, Placed: true, Call: call, Function: "main", File: "/src/a.c", Line: line,
		Requests: requests, AllRequests: len(requests) > 0})
	return &r.Threads[len(r.Threads)-1]
}

// uncounted lets the rank be of an MPI that does not count messages.
func (r *madeRank) uncounted() {
	for _, q := range r.Communicators {
		q.Traffic = nil
	}
}

// computes lets the rank be in its own code.
func (r *madeRank) computes() {
	t := r.thread("", 99)
	t.Function, t.Activity = "compute", mqs.Computes
}

// unlisted is a request that no queue has.
const unlisted = inferior.Addr(8)

// enters lets the rank be in a collective call, in which it waits for something
// that the snapshot does not have.
func (r *madeRank) enters(id inferior.Addr, call string) *mqs.Thread {
	t := r.thread(call, 20, unlisted)
	if id != 0 {
		t.Comm = mqs.Known(id)
	}
	return t
}

func (r *madeRank) add(id inferior.Addr, class mqs.OpClass, op mqs.PendingOperation) *mqs.PendingOperation {
	q := r.on(id).Queue[class]
	q.Operations = append(q.Operations, op)
	q.Total++
	return &q.Operations[len(q.Operations)-1]
}

// irecv posts a receive; its request is returned. Tag -1 is any.
func (r *madeRank) irecv(id inferior.Addr, from, tag int32) inferior.Addr {
	r.of.next += 0x10
	op := mqs.PendingOperation{Status: mqs.Pending, Kind: "irecv", DesiredLocalRank: mqs.Known(from), TagWild: mqs.Known(tag == -1),
		DesiredLength: mqs.Known(int64(8)), Request: mqs.Known(r.of.next)}
	if tag != -1 {
		op.DesiredTag = mqs.Known(tag)
	}
	r.add(id, mqs.PendingReceives, op)
	return r.of.next
}

// isend leaves a send pending, and its message with the receiver if it is to be there.
func (r *madeRank) isend(id inferior.Addr, to, tag int32, arrives bool) inferior.Addr {
	r.of.next += 0x10
	r.add(id, mqs.PendingSends, mqs.PendingOperation{Status: mqs.Pending, Kind: "isend", DesiredLocalRank: mqs.Known(to), TagWild: mqs.Known(false),
		DesiredTag: mqs.Known(tag), DesiredLength: mqs.Known(int64(8)), Request: mqs.Known(r.of.next)})
	if arrives {
		r.message(id, to, tag).ExtraText = []string{mqs.Rendezvous}
	}
	return r.of.next
}

// message lies with the receiver, sent eagerly or not.
func (r *madeRank) message(id inferior.Addr, to, tag int32) *mqs.PendingOperation {
	from := r.on(id)
	return r.of.rank(int(from.Group[to].Value)).add(id, mqs.UnexpectedMessages, mqs.PendingOperation{Status: mqs.Pending, DesiredLocalRank: from.LocalRank,
		TagWild: mqs.Known(false), DesiredTag: mqs.Known(tag), ActualLocalRank: from.LocalRank, ActualTag: mqs.Known(tag), ActualLength: mqs.Known(int64(8))})
}

// recv lets the rank be in MPI_Recv.
func (r *madeRank) recv(id inferior.Addr, from, tag int32) {
	r.thread("MPI_Recv", 10, r.irecv(id, from, tag))
	ops := r.on(id).Queue[mqs.PendingReceives].Operations
	ops[len(ops)-1].Kind = "recv"
}

// send lets the rank be in MPI_Send, its message with the receiver.
func (r *madeRank) send(id inferior.Addr, to, tag int32) {
	r.thread("MPI_Send", 11, r.isend(id, to, tag, true))
	ops := r.on(id).Queue[mqs.PendingSends].Operations
	ops[len(ops)-1].Kind = "send"
}

// counts sets a traffic count of a rank.
func (r *madeRank) counts(id inferior.Addr, peer int32, sent, arrived uint16) {
	q := r.on(id)
	q.Traffic = append(q.Traffic, mqs.Traffic{Peer: peer, Sent: sent, Arrived: arrived})
}

// states are those of the ranks, a letter for each.
func states(r *Report) string {
	letters := map[State]byte{InDeadlock: 'D', Stuck: 'S', Waiting: 'W', Running: 'R', Ended: 'E', Unreadable: 'U', Uncertain: 'N', BlockedOutside: 'B', Stopped: 'T'}
	n := 0
	for _, g := range r.Groups {
		n += len(g.Ranks)
	}
	out := []byte(strings.Repeat("?", n))
	for _, g := range r.Groups {
		for _, rank := range g.Ranks {
			out[rank] = letters[g.State]
		}
	}
	return string(out)
}

// cycles are the deadlocks in short: "0-1: 0>1 1>0".
func cycles(r *Report) string {
	var out []string
	for _, d := range r.Deadlocks {
		text := Ranges(d.Ranks) + ":"
		for _, w := range d.Cycle {
			text += fmt.Sprintf(" %d>%d", w.Rank, w.For)
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

// texts are the near misses, a line each.
func texts(r *Report) string {
	var out []string
	for _, m := range r.NearMisses {
		out = append(out, fmt.Sprintf("%s [%s]: %s", m.Kind, Ranges(m.Ranks), m.Text))
	}
	return strings.Join(out, "\n")
}

// past is that of a job that was looked at once, in which these ranks have run since.
func past(earlier *mqs.Snapshot, ran ...int) Past {
	p := Past{Looks: 1, Earlier: map[int]*mqs.Process{}, Ran: map[int]bool{}}
	for _, process := range earlier.Processes {
		p.Earlier[process.PID] = process
	}
	for _, rank := range ran {
		p.Ran[100+rank] = true
	}
	return p
}

// runsOn makes a job one of an MPI that counts only what a process has done, of which all ranks
// have run since the previous sample, and are stuck in the same place.
func (m *made) runsOn() Past {
	out := Past{Looks: 1, Again: true, Earlier: map[int]*mqs.Process{}, Ran: map[int]bool{}}
	for i, p := range m.Processes {
		p.PID, p.Progress = 100+i, mqs.Known[uint64](7)
		m.rank(i).uncounted()
		out.Earlier[p.PID], out.Ran[p.PID] = p, true
	}
	return out
}

// twice analyses a made-up job that is the same at two looks, between which all of its ranks have run.
func twice(m *made) *Report {
	past := Past{Looks: 1, Watched: time.Second, Earlier: map[int]*mqs.Process{}, Ran: map[int]bool{}}
	for i, p := range m.Processes {
		p.PID = i + 1
		past.Earlier[p.PID], past.Ran[p.PID] = p, true
	}
	return AnalyseLive(m.Snapshot, past)
}
