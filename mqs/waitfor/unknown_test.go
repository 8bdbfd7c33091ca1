package waitfor

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

var activities = []mqs.Activity{mqs.Computes, mqs.Sleeps, mqs.Joins, mqs.Blocks}

// claims are the verdicts that claim something.
func claim(v Verdict) Verdict {
	if v == Deadlocked || v == NoDeadlock {
		return v
	}
	return ""
}

// anyJob makes up a job of a few ranks of which everything is known, whether it could be or not.
func anyJob(rng *rand.Rand) *made {
	n := 1 + rng.IntN(4)
	m := newMade(n)
	if n > 1 && rng.IntN(2) == 0 {
		all := make([]int32, n)
		for i := range all {
			all[i] = int32(i)
		}
		m.comm(dupID, "dup", all...)
	}
	for i := range n {
		anyRank(rng, m.rank(i), n)
	}
	for range rng.IntN(3) {
		r := m.rank(rng.IntN(n))
		r.message(anyComm(rng, r), int32(rng.IntN(n)), int32(7+rng.IntN(2)))
	}
	for _, p := range m.Processes {
		if p.Phase != mqs.Active {
			p.Communicators = nil
		}
	}
	for i := range n {
		if m.Processes[i].Phase == mqs.Active && rng.IntN(4) == 0 { // a message in transit
			r := m.rank(i)
			r.counts(anyComm(rng, r), int32(rng.IntN(n)), uint16(rng.IntN(2)), 0)
		}
	}
	return m
}

func anyComm(rng *rand.Rand, r *madeRank) inferior.Addr {
	return r.Communicators[rng.IntN(len(r.Communicators))].UniqueID
}

func anyRank(rng *rand.Rand, r *madeRank, n int) {
	r.PID = 100 + int(r.me)
	r.ThreadMultiple = mqs.Known(rng.IntN(3) == 0)
	switch rng.IntN(16) {
	case 0:
		r.Phase, r.Threads = mqs.Exited, nil
		return
	case 1:
		r.Phase = mqs.Finished
		r.computes()
		return
	}
	anyThread(rng, r, n)
	switch rng.IntN(8) {
	case 0:
		r.computes()
		r.Threads[1].Activity = activities[rng.IntN(len(activities))]
	case 1:
		if r.ThreadMultiple.Value {
			anyThread(rng, r, n)
		}
	}
	for range rng.IntN(2) {
		r.irecv(anyComm(rng, r), int32(rng.IntN(n)), int32(7+rng.IntN(2)))
	}
	for range rng.IntN(2) {
		r.isend(anyComm(rng, r), int32(rng.IntN(n)), int32(7+rng.IntN(2)), rng.IntN(2) == 0)
	}
}

func anyThread(rng *rand.Rand, r *madeRank, n int) {
	on, peer, tag := anyComm(rng, r), int32(rng.IntN(n)), int32(7+rng.IntN(2))
	source := peer
	if rng.IntN(4) == 0 {
		source = wild
	}
	switch rng.IntN(12) {
	case 0:
		r.computes()
		r.Threads[len(r.Threads)-1].Activity = activities[rng.IntN(len(activities))]
	case 1, 2, 3:
		r.recv(on, source, tag)
	case 4:
		r.send(on, peer, tag)
	case 5:
		r.thread("MPI_Send", 11, r.isend(on, peer, tag, false))
	case 6:
		r.thread("MPI_Waitall", 12, r.irecv(on, source, tag), r.isend(on, peer, tag, rng.IntN(2) == 0))
	case 7:
		r.thread("MPI_Waitany", 12, r.irecv(on, source, tag), r.irecv(on, peer, 8))
	case 8:
		t := r.thread("MPI_Probe", 13)
		t.Comm, t.Source, t.Tag = mqs.Known(on), mqs.Known(source), mqs.Known(tag)
	case 9:
		r.enters(0, "MPI_Finalize")
	default:
		t := r.enters(on, []string{"MPI_Barrier", "MPI_Bcast", "MPI_Reduce", "MPI_Scan"}[rng.IntN(4)])
		t.Root = mqs.Known(int32(rng.IntN(n)))
		if n > 1 && t.Call != "MPI_Barrier" && rng.IntN(2) == 0 { // of which all members can't be in different ones
			r.inside(t, on, peer)
		}
	}
}

// clone copies a made-up job as deep as unknowns go.
func (m *made) clone() *made {
	out := &made{Snapshot: &mqs.Snapshot{}, next: m.next}
	for _, p := range m.Processes {
		q := *p
		q.Threads = append([]mqs.Thread(nil), p.Threads...)
		q.Communicators = nil
		for _, c := range p.Communicators {
			d := *c
			for class, queue := range c.Queue {
				if queue != nil {
					copied := *queue
					copied.Operations = append([]mqs.PendingOperation(nil), queue.Operations...)
					d.Queue[class] = &copied
				}
			}
			q.Communicators = append(q.Communicators, &d)
		}
		out.Processes = append(out.Processes, &q)
	}
	return out
}

