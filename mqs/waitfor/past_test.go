package waitfor

import (
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// A call looks the same if it is the same thread's, with the same requests in any order.
func TestIsSame(t *testing.T) {
	in := func(threads ...mqs.Thread) *mqs.Process {
		for i := range threads {
			threads[i].Placed = true
		}
		return &mqs.Process{Threads: threads}
	}
	wait := mqs.Thread{Number: 1, Call: "MPI_Wait", Requests: []inferior.Addr{1, 2}}
	for name, c := range map[string]struct {
		now, before *mqs.Process
		want        bool
	}{
		"the same":             {in(wait), in(wait), true},
		"in another order":     {in(wait), in(mqs.Thread{Number: 1, Call: "MPI_Wait", Requests: []inferior.Addr{2, 1}}), true},
		"another thread":       {in(wait), in(mqs.Thread{Number: 2, Call: "MPI_Wait", Requests: []inferior.Addr{1, 2}}), false},
		"another call":         {in(wait), in(mqs.Thread{Number: 1, Call: "MPI_Waitall", Requests: []inferior.Addr{1, 2}}), false},
		"other requests":       {in(wait), in(mqs.Thread{Number: 1, Call: "MPI_Wait", Requests: []inferior.Addr{1}}), false},
		"not placed now":       {&mqs.Process{Threads: []mqs.Thread{wait, {Number: 2}}}, in(wait), false},
		"not placed before":    {in(wait), &mqs.Process{Threads: []mqs.Thread{wait, {Number: 2}}}, false},
		"one more before":      {in(wait), in(wait, mqs.Thread{Number: 2, Call: "MPI_Recv"}), true},
		"one more now":         {in(wait, mqs.Thread{Number: 2, Call: "MPI_Recv"}), in(wait), false},
		"computing in between": {in(wait, mqs.Thread{Number: 2, Function: "f"}), in(wait), true},
	} {
		if got := isSame(c.now, c.before); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// A process has moved if it is in another call that waits, at another place or for something else, as far as both are known.
func TestHasMoved(t *testing.T) {
	of := func(change func(p *mqs.Process)) *mqs.Process {
		p := &mqs.Process{Phase: mqs.Active, Progress: mqs.Known[uint64](3), Threads: []mqs.Thread{{Number: 1, Placed: true, Call: "MPI_Wait", Function: "f", File: "a.c", Line: 3, Requests: []inferior.Addr{1},
			Callers: []mqs.Caller{{Function: "f", File: "a.c", Line: 3, Object: "/lib/liba.so"}, {Function: "main", File: "b.c", Line: 9}}}},
			Communicators: []*mqs.Queues{{Communicator: mqs.Communicator{UniqueID: worldID, Context: "0"}, Traffic: []mqs.Traffic{{Peer: 1, Sent: 2}}}}}
		change(p)
		return p
	}
	for name, c := range map[string]struct {
		change func(p *mqs.Process)
		want   bool
	}{
		"nothing":               {func(*mqs.Process) {}, false},
		"progress":              {func(p *mqs.Process) { p.Progress.Value++ }, true},
		"progress not known":    {func(p *mqs.Process) { p.Progress = mqs.Maybe[uint64]{} }, false},
		"traffic":               {func(p *mqs.Process) { p.Communicators[0].Traffic[0].Sent++ }, true},
		"traffic not known":     {func(p *mqs.Process) { p.Communicators[0].Traffic = nil }, false},
		"another communicator":  {func(p *mqs.Process) { p.Communicators[0].UniqueID = dupID }, true},
		"another context":       {func(p *mqs.Process) { p.Communicators[0].Context = "1" }, true},
		"phase":                 {func(p *mqs.Process) { p.Phase = mqs.Finished }, true},
		"phase not known":       {func(p *mqs.Process) { p.Phase = "" }, false},
		"call":                  {func(p *mqs.Process) { p.Threads[0].Call = "MPI_Recv" }, true},
		"function":              {func(p *mqs.Process) { p.Threads[0].Function = "g" }, true},
		"file":                  {func(p *mqs.Process) { p.Threads[0].File = "b.c" }, true},
		"line":                  {func(p *mqs.Process) { p.Threads[0].Line = 4 }, true},
		"callers":               {func(p *mqs.Process) { p.Threads[0].Callers[1].Line = 10 }, true},
		"callers not known":     {func(p *mqs.Process) { p.Threads[0].Callers = nil }, false},
		"requests":              {func(p *mqs.Process) { p.Threads[0].Requests = []inferior.Addr{2} }, true},
		"requests not made yet": {func(p *mqs.Process) { p.Threads[0].Requests = nil }, false},
		"no call":               {func(p *mqs.Process) { p.Threads[0].Call = "" }, true},
		"a call that does not wait": {func(p *mqs.Process) {
			p.Threads = append(p.Threads, mqs.Thread{Number: 2, Placed: true, Call: "MPI_Test"})
		}, false},
		"another call besides": {func(p *mqs.Process) {
			p.Threads = append(p.Threads, mqs.Thread{Number: 2, Placed: true, Call: "MPI_Recv"})
		}, true},
		"threads not known":   {func(p *mqs.Process) { p.Threads = nil }, false},
		"a thread not placed": {func(p *mqs.Process) { p.Threads[0] = mqs.Thread{Number: 1} }, false},
	} {
		same := of(func(*mqs.Process) {})
		for _, pair := range [][2]*mqs.Process{{of(c.change), same}, {same, of(c.change)}} {
			if got := HasMoved(pair[0], pair[1]); got != c.want {
				t.Errorf("%s: moved %t", name, got)
			}
		}
	}
}

// A near miss shows a message that differs from what is asked for if it is one of three kinds.
func TestIsOfEnvelope(t *testing.T) {
	for kind, want := range map[Kind]bool{OtherTag: true, OtherSource: true, OtherCommunicator: true, OtherCollective: false, NotStarted: false, LibraryFault: false} {
		if got := isOfEnvelope(NearMiss{Kind: kind}); got != want {
			t.Errorf("%s: %t", kind, got)
		}
	}
}

// TestManyRequests has two samples of ranks whose calls wait for many requests compared. tests/growth counts its statements.
func TestManyRequests(t *testing.T) {
	of := func(comm inferior.Addr, tag int32) *mqs.Process {
		p := &mqs.Process{Phase: mqs.Active, Communicators: []*mqs.Queues{{Communicator: mqs.Communicator{UniqueID: comm}}}}
		wait := mqs.Thread{Number: 1, Placed: true, Call: "MPI_Waitall", Function: "main"}
		queue := &mqs.Queue{}
		for i := range crowd {
			request := inferior.Addr(64 * (i + 1))
			wait.Requests = append(wait.Requests, request)
			p.CollectiveRequests = append(p.CollectiveRequests, mqs.CollectiveRequest{Request: request + 1})
			queue.Operations = append(queue.Operations, mqs.PendingOperation{Request: mqs.Known(request), DesiredTag: mqs.Known(tag)})
		}
		other := wait
		other.Number, other.Requests = 2, append(slices.Clone(wait.Requests), 1)
		p.Threads = []mqs.Thread{wait, other}
		p.Communicators[0].Queue[mqs.PendingReceives] = queue
		return p
	}
	now := of(worldID, 7)
	if HasMoved(of(worldID, 7), now) {
		t.Error("it has moved")
	}
	for name, before := range map[string]*mqs.Process{"another tag": of(worldID, 8), "another communicator": of(dupID, 7)} {
		if !HasMoved(now, before) {
			t.Errorf("%s: it has not moved", name)
		}
	}
}
