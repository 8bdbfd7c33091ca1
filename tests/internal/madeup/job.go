// Package madeup makes snapshots of jobs that never ran, with any number of ranks and varied content, for
// tests of size and speed.
package madeup

import (
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Unique ids of the communicators that all ranks have.
const (
	world inferior.Addr = 0x601080
	halo  inferior.Addr = 0x55d0c01f2a40
)

// isMissing tells the ranks that a job leaves out.
func isMissing(rank int) bool { return rank%30011 == 30010 }

// Job is the snapshot of a job of this many ranks, which has two deadlocks:
// ranks 0 and 1 miss each other's tag, and ranks 2 to 9 wait for each other in a
// ring. Most other ranks are in a barrier, some compute, some wait for requests.
func Job(size int) *mqs.Snapshot {
	s := &mqs.Snapshot{}
	for rank := range size {
		if !isMissing(rank) {
			s.Processes = append(s.Processes, process(rank, size))
		}
	}
	return s
}

// process is one process of the job.
func process(rank, size int) *mqs.Process {
	p := &mqs.Process{Inferior: 1, PID: 4000 + rank, GlobalRank: mqs.Known(int32(rank)), WorldSize: mqs.Known(int32(size)),
		Image: "/home/user/solver/bin/solver", MPI: "Open MPI", MPIVersion: "4.1.4", Library: "/usr/lib/x86_64-linux-gnu/libopen-pal.so.40",
		Source: "native", Layout: "table", LayoutName: "Open MPI 4.1.4", Phase: mqs.Active, ThreadMultiple: mqs.Known(false), Notes: []string{}}
	onWorld, onHalo := communicator(world, "MPI_COMM_WORLD", "0", rank, size), communicator(halo, "halo exchange", "3", rank, size)
	p.Communicators = []*mqs.Queues{onWorld, onHalo}
	left, right := (rank+size-1)%size, (rank+1)%size
	t := mqs.Thread{Number: 1, Placed: true, Function: "main", File: "solver.c"}
	switch {
	case rank == 0:
		add(onHalo, mqs.PendingReceives, message(onHalo, "recv", 1, 7, 65536))
		add(onHalo, mqs.UnexpectedMessages, message(onHalo, "", 1, 8, 65536))
		wait(&t, onHalo, "MPI_Recv", 42)
	case rank == 1:
		add(onHalo, mqs.PendingSends, message(onHalo, "send", 0, 8, 65536))
		wait(&t, onHalo, "MPI_Send", 57)
	case rank < 10 && size >= 10:
		next := rank + 1
		if next == 10 {
			next = 2
		}
		add(onWorld, mqs.PendingReceives, message(onWorld, "recv", next, 3, 4096))
		wait(&t, onWorld, "MPI_Recv", 140)
	case rank%1000 == 17:
		t.Function, t.File, t.Line = "sweep", "kernel.c", 1200+rank%7
		add(onHalo, mqs.UnexpectedMessages, message(onHalo, "", left, 11, 8192))
	case rank%50 == 13:
		add(onHalo, mqs.PendingReceives, message(onHalo, "irecv", left, 11, 8192))
		add(onHalo, mqs.PendingReceives, message(onHalo, "irecv", right, 12, 8192))
		add(onHalo, mqs.PendingSends, message(onHalo, "isend", right, 11, 8192))
		wait(&t, onHalo, "MPI_Waitall", 201)
	default:
		add(onWorld, mqs.PendingReceives, message(onWorld, "irecv", mqs.AnyRank, 900+rank%16, int64(64+rank%5)))
		add(onHalo, mqs.PendingSends, message(onHalo, "isend", right, 21, 1<<20))
		internal := message(onWorld, "irecv", rank/2, -14, 0)
		internal.Internal = true
		add(onWorld, mqs.PendingReceives, internal)
		t.Call, t.Line, t.Comm = "MPI_Barrier", 88, mqs.Known(world)
	}
	p.Threads = []mqs.Thread{t, {Number: 2, Placed: true, Activity: mqs.Blocks, Function: "progress", File: "threads.c", Line: 31}}
	return p
}

// communicator is one of all ranks. Its group is left out: all groups of a large
// job together are as large as the square of it.
func communicator(id inferior.Addr, name, context string, rank, size int) *mqs.Queues {
	q := &mqs.Queues{Communicator: mqs.Communicator{UniqueID: id, LocalRank: mqs.Known(int32(rank)), Size: mqs.Known(int32(size)),
		Name: mqs.Known(name), Context: context}}
	for _, class := range mqs.OpClasses {
		q.Queue[class] = &mqs.Queue{Operations: []mqs.PendingOperation{}}
	}
	return q
}

// message is an operation of this kind, or a message that has arrived if there is none.
func message(q *mqs.Queues, kind string, peer, tag int, length int64) mqs.PendingOperation {
	op := mqs.PendingOperation{Status: mqs.Pending, DesiredLocalRank: mqs.Known(int32(peer)), DesiredGlobalRank: mqs.Known(int32(peer)),
		TagWild: mqs.Known(false), DesiredTag: mqs.Known(int32(tag)), DesiredLength: mqs.Known(length), SystemBuffer: mqs.Known(kind == ""),
		Buffer: mqs.Known(inferior.Addr(0x7f0000000000) + inferior.Addr(q.LocalRank.Value)<<12 + inferior.Addr(tag)<<4), ExtraText: []string{}, Kind: kind}
	if kind != "recv" && kind != "irecv" {
		op.ActualLocalRank, op.ActualGlobalRank, op.ActualTag, op.ActualLength = op.DesiredLocalRank, op.DesiredGlobalRank, op.DesiredTag, op.DesiredLength
	}
	if kind != "" {
		op.Datatype, op.Count = mqs.Known("MPI_BYTE"), mqs.Known(length)
		op.Request = mqs.Known(inferior.Addr(0x55d0c0000000) + inferior.Addr(tag&0xfff)<<8)
	}
	return op
}

func add(q *mqs.Queues, class mqs.OpClass, op mqs.PendingOperation) {
	queue := q.Queue[class]
	queue.Operations = append(queue.Operations, op)
	queue.Total++
}

// wait puts a thread into a call that waits for all that it has started on a communicator.
func wait(t *mqs.Thread, q *mqs.Queues, call string, line int) {
	t.Call, t.Line, t.Comm, t.AllRequests = call, line, mqs.Known(q.UniqueID), true
	for _, class := range []mqs.OpClass{mqs.PendingSends, mqs.PendingReceives} {
		for _, op := range q.Queue[class].Operations {
			t.Requests = append(t.Requests, op.Request.Value)
		}
	}
}
