package main

import (
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/bridge"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/cluster"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
)

func seatOf(rank int32, pid int) cluster.Seat {
	return cluster.Seat{Rank: mqs.Known(rank), PID: pid, Executable: "/a\x1b"}
}

func listed(host string, seats ...cluster.Seat) cluster.Listed {
	return cluster.Listed{Host: host, List: &cluster.List{Size: mqs.Known[int32](9), Server: true, Seats: seats, Images: [][]string{{host}}}}
}

// What nodes say of their ranks joins what is known here, and what they say against each other is no rank's process.
func TestRoster(t *testing.T) {
	t.Parallel()
	numbers := []int32{0, 1, 2, 3, 4}
	at := func(i int, host string, pid int) bridge.Rank {
		return bridge.Rank{Rank: &numbers[i], Host: host, PID: pid}
	}
	size := int32(9)
	out := &bridge.RanksResult{Size: &size, Ranks: []bridge.Rank{at(0, "", 10), at(1, "b.domain", 11), at(2, "c", 12), at(3, "d", 13), at(4, "f", 14)}}
	newRoster(out, "x", "ssh {host} {command}").add([]cluster.Listed{
		listed("b", seatOf(0, 1), seatOf(1, 21), seatOf(5, 25), seatOf(5, 26), seatOf(2, 22), seatOf(-1, 1), seatOf(9, 1), cluster.Seat{PID: 3}),
		listed("c", seatOf(2, 32), seatOf(1, 31), cluster.Seat{Rank: mqs.Known[int32](6), PID: 36, Image: 7, Obstacle: "it\x1bsleeps"}),
		{Host: "d", Failure: "no way"},
		{Host: "e", List: &cluster.List{Size: mqs.Known[int32](4), Server: true, Seats: []cluster.Seat{seatOf(7, 57)}}},
		{Host: "f", List: &cluster.List{Seats: []cluster.Seat{seatOf(4, 64)}}},
		listed("-o", seatOf(8, 88)),
	})
	for number, want := range map[int32]struct {
		host     string
		pid      int
		obstacle string
	}{
		0: {"", 10, ""}, 1: {"b", 21, "c has a process that says to be this rank, too"}, 2: {"c", 32, "b has a process that says to be this rank, too"},
		3: {"d", 13, "no way"}, 4: {"f", 64, "there is no gdbserver in the folders of PATH there: install it"},
		5: {"b", 25, "two processes there say to be this rank"}, 6: {"c", 36, printable.Line("it\x1bsleeps")},
		7: {"e", 57, "the job there has 4 ranks, and this one has 9"}, 8: {"-o", 88, "not a plain host name or address"},
	} {
		found := 0
		for _, r := range out.Ranks {
			if r.Rank == nil || *r.Rank != number {
				continue
			}
			found++
			if r.Host != want.host || r.PID != want.pid || r.Obstacle != want.obstacle || strings.Contains(r.Executable, "\x1b") {
				t.Errorf("rank %d: %+v", number, r)
			}
			if r.Image != nil && (*r.Image >= len(out.Images) || out.Images[*r.Image].BuildIDs[0] != r.Host) {
				t.Errorf("rank %d executes %d of %v", number, *r.Image, out.Images)
			}
		}
		if found != 1 {
			t.Errorf("rank %d is there %d times", number, found)
		}
	}
	if len(out.Ranks) != len(numbers)+4 {
		t.Errorf("%d ranks", len(out.Ranks))
	}
	for _, n := range out.Nodes {
		if (n.Line == "") == (n.Failure == "") || n.Line != "" && n.Host != "b" && n.Host != "c" {
			t.Errorf("%+v", n)
		}
	}
}

// Where nobody has known how many there are, the first node's word counts.
func TestRosterOfOthers(t *testing.T) {
	t.Parallel()
	out := &bridge.RanksResult{}
	newRoster(out, "", "ssh {host} {command}").add([]cluster.Listed{listed("a", seatOf(8, 1), seatOf(9, 1))})
	if out.Size == nil || *out.Size != 9 || len(out.Ranks) != 1 {
		t.Errorf("%+v", out)
	}
}
