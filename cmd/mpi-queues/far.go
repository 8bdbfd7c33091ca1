package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mpi-queues/mpi-queues/bridge"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/cluster"
	"github.com/mpi-queues/mpi-queues/mqs/launch"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
)

// farRanks asks the other nodes of a job for its ranks, which a debugger is to attach to.
func farRanks(ctx context.Context, job *launch.Job, p bridge.RanksParams, out *bridge.RanksResult, tell func(message string)) error {
	n := nodes{hosts: p.Hosts, via: p.Via, limit: time.Minute, of: p.PID}
	if p.Culprits {
		if err := addCulprits(ctx, n, out, tell); err != nil {
			return err
		}
	}
	n.lists = true
	if n.via == noEngine && len(n.hosts) == 0 || !n.areAsked() && !n.isSpread(job) {
		return nil
	}
	if err := n.checkNodes(); err != nil {
		return err
	}
	q, err := n.question(ctx, settings{timeout: time.Minute}, view{}, n.of)
	if err != nil {
		if n.areAsked() {
			return err
		}
		out.NotAsked = err.Error()
		return nil
	}
	q.Local = false
	q.Told = func(answered, asked int) { tell(fmt.Sprintf("%d of %d nodes have answered", answered, asked)) }
	lists, err := q.Lists(ctx)
	if err != nil {
		return err
	}
	for _, l := range lists {
		addNode(out, q.Engine, l)
	}
	return nil
}

// addCulprits adds a rank of each group of ranks that a report has.
func addCulprits(ctx context.Context, n nodes, out *bridge.RanksResult, tell func(message string)) error {
	isAlone := n.via == noEngine
	if isAlone {
		n.via = ""
	}
	q, err := n.question(ctx, settings{timeout: time.Minute}, view{internal: true}, n.of)
	if err != nil {
		return err
	}
	if isAlone {
		q.Hosts = nil
	}
	q.Told = func(answered, asked int) {
		tell(fmt.Sprintf("looking who waits for whom: %d of %d nodes have answered", answered, asked))
	}
	r, err := reportOf(ctx, q)
	if err != nil {
		return err
	}
	out.Culprits = []int32{}
	for _, g := range r.Groups {
		if len(g.Ranks) > 0 {
			out.Culprits = append(out.Culprits, g.Ranks[0])
		}
	}
	return nil
}

// addNode adds what a node has said to what is known of a job.
func addNode(out *bridge.RanksResult, engine string, l cluster.Listed) {
	node := bridge.Node{Host: l.Host, Failure: l.Failure}
	switch {
	case l.List == nil:
	case l.Size.Known && out.Size != nil && l.Size.Value != *out.Size:
		node.Failure = fmt.Sprintf("the job there has %d ranks, and this one has %d", l.Size.Value, *out.Size)
	case !l.Server:
		node.Failure = "there is no gdbserver in the folders of PATH there: install it"
	default:
		var err error
		if node.Line, err = cluster.Connection(engine, l.Host); err != nil {
			node.Failure = err.Error()
		}
	}
	out.Nodes = append(out.Nodes, node)
	for i := range out.Ranks {
		if r := &out.Ranks[i]; r.Host == l.Host && node.Failure != "" {
			r.Obstacle = cmp.Or(r.Obstacle, node.Failure)
		}
	}
	if l.List == nil {
		return
	}
	if out.Size == nil && l.Size.Known {
		out.Size = &l.Size.Value
	}
	first := len(out.Images)
	for _, ids := range l.Images {
		out.Images = append(out.Images, bridge.Image{BuildIDs: ids})
	}
	for _, seat := range l.Seats {
		addSeat(out, l.Host, seat, first, node.Failure)
	}
}

// addSeat adds a rank, which the launcher's table may have already, with the process that it has started there. What
// is on this machine is known better here.
func addSeat(out *bridge.RanksResult, host string, seat cluster.Seat, images int, failure string) {
	if !seat.Rank.Known {
		return
	}
	at := slices.IndexFunc(out.Ranks, func(r bridge.Rank) bool { return r.Rank != nil && *r.Rank == seat.Rank.Value })
	if at < 0 {
		at = len(out.Ranks)
		out.Ranks = append(out.Ranks, bridge.Rank{Rank: &seat.Rank.Value, Host: host})
	}
	r := &out.Ranks[at]
	if r.Host != host {
		return
	}
	r.PID, r.Executable = seat.PID, printable.Line(seat.Executable)
	if r.Obstacle = cmp.Or(printable.Line(seat.Obstacle), failure); seat.Image >= 0 && images+seat.Image < len(out.Images) {
		image := images + seat.Image
		r.Image = &image
	}
}
