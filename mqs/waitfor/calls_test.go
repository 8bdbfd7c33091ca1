package waitfor

import (
	"cmp"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
)

// A call of which nothing but its name is known proves nothing, and the report says what is not known of it.
func TestEachCallByItsName(t *testing.T) {
	for call, b := range behaviours {
		unknown := commUnknown
		switch b {
		case finalizes, starts: // these need nothing but their names
			continue
		case pointToPoint:
			unknown = ownUnknown
			if hasSeveralOperations(call) {
				unknown = requestsUnknown
			}
		case waitsAll, waitsAny:
			unknown = requestsUnknown
		case comesAndGoes:
			unknown = cmp.Or(lackingIn[call], forWhomUnknown)
		case detaches:
			unknown = bufferUnknown
		case exposes, accesses:
			unknown = windowUnknown
		}
		m := newMade(2)
		m.rank(0).thread(call, 40)
		m.rank(1).recv(worldID, 0, 7)
		r := twice(m)
		if r.Verdict != Unknown || states(r) != "WW" || !strings.Contains(r.Why, "Rank 0 waits in "+call+" (a.c:40): "+unknown) {
			t.Errorf("%s: %s, %s: %s", call, r.Verdict, states(r), r.Why)
		}
	}
}

// A blocking call for the program's messages waits for its own operation.
func TestEachBlockingCall(t *testing.T) {
	for call, b := range behaviours {
		if b != pointToPoint {
			continue
		}
		m := newMade(2)
		if _, receives := callstack.BlockingRecvs[call]; receives {
			th := m.rank(0).thread(call, 12, m.rank(0).irecv(worldID, 1, 7))
			m.rank(0).on(worldID).Queue[mqs.PendingReceives].Operations[0].Kind = ownKind(th)
		} else {
			m.rank(0).thread(call, 12, m.rank(0).isend(worldID, 1, 7, true))
		}
		m.rank(1).recv(worldID, 0, 9)
		if r := Analyse(m.Snapshot); r.Verdict != Deadlocked || cycles(r) != "0-1: 0>1 1>0" {
			t.Errorf("%s: %s, %q: %s", call, r.Verdict, cycles(r), r.Why)
		}
	}
}

// A collective waits for its messages. If these are not known, one that synchronises waits for all that have not
// entered it, and of another one it is not known.
func TestEachCollective(t *testing.T) {
	const deadlock = "0-1: 0>1 1>0"
	for call, b := range behaviours {
		if !b.collective() || b == finalizes {
			continue
		}
		m := newMade(2)
		th := m.rank(0).thread(call, 20)
		th.Comm = mqs.Known(worldID)
		m.rank(0).inside(th, worldID, 1)
		m.rank(1).recv(worldID, 0, 7)
		if r := twice(m); r.Verdict != Deadlocked || cycles(r) != deadlock {
			t.Errorf("%s, its message known: %s, %q: %s", call, r.Verdict, cycles(r), r.Why)
		}
		m = newMade(3)
		m.rank(0).enters(worldID, call)
		m.rank(1).recv(worldID, 0, 7)
		m.rank(2).computes()
		want, cycle := Unknown, ""
		if b == synchronises {
			want, cycle = Deadlocked, deadlock
		}
		if r := twice(m); r.Verdict != want || cycles(r) != cycle || b != synchronises && !strings.Contains(r.Why, someUnknown) {
			t.Errorf("%s: %s, %q: %s", call, r.Verdict, cycles(r), r.Why)
		}
	}
}

// A rank in a call that waits for no other rank can move, so that nothing is claimed of those that wait for it.
func TestCallsThatGoOn(t *testing.T) {
	for _, call := range []string{"MPI_Bsend", "MPI_Start", "MPI_Request_free", "MPI_Pready", "MPI_Win_post", "MPI_Put", "MPI_Fetch_and_op", "MPI_Win_attach",
		"MPI_File_read", "MPI_File_write_at", "MPI_File_write_shared", "MPI_File_delete", "MPI_Publish_name", "MPI_Unpublish_name", "MPI_Lookup_name",
		"MPI_Open_port", "MPI_Close_port", "MPI_Abort", "MPI_Comm_idup", "MPI_Ibcast"} {
		m := newMade(2)
		m.rank(0).thread(call, 40)
		m.rank(1).recv(worldID, 0, 7)
		if r := twice(m); r.Verdict != NoProgress || states(r) != "RW" {
			t.Errorf("%s: %s, %s: %s", call, r.Verdict, states(r), r.Why)
		}
	}
}
