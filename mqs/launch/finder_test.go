package launch

import (
	"errors"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// A job is found once, for whichever of its processes it is asked.
func TestFinder(t *testing.T) {
	job := &Job{Launcher: 10, Ranks: []Rank{{Number: mqs.Known[int32](0), PID: 11}, {Number: mqs.Known[int32](1), PID: 12, Exited: true},
		{Number: mqs.Known[int32](2), PID: 13, Host: "away"}, {Number: mqs.Known[int32](3), PID: 14, Obstacle: "another user's"}, {Number: mqs.Known[int32](4), PID: 15}}}
	none := errors.New("none")
	var asked []int
	f := &Finder{find: func(pid int) (*Job, error) {
		asked = append(asked, pid)
		if pid == 99 {
			return nil, none
		}
		answer := *job
		answer.Self = &answer.Ranks[0]
		return &answer, nil
	}}
	for _, c := range []struct{ pid, asked, self int }{{11, 1, 11}, {15, 1, 15}, {10, 1, 0}, {11, 1, 11}, {12, 2, 11}, {13, 3, 11}, {14, 4, 11}} {
		j, err := f.Find(c.pid)
		self := 0
		if err == nil && j.Self != nil {
			self = j.Self.PID
		}
		if err != nil || j.Launcher != 10 || len(asked) != c.asked || self != c.self {
			t.Errorf("%d: rank of process %d, asked for %v (%v)", c.pid, self, asked, err)
		}
	}
	for range 2 {
		if _, err := f.Find(99); err != none || len(asked) != 5 {
			t.Errorf("%v, %v", asked, err)
		}
	}
}
