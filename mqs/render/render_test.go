package render

import (
	"bytes"
	_ "embed"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// sample has everything that a snapshot can have, hostile names included.
func sample() *mqs.Snapshot {
	full := mqs.PendingOperation{Status: mqs.Matched, DesiredLocalRank: mqs.Known[int32](mqs.AnyRank), DesiredGlobalRank: mqs.Known[int32](mqs.AnyRank),
		TagWild: mqs.Known(true), DesiredLength: mqs.Known[int64](1 << 40), SystemBuffer: mqs.Known(true), Buffer: mqs.Known[inferior.Addr](0xfffffffffffffff8),
		ActualLocalRank: mqs.Known[int32](1), ActualGlobalRank: mqs.Known[int32](2), ActualTag: mqs.Known[int32](7), ActualLength: mqs.Known[int64](4),
		ExtraText: []string{"cancelled"}, Kind: "irecv", Datatype: mqs.Known("MPI_INT"), Count: mqs.Known[int64](1), Request: mqs.Known[inferior.Addr](0x1000), Internal: true}
	bare := mqs.PendingOperation{Status: mqs.Pending, ExtraText: []string{}}
	unnamed := mqs.PendingOperation{Status: mqs.Pending, ExtraText: []string{}, Datatype: mqs.Known("")}
	return &mqs.Snapshot{Processes: append([]*mqs.Process{
		{Inferior: 1, PID: 4711, GlobalRank: mqs.Known[int32](0), WorldSize: mqs.Known[int32](3), Image: "/bin/a.out", MPI: "Open MPI", MPIVersion: "4.1.4",
			Library: "/lib/libmpi.so.40", Source: "native", Layout: "table", LayoutName: "Open MPI 4.1.4", Notes: []string{"A note."},
			State: mqs.Stopped, Threads: []mqs.Thread{{Number: 1, Placed: true, Call: "MPI_Recv", Comm: mqs.Known[inferior.Addr](3), Requests: []inferior.Addr{0x1000}, AllRequests: true},
				{Number: 2, Placed: true, Activity: mqs.Joins, Joined: mqs.Known(1), Function: "main", Requests: []inferior.Addr{}}, {Number: 3, Requests: []inferior.Addr{}}},
			Communicators: []*mqs.Queues{{
				Communicator: mqs.Communicator{UniqueID: 3, LocalRank: mqs.Known[int32](0), Size: mqs.Known[int32](2), Name: mqs.Known("a \"name\"\x1b[31m\t\xff é"),
					Group: []mqs.Maybe[int32]{mqs.Known[int32](0), {}}, RemoteGroup: []mqs.Maybe[int32]{mqs.Known[int32](2)}, Inter: mqs.Known(true)},
				Queue: [3]*mqs.Queue{{Operations: []mqs.PendingOperation{}, Total: 0}, {Operations: []mqs.PendingOperation{full, bare, unnamed}, Total: 9}, {Unavailable: "it is not there"}},
			}, {Communicator: mqs.Communicator{UniqueID: 4, Internal: true}, Queue: [3]*mqs.Queue{nil, {Operations: []mqs.PendingOperation{}}, nil}}},
		},
		{Inferior: 2, Unavailable: "the program has not called MPI_Init yet"},
	}, dllProcesses()...)}
}

const wantText = `Rank 0 of 3, process 4711, a.out: Open MPI 4.1.4, read by the embedded table
In MPI_Recv on "a "name"�[31m�� é"

a "name"�[31m�� é (0x3): rank 0 of 2, an intercommunicator with a remote group of 1
  Pending receives
    status   from  global  tag  bytes          count  datatype  kind   buffer                       note
    matched  ANY   ANY     ANY  1099511627776  1      MPI_INT   irecv  0xfffffffffffffff8 (system)  got 4 bytes from 1 (global 2), tag 7; cancelled
    pending  ?     ?       ?    ?              ?      ?         ?      ?
    pending  ?     ?       ?    ?              ?      unnamed   ?      ?
    ... and 6 more of 9 (-limit)
  Unexpected messages: not available: it is not there.

Nothing pending on communicator 0x4.

Note: A note.

Rank ?
  the program has not called MPI_Init yet.
`

// What a thread does outside MPI is said, and not that it is outside where nobody knows.
func TestThreadsText(t *testing.T) {
	for want, thread := range map[string]mqs.Thread{
		"In main at a.c:3, outside MPI\n":                                           {Placed: true, Activity: mqs.Computes},
		"In main at a.c:3, outside MPI, where it sleeps\n":                          {Placed: true, Activity: mqs.Sleeps},
		"In main at a.c:3, outside MPI, where it waits for something else\n":        {Placed: true, Activity: mqs.Blocks},
		"In main at a.c:3, outside MPI, where it waits for thread 2 to end\n":       {Placed: true, Activity: mqs.Joins, Joined: mqs.Known(2)},
		"In main at a.c:3, outside MPI, where it waits for another thread to end\n": {Placed: true, Activity: mqs.Joins},
		"In main at a.c:3; whether in an MPI call is not known\n":                   {},
	} {
		thread.Function, thread.File, thread.Line = "main", "a.c", 3
		var b bytes.Buffer
		if err := Text(&b, &mqs.Snapshot{Processes: []*mqs.Process{{Inferior: 1, PID: 7, Threads: []mqs.Thread{thread}}}}, Style{}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), want) {
			t.Errorf("%+v is shown as\n%s", thread, &b)
		}
	}
}