// lessens are the ways in which less may be known of a job; each says what it has taken away.
var lessens = newLessens()

// newLessens returns ways of which each takes something else away the next time: what that is does not hang on other tests.
func newLessens() []func(rng *rand.Rand, m *made) string {
	return []func(rng *rand.Rand, m *made) string{
		func(rng *rand.Rand, m *made) string {
			i := rng.IntN(len(m.Processes))
			m.Processes = append(m.Processes[:i:i], m.Processes[i+1:]...)
			return fmt.Sprintf("process %d", i)
		},
		ofProcess("rank", func(p *mqs.Process) { p.GlobalRank.Known = false }),
		ofProcess("world size", func(p *mqs.Process) { p.WorldSize.Known = false }),
		ofProcess("phase", func(p *mqs.Process) { p.Phase = "" }),
		ofProcess("thread level", func(p *mqs.Process) { p.ThreadMultiple.Known = false }),
		ofProcess("threads", func(p *mqs.Process) { p.Threads = nil }),
		ofProcess("queues", func(p *mqs.Process) { p.Communicators, p.Unavailable = nil, "it can't be read" }),
		ofProcess("everything", func(p *mqs.Process) { p.Communicators, p.Threads, p.Unavailable = nil, nil, "it can't be read" }),
		ofThread("place", func(t *mqs.Thread) { *t = mqs.Thread{Number: t.Number} }),
		ofThread("activity", func(t *mqs.Thread) { t.Activity = "" }),
		ofThread("communicator", func(t *mqs.Thread) { t.Comm.Known = false }),
		ofThread("root", func(t *mqs.Thread) { t.Root.Known = false }),
		ofThread("source", func(t *mqs.Thread) { t.Source.Known = false }),
		ofThread("tag", func(t *mqs.Thread) { t.Tag.Known = false }),
		ofThread("requests", func(t *mqs.Thread) { t.Requests, t.AllRequests = nil, false }),
		ofThread("whether these are all requests", func(t *mqs.Thread) { t.AllRequests = false }),
		ofProcess("which requests", forgetWhich),
		ofComm("size", func(q *mqs.Queues) { q.Size.Known = false }),
		ofComm("name", func(q *mqs.Queues) { q.Name.Known = false }),
		ofComm("group", func(q *mqs.Queues) { q.Group = nil }),
		ofComm("local rank", func(q *mqs.Queues) { q.LocalRank.Known = false }),
		ofComm("context", func(q *mqs.Queues) { q.Context = "" }),
		ofComm("counts", func(q *mqs.Queues) { q.Traffic = nil }),
		ofComm("sends", func(q *mqs.Queues) { q.Queue[0] = &mqs.Queue{Unavailable: "no"} }),
		ofComm("receives", func(q *mqs.Queues) { q.Queue[1] = &mqs.Queue{Unavailable: "no"} }),
		ofComm("messages", func(q *mqs.Queues) { q.Queue[2] = &mqs.Queue{Unavailable: "no"} }),
		ofComm("queue of messages", func(q *mqs.Queues) { q.Queue[2] = nil }),
		ofComm("some messages", func(q *mqs.Queues) { q.Queue[2] = &mqs.Queue{Total: 3} }),
		ofComm("the end of the messages", func(q *mqs.Queues) { q.Queue[2] = &mqs.Queue{Incomplete: true} }),
		ofOperation("state", func(op *mqs.PendingOperation) { op.Status = "" }),
		ofOperation("kind", func(op *mqs.PendingOperation) { op.Kind = callstack.KindNotKnown }),
		ofOperation("request", func(op *mqs.PendingOperation) { op.Request.Known = false }),
		ofOperation("peer", func(op *mqs.PendingOperation) { op.DesiredLocalRank.Known, op.ActualLocalRank.Known = false, false }),
		ofOperation("tag", func(op *mqs.PendingOperation) {
			op.DesiredTag.Known, op.ActualTag.Known, op.TagWild.Known = false, false, false
		}),
		ofOperation("length", func(op *mqs.PendingOperation) { op.DesiredLength.Known, op.ActualLength.Known = false, false }),
	}
}

// forgetWhich has calls that wait for requests of the program's wait for some of all there are.
func forgetWhich(p *mqs.Process) {
	var all []inferior.Addr
	for _, q := range p.Communicators {
		for _, class := range mqs.OpClasses[:2] {
			if q.Queue[class] == nil || q.Queue[class].Unavailable != "" {
				return
			}
			for _, op := range q.Queue[class].Operations {
				if op.Request.Known && !op.Internal && !blocks(&op) {
					all = append(all, op.Request.Value)
				}
			}
		}
	}
	for i := range p.Threads {
		if t := &p.Threads[i]; t.AllRequests && strings.HasPrefix(t.Call, "MPI_Wait") {
			t.Requests, t.AllRequests, t.SomeRequests = all, false, true
		}
	}
}

