package waitfor

import (
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// A rank has left where it waited if it is seen elsewhere, and only then.
func TestHasLeft(t *testing.T) {
	in := func(call string, line int) mqs.Thread {
		return mqs.Thread{Placed: true, Call: call, Function: "main", File: "/src/a.c", Line: line}
	}
	outside := func(does mqs.Activity, line int) mqs.Thread {
		t := in("", line)
		t.Activity = does
		return t
	}
	somewhere := mqs.Thread{Placed: true, Call: "MPI_Barrier"}
	lost := mqs.Thread{}
	for _, c := range []struct {
		name      string
		now, then []mqs.Thread
		want      bool
	}{
		{"at the same place", []mqs.Thread{in("MPI_Comm_dup", 1)}, []mqs.Thread{in("MPI_Comm_dup", 1)}, false},
		{"in a call inside of it", []mqs.Thread{in("MPI_Barrier", 1)}, []mqs.Thread{in("MPI_File_open", 1)}, false},
		{"at another place", []mqs.Thread{in("MPI_Comm_dup", 2)}, []mqs.Thread{in("MPI_Comm_dup", 1)}, true},
		{"in no call", []mqs.Thread{outside(mqs.Computes, 1)}, []mqs.Thread{in("MPI_Comm_dup", 1)}, true},
		{"in a call that does not wait", []mqs.Thread{in("MPI_Isend", 2)}, []mqs.Thread{in("MPI_Comm_dup", 1)}, true},
		{"in a call after a lock", []mqs.Thread{in("MPI_Comm_dup", 1)}, []mqs.Thread{outside(mqs.Blocks, 1)}, true},
		{"at the same lock", []mqs.Thread{outside(mqs.Blocks, 1)}, []mqs.Thread{outside(mqs.Blocks, 1)}, false},
		{"it did not wait", []mqs.Thread{in("MPI_Barrier", 2)}, []mqs.Thread{outside(mqs.Computes, 1)}, false},
		{"it was in a call that does not wait", []mqs.Thread{in("MPI_Barrier", 2)}, []mqs.Thread{in("MPI_Isend", 1)}, false},
		{"the place is not known", []mqs.Thread{somewhere}, []mqs.Thread{in("MPI_Comm_dup", 1)}, false},
		{"the place was not known", []mqs.Thread{in("MPI_Comm_dup", 1)}, []mqs.Thread{somewhere}, false},
		{"the call is not known", []mqs.Thread{lost}, []mqs.Thread{in("MPI_Comm_dup", 1)}, false},
		{"the call was not known", []mqs.Thread{in("MPI_Comm_dup", 1)}, []mqs.Thread{lost}, false},
		{"one of two threads", []mqs.Thread{in("MPI_Recv", 1), in("MPI_Recv", 3)}, []mqs.Thread{in("MPI_Recv", 1), in("MPI_Recv", 2)}, true},
		{"another thread has come", []mqs.Thread{in("MPI_Recv", 3), in("MPI_Recv", 1)}, []mqs.Thread{in("MPI_Recv", 1)}, false},
		{"one of two at one place", []mqs.Thread{in("MPI_Recv", 1)}, []mqs.Thread{in("MPI_Recv", 1), in("MPI_Recv", 1)}, true},
		{"no threads are known", nil, []mqs.Thread{in("MPI_Recv", 1)}, false},
	} {
		if got := HasLeft(&mqs.Process{Threads: c.now}, &mqs.Process{Threads: c.then}); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
	crashed := &mqs.Process{Threads: []mqs.Thread{in("", 2)}, Signal: "SIGSEGV"}
	if then := (&mqs.Process{Threads: []mqs.Thread{in("MPI_Recv", 1)}}); !crashed.HasCrashed() || HasLeft(crashed, then) {
		t.Error("what has crashed has left its call")
	}
}

// A rank that sends on in a collective call has been released from what it waited for there, unless its library may have
// sent by itself.
func TestHasSentOn(t *testing.T) {
	process := func(sent uint16, change func(p *mqs.Process)) *mqs.Process {
		q := &mqs.Queues{Communicator: mqs.Communicator{UniqueID: 1, Context: "0"}, Traffic: []mqs.Traffic{{Peer: 1, Sent: 7, Arrived: 3}, {Peer: 2, Sent: sent}}}
		p := &mqs.Process{Threads: []mqs.Thread{{Placed: true, Call: "MPI_Intercomm_create", Function: "main", File: "/src/a.c", Line: 1}},
			ThreadMultiple: mqs.Known(false), CollectiveRequests: []mqs.CollectiveRequest{}, Windows: []mqs.Window{}, Communicators: []*mqs.Queues{q}}
		if change != nil {
			change(p)
		}
		return p
	}
	for _, c := range []struct {
		name      string
		sent      uint16
		now, then func(p *mqs.Process)
		want      bool
	}{
		{"it has sent", 6, nil, nil, true},
		{"it has sent nothing", 5, nil, nil, false},
		{"it has received", 5, func(p *mqs.Process) { p.Communicators[0].Traffic[0].Arrived++ }, nil, false},
		{"another thread may have sent", 6, nil, func(p *mqs.Process) { p.ThreadMultiple = mqs.Known(true) }, false},
		{"whether another thread may send is not known", 6, nil, func(p *mqs.Process) { p.ThreadMultiple = mqs.Maybe[bool]{} }, false},
		{"in a call for requests", 6, nil, func(p *mqs.Process) { p.Threads[0].Call = "MPI_Waitall" }, false},
		{"a collective's progress", 6, nil, func(p *mqs.Process) { p.CollectiveRequests = make([]mqs.CollectiveRequest, 1) }, false},
		{"collectives are not known", 6, func(p *mqs.Process) { p.CollectiveRequests = nil }, nil, false},
		{"an access to its window", 6, nil, func(p *mqs.Process) { p.Windows = make([]mqs.Window, 1) }, false},
		{"windows are not known", 6, nil, func(p *mqs.Process) { p.Windows = nil }, false},
		{"on a communicator of the library", 6, nil, func(p *mqs.Process) { p.Communicators[0].Internal = true }, false},
		{"on another communicator at that place", 6, func(p *mqs.Process) { p.Communicators[0].Context = "3" }, nil, false},
		{"nothing is counted", 6, func(p *mqs.Process) { p.Communicators[0].Traffic = nil }, nil, false},
	} {
		if got := HasLeft(process(c.sent, c.now), Trace(process(5, c.then))); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}

// A rank in whose process a collective has begun since it was met in a collective call waits no more for what it waited
// for there: none begins by itself.
func TestHasBegunOn(t *testing.T) {
	process := func(begun int64, change func(p *mqs.Process)) *mqs.Process {
		q := &mqs.Queues{Communicator: mqs.Communicator{UniqueID: 1, Context: "0", NonBlockingCollectives: mqs.Known(begun)}}
		p := &mqs.Process{Threads: []mqs.Thread{{Placed: true, Call: "MPI_Comm_dup", Function: "main", File: "/src/a.c", Line: 1}},
			ThreadMultiple: mqs.Known(true), CollectiveRequests: make([]mqs.CollectiveRequest, 1), Communicators: []*mqs.Queues{q}}
		if change != nil {
			change(p)
		}
		return p
	}
	for _, c := range []struct {
		name      string
		begun     int64
		now, then func(p *mqs.Process)
		want      bool
	}{
		{"others have begun", 7, nil, nil, true},
		{"they count from the first again", 1, nil, nil, true},
		{"none has begun", 6, nil, nil, false},
		{"in a call for requests", 7, nil, func(p *mqs.Process) { p.Threads[0].Call = "MPI_Waitall" }, false},
		{"on another communicator at that place", 7, func(p *mqs.Process) { p.Communicators[0].Context = "3" }, nil, false},
		{"how many is not known", 7, func(p *mqs.Process) { p.Communicators[0].NonBlockingCollectives = mqs.Maybe[int64]{} }, nil, false},
		{"how many was not known", 7, nil, func(p *mqs.Process) { p.Communicators[0].NonBlockingCollectives = mqs.Maybe[int64]{} }, false},
	} {
		if got := HasLeft(process(c.begun, c.now), Trace(process(6, c.then))); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}

// If only one thread may call MPI, a rank that raises a flag was not deadlocked in the collective call where it was seen.
func TestHasRaisedOn(t *testing.T) {
	process := func(gathered int64, change func(p *mqs.Process)) *mqs.Process {
		q := &mqs.Queues{Communicator: mqs.Communicator{UniqueID: 1, Context: "0", Flags: []mqs.Flag{{Comm: 1, Kind: mqs.Gathered, Count: gathered}, {Comm: 1, Kind: mqs.Released, Count: 7}}}}
		p := &mqs.Process{Threads: []mqs.Thread{{Placed: true, Call: "MPI_Reduce", Function: "main", File: "/src/a.c", Line: 1}},
			ThreadMultiple: mqs.Known(false), Communicators: []*mqs.Queues{q}}
		if change != nil {
			change(p)
		}
		return p
	}
	for _, c := range []struct {
		name      string
		gathered  int64
		now, then func(p *mqs.Process)
		want      bool
	}{
		{"it has raised one", 8, nil, nil, true},
		{"it has raised none", 7, nil, nil, false},
		{"another thread may have", 8, nil, func(p *mqs.Process) { p.ThreadMultiple = mqs.Known(true) }, false},
		{"it was in a receive", 8, func(p *mqs.Process) { p.Threads[0].Call = "MPI_Recv" }, func(p *mqs.Process) { p.Threads[0].Call = "MPI_Recv" }, false},
		{"its flags are not known", 8, func(p *mqs.Process) { p.Communicators[0].Flags = nil }, nil, false},
		{"its flags were not known", 8, nil, func(p *mqs.Process) { p.Communicators[0].Flags = nil }, false},
		{"another communicator's", 8, func(p *mqs.Process) { p.Communicators[0].UniqueID = 2 }, nil, false},
	} {
		if got := HasLeft(process(c.gathered, c.now), Trace(process(7, c.then))); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}

// A rank that waits for fewer of the same flags has not moved: others have raised some. One that waits for another flag has.
func TestMovedByFlags(t *testing.T) {
	process := func(flags ...mqs.Flag) *mqs.Process {
		return &mqs.Process{Threads: []mqs.Thread{{Placed: true, Call: "MPI_Barrier", Function: "main", File: "/src/a.c", Line: 1, Flags: flags}}}
	}
	flag := func(rank int32, count int64) mqs.Flag {
		return mqs.Flag{Comm: 1, LocalRank: rank, Kind: mqs.Gathered, Count: count}
	}
	before := process(flag(1, 21), flag(2, 21))
	for name, c := range map[string]struct {
		now  *mqs.Process
		want bool
	}{
		"the same": {process(flag(1, 21), flag(2, 21)), false}, "one of them": {process(flag(2, 21)), false}, "none": {process(), false},
		"of the next step": {process(flag(2, 22)), true}, "one of them and another": {process(flag(2, 21), flag(3, 21)), true},
	} {
		if got := HasMoved(c.now, before); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
