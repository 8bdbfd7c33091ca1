package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/cluster"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/liveness"
	"github.com/mpi-queues/mpi-queues/mqs/launch"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
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
}

func (n *nodes) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringSliceVar(&n.hosts, "hosts", nil, "look at the job's ranks on these `HOSTS` too, with commas between them")
	f.StringVar(&n.slurm, "slurm", "", "look at the job or the step `ID[.STEP]` of Slurm's, on all its nodes")
	f.StringVar(&n.via, "via", "", "reach hosts by ssh, mpirun, mpiexec, or a `COMMAND` with {command} in it, and {host} or {hosts}")
	f.StringVar(&n.program, "node-program", "", "the `PATH` of this program on the hosts (default: as here)")
	f.DurationVar(&n.limit, "node-limit", time.Minute, "how much `TIME` a host has to answer")
}

// areAsked is true if more than this machine is to be looked at.
func (n *nodes) areAsked() bool { return len(n.hosts) > 0 || n.slurm != "" || n.via != "" }

var slurmJob = regexp.MustCompile(`^[0-9]+(\.[0-9A-Za-z]+)?$`)

func (n *nodes) arguments(args []string, isCore bool) error {
	switch {
	case isCore:
		return usage(errors.New("--core goes with none of --hosts, --slurm and --via: the files are here"))
	case n.slurm != "" && !slurmJob.MatchString(n.slurm):
		return usage(fmt.Errorf("%q is no job of Slurm's: --slurm ID or --slurm ID.STEP", n.slurm))
	case n.limit <= 0:
		return usage(errors.New("--node-limit must be more than nothing: 60s, 5m"))
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
	for i, host := range n.hosts {
		if host == "" || strings.HasPrefix(host, "-") {
			return usage(fmt.Errorf("%q is no host's name", host))
		}
		if slices.Contains(n.hosts[:i], host) {
			return usage(fmt.Errorf("the host %s is named twice", host))
		}
	}
	return nil
}

// question makes of the flags what to ask.
func (n *nodes) question(s settings, v view) (*cluster.Question, error) {
	c := collector{settings: s, limit: n.limit, view: v}
	q := &cluster.Question{Hosts: n.hosts, Version: version(), Limit: n.limit}
	pids := map[string]int{}
	if n.slurm != "" {
		c.name = "slurm:" + n.slurm
	}
	if n.of != 0 {
		job, err := new(launch.Finder).Find(n.of)
		if err != nil {
			return nil, err
		}
		for _, r := range job.Ranks {
			switch {
			case r.IsHere() && len(n.hosts) == 0:
				q.Local, pids[cluster.Node()] = true, r.PID
			case r.Host != "" && pids[r.Host] == 0:
				pids[r.Host] = r.PID
				if len(n.hosts) == 0 {
					q.Hosts = append(q.Hosts, r.Host)
				}
			}
		}
		if len(job.Names) > 0 && c.name == "" {
			c.name = job.Names[0]
		}
		if len(q.Hosts) == 0 && n.slurm == "" && (!job.Size.Known || len(job.Ranks) < int(job.Size.Value)) {
			return nil, fmt.Errorf("on which hosts the job's other ranks are is not known here, since its launcher (%s, process %d) keeps no table of them: name them with --hosts",
				cmp.Or(job.Name, "gone"), job.Launcher)
		}
	}
	var err error
	switch {
	case n.via != "":
		q.Engine, err = cluster.Engine(n.via)
	case n.slurm != "":
		id, _, _ := strings.Cut(n.slurm, ".")
		q.Engine = cluster.SlurmEngine(id)
	case len(q.Hosts) > 0:
		q.Engine, err = cluster.Engine("ssh")
	}
	if err != nil {
		return nil, usage(err)
	}
	own, err := os.Executable()
	if err != nil {
		return nil, err
	}
	q.Command = func(host string) string {
		one, program := c, cmp.Or(n.program, own)
		if host != "" {
			one.node, one.whileInput = host, true
		}
		if pids[host] != 0 {
			one.pid, one.name = pids[host], ""
		}
		return cluster.Line(one.words(program)...)
	}
	if isatty.IsTerminal(os.Stderr.Fd()) && os.Getenv("TERM") != "dumb" {
		q.Told = func(answered, asked int) {
			end := map[bool]string{true: "\r\x1b[K"}[answered >= asked]
			fmt.Fprintf(os.Stderr, "\r%d of %d nodes have answered%s", answered, asked, end)
		}
	}
	return q, nil
}

var errInterrupted = errors.New("interrupted; the processes run on")

// acrossNodes reports on a job on many nodes.
func (c *report) acrossNodes(ctx context.Context) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	q, err := c.question(c.settings, view{internal: true})
	if err != nil {
		return orUnreadable(err)
	}
	first, err := q.Ask(ctx)
	if ctx.Err() != nil {
		err = errInterrupted
	}
	if err != nil {
		return unreadable(err)
	}
	last := first
	r, err := liveness.WatchFar(ctx, first.Look, func(ctx context.Context) (liveness.Look, error) {
		next, err := q.Ask(ctx)
		if err != nil {
			return liveness.Look{}, err
		}
		last = next
		return next.Look, nil
	})
	if ctx.Err() != nil {
		err = errInterrupted
	}
	if err != nil {
		return unreadable(err)
	}
	r.Notes = append(r.Notes, last.Remarks...)
	if err := c.write(r); err != nil {
		return unreadable(err)
	}
	return nil
}

// acrossNodes shows the queues of a job on many nodes.
func (d *dump) acrossNodes(ctx context.Context) error {
	if _, err := d.filter(); err != nil {
		return usage(err)
	}
	q, err := d.question(d.settings, d.view)
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
