package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
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
	own, err := os.Executable()
	if err != nil {
		return err
	}
	newRoster(out, own, q.Engine).add(lists)
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
	r, err := reportOf(ctx, q, &looking{})
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

// roster is what is known of a job's ranks, to which nodes add what they say of theirs.
type roster struct {
	*bridge.RanksResult
	program string // this one, here and on nodes
	engine  string
	// places are those of ranks in the list, and seated is true of those that a node has said to have.
	places map[int32]int
	seated map[int32]bool
	// failures are of all nodes that were asked: why they can't be reached, or empty.
	failures map[string]string
}

// newRoster begins with what is known here. A node is reached by an engine, which this program's command connect runs.
func newRoster(out *bridge.RanksResult, program, engine string) *roster {
	r := &roster{RanksResult: out, program: program, engine: engine, places: map[int32]int{}, seated: map[int32]bool{}, failures: map[string]string{}}
	for i := range out.Ranks {
		if rank := out.Ranks[i].Rank; rank != nil {
			r.places[*rank] = i
		}
	}
	return r
}

// add adds what nodes have said.
func (r *roster) add(lists []cluster.Listed) {
	for _, l := range lists {
		r.failures[l.Host] = l.Failure
	}
	for _, l := range lists {
		node := bridge.Node{Host: l.Host, Failure: l.Failure}
		var err error
		if l.List != nil {
			switch node.Line, err = cluster.Connection([]string{r.program, connectName}, r.program, r.engine, l.Host); {
			case l.Size.Known && r.Size != nil && l.Size.Value != *r.Size:
				err = fmt.Errorf("the job there has %d ranks, and this one has %d", l.Size.Value, *r.Size)
			case !l.Server:
				err = errors.New("there is no gdbserver in the folders of PATH there: install it")
			}
			if err != nil {
				node.Line, node.Failure = "", err.Error()
			}
		}
		r.Nodes = append(r.Nodes, node)
		r.failures[l.Host] = node.Failure
		if l.List != nil {
			r.addSeats(l)
		}
	}
	for i := range r.Ranks {
		if rank := &r.Ranks[i]; rank.Host != "" {
			rank.Obstacle = cmp.Or(rank.Obstacle, r.failures[rank.Host])
		}
	}
}

// addSeats adds a node's ranks, which the launcher's table may have already: by another name of the node, and with the
// process that it has started there. What is on this machine is known better here.
func (r *roster) addSeats(l cluster.Listed) {
	if r.Size == nil && l.Size.Known {
		r.Size = &l.Size.Value
	}
	first := len(r.Images)
	for _, ids := range l.Images {
		r.Images = append(r.Images, bridge.Image{BuildIDs: ids})
	}
	for _, seat := range l.Seats {
		number := seat.Rank.Value
		if !seat.Rank.Known || number < 0 || r.Size != nil && number >= *r.Size {
			continue
		}
		at, known := r.places[number]
		if !known {
			at = len(r.Ranks)
			r.Ranks = append(r.Ranks, bridge.Rank{Rank: &number, Host: l.Host})
			r.places[number] = at
		}
		rank := &r.Ranks[at]
		_, isAsked := r.failures[rank.Host]
		switch {
		case rank.Host == "":
		case rank.Host != l.Host && isAsked:
			rank.Obstacle = cmp.Or(rank.Obstacle, fmt.Sprintf("%s has a process that says to be this rank, too", l.Host))
		case r.seated[number]:
			rank.Obstacle = cmp.Or(rank.Obstacle, "two processes there say to be this rank")
		default:
			r.seated[number] = true
			rank.Host, rank.PID, rank.Executable = l.Host, seat.PID, printable.Line(seat.Executable)
			rank.Obstacle = cmp.Or(rank.Obstacle, printable.Line(seat.Obstacle))
			if image := first + seat.Image; seat.Image >= 0 && image < len(r.Images) {
				rank.Image = &image
			}
		}
	}
}
