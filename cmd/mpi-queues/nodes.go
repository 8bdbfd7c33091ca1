package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/cluster"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/launch"
	"github.com/mpi-queues/mpi-queues/mqs/liveness"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
	"github.com/mpi-queues/mpi-queues/mqs/stacks"
	"github.com/mpi-queues/mpi-queues/mqs/waitfor"
)

// nodes are the flags on which nodes a job is, and how they are reached.
type nodes struct {
	hosts   []string
	slurm   string
	via     string
	program string
	limit   time.Duration
	// of is a process of the job on this machine, 0 if none is named.
	of int
	// lists is true if the nodes' ranks are to be listed, and not read.
	lists bool
}

func (n *nodes) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringSliceVar(&n.hosts, "hosts", nil, "look at the job's ranks on these `HOSTS` too, with commas between them")
	f.StringVar(&n.slurm, "slurm", "", "look at the job or the step `ID[.STEP]` of Slurm's, on all its nodes")
	f.StringVar(&n.via, "via", "", "reach hosts by ssh, mpirun, mpiexec, or a `COMMAND` with {command} in it, and {host} or {hosts}; none: only this machine")
	f.StringVar(&n.program, "node-program", "", "the `PATH` of this program on the hosts (default: as here)")
	f.DurationVar(&n.limit, "node-limit", time.Minute, "how much `TIME` a host has to answer")
}

// areAsked is true if more than this machine is to be looked at.
func (n *nodes) areAsked() bool {
	return len(n.hosts) > 0 || n.slurm != "" || n.via != "" && n.via != noEngine
}

// noEngine is the engine that reaches nobody.
const noEngine = "none"

var slurmJob = regexp.MustCompile(`^[0-9]+(\.[0-9A-Za-z]+)?$`)

// arguments reads the arguments of a command that looks at several machines.
func (n *nodes) arguments(args []string, isCore bool) error {
	err := n.checkNodes()
	switch {
	case err != nil:
		return err
	case isCore:
		return usage(errors.New("--core goes with none of --hosts, --slurm and --via: the files are here"))
	case len(args) > 1:
		return usage(errors.New("one process is enough: all ranks of its job are found"))
	case len(args) == 1:
		pid, err := strconv.ParseInt(args[0], 10, 32)
		if err != nil || pid <= 0 {
			return usage(fmt.Errorf("%q is not a process id", args[0]))
		}
		n.of = int(pid)
	case len(n.hosts) == 0 && n.slurm == "":
		return usage(errors.New("which hosts? --hosts names them, --slurm a job of Slurm's, and the process id of a launcher that keeps a table of its ranks tells them too"))
	}
	return nil
}

// checkNodes says what is wrong with the flags of a command that looks at several machines.
func (n *nodes) checkNodes() error {
	switch {
	case n.via == noEngine:
		return usage(errors.New("--via none is for this machine alone, and goes with neither --hosts nor --slurm"))
	case n.slurm != "" && !slurmJob.MatchString(n.slurm):
		return usage(fmt.Errorf("%q is no job of Slurm's: --slurm ID or --slurm ID.STEP", n.slurm))
	case n.limit <= 0:
		return usage(errors.New("--node-limit must be more than nothing: 60s, 5m"))
	}
	for i, host := range n.hosts {
		if err := launch.CheckHost(host); err != nil {
			return usage(fmt.Errorf("--hosts %q: %w", host, err))
		}
		if slices.Contains(n.hosts[:i], host) {
			return usage(fmt.Errorf("the host %s is named twice", host))
		}
	}
	return nil
}

var errInterrupted = errors.New("interrupted; the processes run on")

// acrossNodes reports on a job on many nodes.
func (c *report) acrossNodes(ctx context.Context) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	q, err := c.question(ctx, c.settings, view{internal: true}, c.of)
	if err != nil {
		return orUnreadable(err)
	}
	return c.ask(ctx, q)
}

// ask writes the report on what nodes answer.
func (c *report) ask(ctx context.Context, q *cluster.Question) error {
	q.Stacks = c.stacks
	r, err := reportOf(ctx, q, &c.looking)
	if ctx.Err() != nil {
		err = errInterrupted
	}
	if err == nil {
		err = c.write(r)
	}
	if err != nil {
		return unreadable(err)
	}
	return nil
}

// reportOf makes the report of a job on many nodes, with stacks if those are looked at.
func reportOf(ctx context.Context, q *cluster.Question, l *looking) (*waitfor.Report, error) {
	var remarks []string // on the last look that there was
	look := func(ctx context.Context) (liveness.Look, error) {
		a, err := q.Ask(ctx)
		if err != nil {
			return liveness.Look{}, err
		}
		remarks = a.Remarks
		return a.Look, nil
	}
	first, err := look(ctx)
	if err != nil {
		return nil, err
	}
	l.keep(first.Snapshot)
	// The looks stay, and are most of what there is.
	debug.SetGCPercent(25)
	r, err := liveness.WatchFar(ctx, first, look)
	if err != nil {
		return nil, err
	}
	r.Notes = append(r.Notes, remarks...)
	l.rest(ctx, func() (*mqs.Snapshot, error) {
		next, err := look(ctx)
		return next.Snapshot, err
	})
	if l.stacks {
		r.SetStacks(stacks.MergeLooks(l.seen))
	}
	return r, nil
}

// acrossNodes shows the queues of a job on many nodes.
func (d *dump) acrossNodes(ctx context.Context) error {
	if _, err := d.filter(); err != nil {
		return usage(err)
	}
	q, err := d.question(ctx, d.settings, d.view, d.of)
	if err != nil {
		return orUnreadable(err)
	}
	q.KeepIDs = true
	a, err := q.Ask(ctx)
	if ctx.Err() != nil {
		err = errInterrupted
	}
	if err != nil {
		return unreadable(err)
	}
	if d.json {
		for _, remark := range a.Remarks { // the document is of processes
			complain(errors.New(remark))
		}
		err = d.show(a.Snapshot)
	} else {
		err = d.fill(func(f *os.File, styled bool) error {
			err := d.write(f, a.Snapshot, styled)
			for _, r := range a.Remarks {
				_, printErr := fmt.Fprintf(f, "\n%s.\n", printable.Text(r))
				err = errors.Join(err, printErr)
			}
			return err
		})
	}
	if err != nil {
		return unreadable(err)
	}
	return nil
}

func orUnreadable(err error) error {
	var exit *exitError
	if errors.As(err, &exit) {
		return err
	}
	return unreadable(err)
}