func ofProcess(what string, f func(p *mqs.Process)) func(rng *rand.Rand, m *made) string {
	return func(rng *rand.Rand, m *made) string {
		if len(m.Processes) == 0 {
			return ""
		}
		i := rng.IntN(len(m.Processes))
		f(m.Processes[i])
		return fmt.Sprintf("%s of process %d", what, i)
	}
}

func ofThread(what string, f func(t *mqs.Thread)) func(rng *rand.Rand, m *made) string {
	at := 0
	return ofProcess(what, func(p *mqs.Process) {
		if len(p.Threads) > 0 {
			at++
			f(&p.Threads[at%len(p.Threads)])
		}
	})
}

func ofComm(what string, f func(q *mqs.Queues)) func(rng *rand.Rand, m *made) string {
	at := 0
	return ofProcess(what, func(p *mqs.Process) {
		if len(p.Communicators) > 0 {
			at++
			f(p.Communicators[at%len(p.Communicators)])
		}
	})
}

func ofOperation(what string, f func(op *mqs.PendingOperation)) func(rng *rand.Rand, m *made) string {
	at := 0
	return ofComm(what, func(q *mqs.Queues) {
		at++
		if queue := q.Queue[at%3]; queue != nil && len(queue.Operations) > 0 {
			f(&queue.Operations[at%len(queue.Operations)])
		}
	})
}

// TestKnowingLess checks that to know less never turns one claim into the other, and never makes one.
func TestKnowingLess(t *testing.T) { knowingLess(t, 10_000, 3) }

func knowingLess(t *testing.T, rounds int, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 4))
	claims, kept := map[Verdict]int{}, map[Verdict]int{}
	for round := range rounds {
		m := anyJob(rng)
		past := Past{Looks: 1, Earlier: map[int]*mqs.Process{}, Ran: map[int]bool{}}
		for _, p := range m.Processes {
			if rng.IntN(2) == 0 { // it has moved since then
				past.Earlier[p.PID] = &mqs.Process{PID: p.PID, Phase: mqs.Active, Threads: []mqs.Thread{{Number: 1, Placed: true, Call: "MPI_Recv", Line: 1}}}
			}
		}
		all := AnalyseLive(m.Snapshot, past)
		less := m.clone()
		var taken []string
		for range 1 + rng.IntN(3) {
			if len(less.Processes) > 0 {
				taken = append(taken, lessens[rng.IntN(len(lessens))](rng, less))
			}
		}
		few := AnalyseLive(less.Snapshot, past)
		claims[all.Verdict]++
		if claim(few.Verdict) != "" {
			kept[few.Verdict]++
		}
		if c := claim(few.Verdict); c != "" && c != claim(all.Verdict) {
			t.Fatalf("round %d: without the %v, %q becomes %q\n%s\n%v %v\nbecomes %s\n%v %v\n%s", round, taken, all.Verdict, few.Verdict,
				all.Why, states(all), cycles(all), few.Why, states(few), cycles(few), describe(m))
		}
	}
	if claims[Deadlocked] < rounds/50 || claims[NoDeadlock] < rounds/50 || kept[Deadlocked] < rounds/200 || kept[NoDeadlock] < rounds/200 {
		t.Errorf("too few jobs that claims are made of: %v, and %v when less is known", claims, kept)
	}
	t.Logf("%v; when less is known, %v", claims, kept)
}

func describe(m *made) string {
	out := ""
	for i, p := range m.Processes {
		out += fmt.Sprintf("%d: %s multiple %v\n", i, p.Phase, p.ThreadMultiple.Value)
		for _, t := range p.Threads {
			out += fmt.Sprintf("  %s %s on %#x root %d source %d tag %d requests %v\n", t.Call, t.Activity, uint64(t.Comm.Value), t.Root.Value, t.Source.Value, t.Tag.Value, t.Requests)
		}
		for _, c := range p.Communicators {
			out += fmt.Sprintf("  %s, %#x, traffic %v\n", c.Name.Value, uint64(c.UniqueID), c.Traffic)
			for class, q := range c.Queue {
				for _, op := range q.Operations {
					out += fmt.Sprintf("    %s %s %s peer %d tag %d request %#x internal %v\n", mqs.OpClass(class), op.Status, op.Kind, op.DesiredLocalRank.Value, op.DesiredTag.Value, uint64(op.Request.Value), op.Internal)
				}
			}
		}
	}
	return out
}
