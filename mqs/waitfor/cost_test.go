package waitfor

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/internal/cost"
)

// alone is the snapshot of one rank of a job, in a barrier on the first of its
// communicators, each of which is as large as the job.
func alone(rank, size int32, comms int, group []mqs.Maybe[int32]) *mqs.Snapshot {
	p := &mqs.Process{GlobalRank: mqs.Known(rank), WorldSize: mqs.Known(size), Phase: mqs.Active,
		Threads: []mqs.Thread{{Number: 1, Call: "MPI_Barrier", Comm: mqs.Known(inferior.Addr(0))}}}
	for i := range comms {
		p.Communicators = append(p.Communicators, &mqs.Queues{Communicator: mqs.Communicator{UniqueID: inferior.Addr(i), LocalRank: mqs.Known(rank),
			Size: mqs.Known(size), Group: group}, Queue: [3]*mqs.Queue{{}, {}, {}}})
	}
	return &mqs.Snapshot{Processes: []*mqs.Process{p}}
}

// everywhere is the snapshot of one rank that waits on each of many communicators that it claims
// to be as large as the job: for a message from anybody, or in a barrier by a thread of its own.
func everywhere(size int32, comms int, inBarriers, hasStranger bool) *mqs.Snapshot {
	s := alone(0, size, comms, nil)
	p := s.Processes[0]
	p.Threads = []mqs.Thread{{Number: 1, Placed: true, Call: "MPI_Waitall", AllRequests: true}}
	if inBarriers {
		p.Threads, p.ThreadMultiple = nil, mqs.Known(true)
	}
	for i, q := range p.Communicators {
		q.Name, q.Context = mqs.Known(world), fmt.Sprint(i)
		at := inferior.Addr(0x1000 + i)
		if inBarriers {
			p.Threads = append(p.Threads, mqs.Thread{Number: i + 1, Placed: true, Call: "MPI_Barrier", Comm: mqs.Known(q.UniqueID), Requests: []inferior.Addr{at}})
			continue
		}
		q.Queue[mqs.PendingReceives] = &mqs.Queue{Operations: []mqs.PendingOperation{{Status: mqs.Pending, Kind: "irecv", TagWild: mqs.Known(true),
			DesiredLocalRank: mqs.Known[int32](mqs.AnyRank), Request: mqs.Known(at)}}, Total: 1}
		p.Threads[0].Requests = append(p.Threads[0].Requests, at)
	}
	if hasStranger { // who is in none of them
		group := slices.Clone(mqs.WholeGroup(size))
		group[1].Known = false
		for _, q := range p.Communicators {
			q.Group = group
		}
	}
	return s
}

// TestClaimedSizes checks that the size that a snapshot claims for a job costs nothing by itself. Jobs with many sets of ranks
// are smaller by a factor, and so is the memory that they may cost: a byte for each member of each set would be too much.
func TestClaimedSizes(t *testing.T) {
	const part = 4
	for name, s := range map[string]*mqs.Snapshot{
		"a job":                    alone(0, maxRanks, 0, nil),
		"a rank":                   alone(maxRanks-1, maxRanks, 0, nil),
		"communicators":            alone(0, maxRanks, 2000, nil),
		"a job that is believed":   alone(0, claimedRanks, 0, nil),
		"all of them are believed": alone(claimedRanks-1, claimedRanks, 20, nil),
		"messages from anybody":    everywhere(claimedRanks/part, 1000, false, false),
		"from strangers too":       everywhere(claimedRanks/part, 1000, false, true),
		"barriers":                 everywhere(claimedRanks/part, 300, true, false),
	} {
		t.Run(name, func(t *testing.T) {
			most := uint64(cost.Most)
			if s.Processes[0].WorldSize.Value < claimedRanks {
				most /= part
			}
			cost.AtMost(t, most, func() {
				r := Analyse(s)
				if s.Processes[0].WorldSize.Value > claimedRanks && !strings.Contains(strings.Join(r.Notes, "\n"), "too few for more than 262144") {
					t.Errorf("nothing is said of the size: %q", r.Notes)
				}
				if r.Verdict == Deadlocked {
					t.Error("a deadlock of ranks that were not looked at")
				}
			})
		})
	}
}

// TestLargeJobOfOneSnapshot checks that one rank of a job of a hundred thousand, with a thousand communicators of all of them,
// has a report, and that a job may be larger than what is believed by default if a communicator lists its ranks.
func TestLargeJobOfOneSnapshot(t *testing.T) {
	cost.AtMost(t, 128<<20, func() {
		r := Analyse(alone(99_999, many, 1000, mqs.WholeGroup(many)))
		if r.WorldSize != mqs.Known[int32](many) || len(r.Missing) != many-1 {
			t.Errorf("a job of %v, of which %d are missing", r.WorldSize, len(r.Missing))
		}
	})
	const more = claimedRanks + 1 // are not believed without a group
	if r := Analyse(alone(more-1, more, 3, mqs.WholeGroup(more))); r.WorldSize != mqs.Known[int32](more) {
		t.Errorf("a job of %v", r.WorldSize)
	}
}