// A queue says how many operations are not shown, and that there may be more where not all could be read.
func TestEndOfQueueText(t *testing.T) {
	for want, q := range map[string]*mqs.Queue{
		"?\n\n": {Total: 1},
		"?\n    ... and 8 more of 9 (-limit)\n\n":                  {Total: 9},
		"?\n    ... and 8 more of 9 or more (-limit)\n\n":          {Total: 9, Incomplete: true},
		"?\n    ... and perhaps more, which could not be read\n\n": {Total: 1, Incomplete: true},
	} {
		q.Operations = []mqs.PendingOperation{{Status: mqs.Pending}}
		var b bytes.Buffer
		comm := &mqs.Queues{Queue: [3]*mqs.Queue{mqs.PendingReceives: q}}
		if err := Text(&b, &mqs.Snapshot{Processes: []*mqs.Process{{Inferior: 1, PID: 7, Notes: []string{"A note."}, Communicators: []*mqs.Queues{comm}}}}, Style{}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), want) {
			t.Errorf("%d operations, incomplete: %v, are shown as\n%s", q.Total, q.Incomplete, &b)
		}
	}
}

// TestIdleCommunicators checks that communicators without pending operations share a sentence after the others, unless they
// are to stay in the library's order.
func TestIdleCommunicators(t *testing.T) {
	comm := func(id inferior.Addr, name string, receives mqs.Queue) *mqs.Queues {
		return &mqs.Queues{Communicator: mqs.Communicator{UniqueID: id, Name: mqs.Known(name), LocalRank: mqs.Known[int32](1), Size: mqs.Known[int32](2)},
			Queue: [3]*mqs.Queue{mqs.PendingReceives: &receives}}
	}
	s := &mqs.Snapshot{Processes: []*mqs.Process{{Inferior: 1, PID: 7, Communicators: []*mqs.Queues{
		comm(1, "idle", mqs.Queue{}),
		comm(2, "busy", mqs.Queue{Operations: []mqs.PendingOperation{{Status: mqs.Pending}}, Total: 1}),
		comm(3, "hidden", mqs.Queue{Unavailable: "it is not there"}),
		comm(4, "idle too", mqs.Queue{}),
	}}}}
	const head = "Rank ?, process 7\n\n"
	const busy = `busy (0x2): rank 1 of 2
  Pending receives
    status   from  tag  bytes  count  datatype  kind  buffer  note
    pending  ?     ?    ?      ?      ?         ?     ?

`
	for _, c := range []struct {
		style Style
		want  string
	}{
		{Style{}, head + busy + "Nothing pending on idle, idle too.\n\nNot available on hidden: it is not there.\n"},
		{Style{AllCommunicators: true}, head + "idle (0x1): rank 1 of 2\n  Nothing pending.\n\n" + busy +
			"hidden (0x3): rank 1 of 2\n  Pending receives: not available: it is not there.\n\n" +
			"idle too (0x4): rank 1 of 2\n  Nothing pending.\n"},
	} {
		var b bytes.Buffer
		if err := Text(&b, s, c.style); err != nil {
			t.Fatal(err)
		}
		if b.String() != c.want {
			t.Errorf("%+v: got\n%s\nwant\n%s", c.style, &b, c.want)
		}
	}
}

func TestText(t *testing.T) {
	var b bytes.Buffer
	if err := Text(&b, sample(), Style{}); err != nil {
		t.Fatal(err)
	}
	if want := wantText + wantDLLText; b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	b.Reset()
	if err := Text(&b, sample(), Style{On: true}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "\x1b[34mPending receives\x1b[m") || strings.Contains(b.String(), "name\"\x1b") {
		t.Errorf("styled:\n%q", b.String())
	}
}
