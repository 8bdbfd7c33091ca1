package waitfor

import (
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// looped is a job of an MPI that counts only the receives that had to wait (UCX): ranks 0, 1 and 3
// wait for a message, and rank 2 in its send to another rank, which is a call in a loop.
func looped(to int32, arrives bool, id uint64) *made {
	m := newMade(4)
	m.rank(0).recv(worldID, 2, 7)
	m.rank(1).recv(worldID, 0, 7)
	m.rank(3).recv(worldID, 0, 7)
	r := m.rank(2)
	r.thread("MPI_Send", 11, r.isend(worldID, to, 8, arrives))
	op := &r.on(worldID).Queue[mqs.PendingSends].Operations[0]
	op.MessageID = mqs.Known(id)
	if arrives {
		m.rank(int(to)).on(worldID).Queue[mqs.UnexpectedMessages].Operations[0].MessageID = mqs.Known(id)
	}
	return m
}

// What is one call's is not the next one's that stands at the same place.
func TestHasMovedWithTheSameRequest(t *testing.T) {
	now := looped(1, true, 1)
	now.runsOn()
	now.Processes[2].Communicators[0].Queue[mqs.PendingSends].Operations[0].Buffer = mqs.Known(worldID)
	for name, change := range map[string]func(op *mqs.PendingOperation){
		"peer":                   func(op *mqs.PendingOperation) { op.DesiredLocalRank = mqs.Known[int32](3) },
		"tag":                    func(op *mqs.PendingOperation) { op.DesiredTag = mqs.Known[int32](9) },
		"length":                 func(op *mqs.PendingOperation) { op.DesiredLength = mqs.Known[int64](9) },
		"buffer":                 func(op *mqs.PendingOperation) { op.Buffer = mqs.Known(dupID) },
		"id":                     func(op *mqs.PendingOperation) { op.MessageID.Value++ },
		"none":                   func(op *mqs.PendingOperation) { op.Status = mqs.Matched },
		"tag that was not known": func(op *mqs.PendingOperation) { op.DesiredTag = mqs.Maybe[int32]{} },
	} {
		before := now.clone()
		change(&before.Processes[2].Communicators[0].Queue[mqs.PendingSends].Operations[0])
		if moved := HasMoved(now.Processes[2], before.Processes[2]); moved != (name != "none" && name != "tag that was not known") {
			t.Errorf("another %s: moved %v", name, moved)
		}
	}
	before := now.clone()
	before.Processes[2].Communicators[0].UniqueID++
	if !HasMoved(now.Processes[2], before.Processes[2]) {
		t.Error("on another communicator: not moved")
	}
}

// holding is a rank of four, in a call with requests.
type heldCall struct {
	call string
	make func(r *madeRank) []inferior.Addr
	some bool // the call may have more requests
	// receivers are those without which it could not leave the call.
	receivers []int32
	holds     bool
}

// What a call can't leave without: a receive that has to wait is counted, and a send whose message lies with its receiver needs
// that one. Of several, all hold the call that waits for one of them; of a call that waits for all, any does.
func TestHoldingIn(t *testing.T) {
	lies := func(to, tag int32) func(r *madeRank) []inferior.Addr {
		return func(r *madeRank) []inferior.Addr { return []inferior.Addr{r.isend(worldID, to, tag, true)} }
	}
	gone := func(r *madeRank) []inferior.Addr { return []inferior.Addr{r.isend(worldID, 1, 7, false)} }
	receive := func(r *madeRank) []inferior.Addr { return []inferior.Addr{r.irecv(worldID, 1, 7)} }
	both := func(all ...func(r *madeRank) []inferior.Addr) func(r *madeRank) []inferior.Addr {
		return func(r *madeRank) (out []inferior.Addr) {
			for _, f := range all {
				out = append(out, f(r)...)
			}
			return out
		}
	}
	is := func(class mqs.OpClass, f func(r *madeRank) []inferior.Addr, change func(op *mqs.PendingOperation)) func(r *madeRank) []inferior.Addr {
		return func(r *madeRank) []inferior.Addr {
			out := f(r)
			ops := r.on(worldID).Queue[class].Operations
			change(&ops[len(ops)-1])
			return out
		}
	}
	complete := func(op *mqs.PendingOperation) { op.Status = mqs.Complete }
	eager := func(r *madeRank) []inferior.Addr { // its message has come, and nothing says that its sender waits
		out := gone(r)
		r.message(worldID, 1, 7)
		return out
	}
	unlistedSend := func(r *madeRank) []inferior.Addr {
		is(mqs.PendingSends, lies(1, 7), func(op *mqs.PendingOperation) { op.Kind = "send" })(r)
		return nil
	}
	for name, c := range map[string]heldCall{
		"a probe":                             {call: "MPI_Probe", holds: true},
		"MPI_Finalize":                        {call: "MPI_Finalize", holds: true},
		"a receive":                           {call: "MPI_Wait", make: receive, holds: true},
		"a receive that is complete":          {call: "MPI_Wait", make: is(mqs.PendingReceives, receive, complete)},
		"a send that lies there":              {call: "MPI_Wait", make: lies(2, 7), receivers: []int32{2}, holds: true},
		"a send that lies there, complete":    {call: "MPI_Wait", make: is(mqs.PendingSends, lies(2, 7), complete)},
		"a send that has been received":       {call: "MPI_Wait", make: gone},
		"a send whose message has come":       {call: "MPI_Wait", make: eager, receivers: []int32{1}, holds: true},
		"the same with an id of its own":      {call: "MPI_Wait", make: is(mqs.PendingSends, eager, func(op *mqs.PendingOperation) { op.MessageID = mqs.Known[uint64](3) })},
		"a send to a rank that is not known":  {call: "MPI_Wait", make: is(mqs.PendingSends, lies(2, 7), func(op *mqs.PendingOperation) { op.DesiredLocalRank.Known = false })},
		"a send to a rank that is none":       {call: "MPI_Wait", make: is(mqs.PendingSends, lies(2, 7), func(op *mqs.PendingOperation) { op.DesiredLocalRank.Value = 9 })},
		"a send to the first rank":            {call: "MPI_Wait", make: lies(0, 7), receivers: []int32{0}, holds: true},
		"two sends":                           {call: "MPI_Waitall", make: both(lies(1, 7), lies(2, 8)), receivers: []int32{1}, holds: true},
		"one of two sends":                    {call: "MPI_Waitany", make: both(lies(1, 7), lies(2, 8)), receivers: []int32{1, 2}, holds: true},
		"one of a send and a receive":         {call: "MPI_Waitany", make: both(lies(1, 7), receive), receivers: []int32{1}, holds: true},
		"one of receives":                     {call: "MPI_Waitsome", make: both(receive, receive), holds: true},
		"one of two, of which one is over":    {call: "MPI_Waitany", make: both(receive, is(mqs.PendingReceives, receive, complete))},
		"one of some":                         {call: "MPI_Waitany", make: receive, some: true},
		"one of two, of which one is unknown": {call: "MPI_Waitany", make: both(receive, func(*madeRank) []inferior.Addr { return []inferior.Addr{unlisted} })},
		"one of none":                         {call: "MPI_Waitany"},
		"its own send, by its kind":           {call: "MPI_Send", make: unlistedSend, receivers: []int32{1}, holds: true},
		"one of two sends, by their kind":     {call: "MPI_Send", make: func(r *madeRank) []inferior.Addr { unlistedSend(r); return unlistedSend(r) }},
		"another call's send":                 {call: "MPI_Ssend", make: unlistedSend},
		"no request, and one of its kind":     {call: "MPI_Wait", make: unlistedSend},
	} {
		m := newMade(4)
		r := m.rank(0)
		var requests []inferior.Addr
		if c.make != nil {
			requests = c.make(r)
		}
		r.Threads = append(r.Threads, mqs.Thread{Number: 1, Placed: true, Call: c.call, Requests: requests, AllRequests: !c.some})
		j := newJob(m.Snapshot)
		j.communicators()
		j.messages()
		if got, ok := j.holdingIn(&j.ranks[0], &r.Threads[0]); ok != c.holds || !slices.Equal(got, c.receivers) {
			t.Errorf("%s: held by %v, %t; want %v, %t", name, got, ok, c.receivers, c.holds)
		}
	}
}

// A rank has stayed in its calls only as far as it was seen: it was there, it waited then as now, and its process was then at
// the place of the same rank.
func TestHolding(t *testing.T) {
	for name, c := range map[string]struct {
		change func(now, before *made, past *Past)
		want   string // which ranks have stayed
	}{
		"both wait for a message": {func(_, _ *made, _ *Past) {}, "01"},
		"one was not seen before": {func(_, _ *made, p *Past) { delete(p.Earlier, 100) }, "1"},
		"one has moved":           {func(_, b *made, _ *Past) { b.Processes[0].Progress = mqs.Known[uint64](1) }, "1"},
		"one was elsewhere":       {func(_, b *made, _ *Past) { b.Processes[0].Threads[0].Number = 5 }, "1"},
		"one was another rank":    {func(_, b *made, _ *Past) { b.Processes[0].GlobalRank = mqs.Known[int32](1) }, ""},
		"one can move":            {func(n, b *made, _ *Past) { n.rank(0).computes(); b.rank(0).computes(); n.multiple(0); b.multiple(0) }, "1"},
		"one is gone":             {func(n, _ *made, _ *Past) { n.Processes[0].Phase, n.Processes[0].Communicators = mqs.Exited, nil }, "1"},
		"one was gone before":     {func(n, b *made, _ *Past) { n.exits(0); b.exits(0) }, "01"},
		"messages are counted": {func(n, b *made, _ *Past) {
			n.waitsFor(0, unlisted)
			b.waitsFor(0, unlisted)
			n.counted(0)
			b.counted(0)
		}, "01"},
		"messages are counted now":     {func(n, b *made, _ *Past) { n.waitsFor(0, unlisted); b.waitsFor(0, unlisted); n.counted(0) }, "1"},
		"messages were counted before": {func(n, b *made, _ *Past) { n.waitsFor(0, unlisted); b.waitsFor(0, unlisted); b.counted(0) }, "1"},
		"what it waits for is in none": {func(n, b *made, _ *Past) { n.waitsFor(0, unlisted); b.waitsFor(0, unlisted) }, "1"},
		"it waits for one that stays":  {func(n, b *made, _ *Past) { n.sends(0); b.sends(0) }, "01"},
		"it waits for one that moves":  {func(n, b *made, p *Past) { n.sends(0); b.sends(0); delete(p.Earlier, 101) }, ""},
	} {
		look := func() *made {
			m := newMade(2)
			for i, p := range m.Processes {
				p.PID, p.Progress = 100+i, mqs.Known[uint64](3)
				m.rank(i).recv(worldID, int32(1-i), 7)
				m.rank(i).uncounted()
			}
			return m
		}
		now, before := look(), look()
		p := past(before.Snapshot)
		c.change(now, before, &p)
		j := newJob(now.Snapshot)
		j.past = p
		for i := range j.ranks {
			r, earlier := &j.ranks[i], p.Earlier[100+i]
			r.number = int32(i)
			r.moved = earlier != nil && HasMoved(r.process, earlier)
			r.same = earlier != nil && !r.moved && isSame(r.process, earlier)
		}
		j.communicators()
		j.messages()
		j.findStays()
		got := ""
		for i := range j.ranks {
			if j.ranks[i].stays {
				got += string(rune('0' + i))
			}
		}
		if got != c.want {
			t.Errorf("%s: %q have stayed, want %q", name, got, c.want)
		}
	}
}

func (m *made) multiple(i int) { m.Processes[i].ThreadMultiple = mqs.Known(true) }
func (m *made) exits(i int)    { m.Processes[i].Phase, m.Processes[i].Communicators = mqs.Exited, nil }
func (m *made) counted(i int)  { m.Processes[i].Communicators[0].Traffic = []mqs.Traffic{} }
func (m *made) waitsFor(i int, requests ...inferior.Addr) {
	m.Processes[i].Threads[0].Requests = requests
}

// sends lets a rank wait for the other one to receive its message.
func (m *made) sends(i int) {
	r := m.rank(i)
	r.Threads = nil
	r.send(worldID, int32(1-i), 9)
}
