package read

import (
	"slices"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
)

func TestMerge(t *testing.T) {
	rank := func(number, size int32) *mqs.Process {
		return &mqs.Process{GlobalRank: mqs.Known(number), WorldSize: mqs.Known(size), Phase: mqs.Active}
	}
	snapshot := func(processes ...*mqs.Process) *mqs.Snapshot { return &mqs.Snapshot{Processes: processes} }
	first, second, last, unknown := rank(0, 4), rank(1, 4), rank(3, 4), &mqs.Process{PID: 5}
	again := rank(1, 4)
	again.Phase = ""
	s, err := Merge(snapshot(unknown, last, second), snapshot(again, again, first))
	if err != nil {
		t.Fatal(err)
	}
	p := s.Processes
	if len(p) != 4 || p[0] != first || p[2] != last || p[3] != unknown || p[1].Phase != mqs.Active ||
		len(p[1].Notes) != 1 || p[1].Notes[0] != "rank 1 is there more than once: this is the first one" {
		t.Errorf("%+v", p)
	}
	if len(second.Notes) != 0 {
		t.Error("the caller's process has changed")
	}
	if _, err := Merge(snapshot(first, second), snapshot(rank(1, 5))); err == nil ||
		err.Error() != "these are not snapshots of one job: rank 0 is of a job of 4, rank 1 of one of 5" {
		t.Errorf("error %v", err)
	}
}

// TestMergeOfAlone checks that processes which did not join their launcher's job are merged by the ranks that it gave them.
func TestMergeOfAlone(t *testing.T) {
	alone := func(launched int32) *mqs.Process {
		return &mqs.Process{GlobalRank: mqs.Known[int32](0), WorldSize: mqs.Known[int32](1), LaunchedRank: mqs.Known(launched), LaunchedSize: mqs.Known[int32](3)}
	}
	first, second, last := alone(0), alone(1), &mqs.Process{GlobalRank: mqs.Known[int32](2), WorldSize: mqs.Known[int32](3)}
	s, err := Merge(&mqs.Snapshot{Processes: []*mqs.Process{last, second, first}})
	if err != nil || !slices.Equal(s.Processes, []*mqs.Process{first, second, last}) {
		t.Errorf("%+v, %v", s, err)
	}
}
