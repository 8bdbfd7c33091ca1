package render

import (
	"bytes"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// dllProcesses are what can be shown with a vendor's DLL, one that means harm among them.
func dllProcesses() []*mqs.Process {
	const hostile = "a\x1b[31m\n\u0085b"
	op := mqs.PendingOperation{DesiredLocalRank: mqs.Known[int32](mqs.AnyRank), DesiredTag: mqs.Known[int32](5), DesiredLength: mqs.Known[int64](8),
		Buffer: mqs.Known[inferior.Addr](0x10), ExtraText: []string{hostile, "second line"}}
	matched := op
	matched.Status, matched.ActualTag = mqs.Matched, mqs.Known[int32](5)
	world := mqs.Communicator{Name: mqs.Known("MPI_COMM_WORLD"), LocalRank: mqs.Known[int32](1), Size: mqs.Known[int32](2)}
	queues := func(ops ...mqs.PendingOperation) []*mqs.Queues {
		return []*mqs.Queues{{Communicator: world, Queue: [3]*mqs.Queue{nil, {Operations: ops, Total: len(ops)}, nil}}}
	}
	named := op
	named.Status, named.ExtraText, named.Datatype = mqs.Pending, []string{}, mqs.Known("MPI_INT")
	return []*mqs.Process{
		{Inferior: 3, PID: 8, GlobalRank: mqs.Known[int32](1), MPI: "Open MPI", Source: "dll", DLL: "/lib/openmpi/lib" + hostile + ".so", DLLVersion: "version " + hostile,
			Communicators: queues(op, matched)},
		// Something has filled in a column of the native decoder's: then all are there.
		{Inferior: 4, Source: "dll", DLL: "/lib/libx.so", Communicators: queues(named)},
		// The program has asked not to be shown.
		{Inferior: 5, PID: 9, GlobalRank: mqs.Known[int32](0), WorldSize: mqs.Known[int32](2), Source: "dll"},
		{Inferior: 6, Source: "both", DLL: "/lib/libx.so", DLLVersion: "1.0", Layout: "dwarf", Communicators: queues()},
		{Inferior: 7, Source: "both", DLL: "/lib/lib" + hostile + ".so", Layout: "dwarf", Communicators: queues(), Notes: []string{"A note."}, Differences: []mqs.Difference{
			{Communicator: "old (0x5)", Field: "communicator", DLL: "shown"},
			{Communicator: hostile, Field: "size", Native: "2"},
			{Communicator: "MPI_COMM_WORLD (0x0)", Queue: "unexpected_messages", Field: "queue", Native: "1 operation", DLL: "not available: " + strings.Repeat("long ", 20)},
			{Communicator: "MPI_COMM_WORLD (0x0)", Queue: "pending_sends", Operation: mqs.Known(0), Field: "operation", Native: "peer 1, tag 5, 8 bytes at 0x10"},
			{Communicator: "MPI_COMM_WORLD (0x0)", Queue: "pending_sends", Operation: mqs.Known(1), Field: "actual_global_rank", Native: "2", DLL: hostile},
			{},
		}},
	}
}

const wantDLLText = `
Rank 1 of ?, process 8: Open MPI, read by liba�[31m��b.so (version a�[31m��b)

MPI_COMM_WORLD (0x0): rank 1 of 2
  Pending receives
    status   from  tag  bytes  buffer  note
    ?        ANY   5    8      0x10    a�[31m��b; second line
    matched  ANY   5    8      0x10    got ? bytes from ?, tag 5; a�[31m��b; second line

Rank ?, read by libx.so

MPI_COMM_WORLD (0x0): rank 1 of 2
  Pending receives
    status   from  tag  bytes  count  datatype  kind  buffer  note
    pending  ANY   5    8      ?      MPI_INT   ?     0x10

Rank 0 of 2, process 9

Rank ?, read by its debug information, compared with libx.so

Nothing pending on MPI_COMM_WORLD.

The native decoder and libx.so agree.

Rank ?, read by its debug information, compared with liba�[31m��b.so

Nothing pending on MPI_COMM_WORLD.

Differences between the native decoder and liba�[31m��b.so
  communicator          queue                #  field               native                          DLL
  old (0x5)             -                    -  communicator        -                               shown
  a�[31m��b             -                    -  size                2                               ?
  MPI_COMM_WORLD (0x0)  unexpected messages  -  queue               1 operation                     not available: long long long long long long long long long long long...
  MPI_COMM_WORLD (0x0)  pending sends        0  operation           peer 1, tag 5, 8 bytes at 0x10  -
  MPI_COMM_WORLD (0x0)  pending sends        1  actual_global_rank  2                               a�[31m��b
  -                     -                    -  -                   ?                               ?

Note: A note.
`

// What only the native decoder knows keeps its columns there, known or not.
func TestNativeColumnsStay(t *testing.T) {
	for _, source := range []string{"native", "both", ""} {
		p := dllProcesses()[0]
		p.Source = source
		var b bytes.Buffer
		if err := Text(&b, &mqs.Snapshot{Processes: []*mqs.Process{p}}, Style{}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), "bytes  count  datatype  kind  buffer") {
			t.Errorf("%q: %s", source, b.String())
		}
	}
}
