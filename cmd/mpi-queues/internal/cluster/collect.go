// Package cluster looks at a job on many nodes: a collector on each node reads the ranks that are there, and
// sends what it has read over its standard output to who has had it started by the engine that the nodes have.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/jobs"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/wire"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/launch"
	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
	"github.com/mpi-queues/mpi-queues/mqs/liveness"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// Node is this node's name: Slurm's for it, if it has one, else the host's.
func Node() string {
	if name := os.Getenv("SLURMD_NODENAME"); name != "" {
		return name
	}
	name, _ := os.Hostname() // the kernel always has one
	return name
}

// Machine tells this machine, or container, from others whatever they are called (random(4), pid_namespaces(7)).
func Machine() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	space := procfs.Host.Namespace(os.Getpid(), "pid")
	if err != nil || space == "" {
		return ""
	}
	return strings.TrimSpace(string(boot)) + " " + space
}

// Pick finds the job on this node that is meant: that of a process, or that of a name, or the only one there is.
func Pick(known *launch.Finder, pid int, name string) (*launch.Job, error) {
	if pid != 0 {
		return known.Find(pid)
	}
	all, err := launch.All()
	if err != nil {
		return nil, err
	}
	// Launchers make ranks of the collectors that they start.
	if own, err := procfs.Host.Program(os.Getpid()); err == nil {
		all = slices.DeleteFunc(all, func(j *launch.Job) bool {
			return slices.ContainsFunc(j.Ranks, func(r launch.Rank) bool { return r.Executable == strings.TrimSuffix(own, procfs.Deleted) })
		})
	}
	// Several of Slurm's nodes may be on one machine, or in containers of it.
	if node := os.Getenv("SLURMD_NODENAME"); node != "" {
		all = slices.DeleteFunc(all, func(j *launch.Job) bool { return j.Node != "" && j.Node != node })
	}
	if name != "" {
		all = slices.DeleteFunc(all, func(j *launch.Job) bool {
			return !slices.ContainsFunc(j.Names, func(n string) bool { return n == name || strings.HasPrefix(n, name+".") })
		})
	}
	switch {
	case len(all) == 1:
		return all[0], nil
	case len(all) == 0 && name != "":
		return nil, fmt.Errorf("no rank of the job is there that may be debugged: no process's environment has %s", name)
	case len(all) == 0:
		return nil, errors.New("no rank of an MPI job is there that may be debugged")
	}
	return nil, fmt.Errorf("%d jobs are there: name one of them", len(all))
}

// Collect reads the ranks of a job that are on this node, and sends them.
func Collect(ctx context.Context, g jobs.GDB, job *launch.Job, to *wire.Sender, f read.Filter) error {
	here := *job
	here.Ranks = slices.DeleteFunc(slices.Clone(job.Ranks), func(r launch.Rank) bool { return r.Host != "" })
	if len(here.Ranks) == 0 {
		return errors.New("no rank of the job is there")
	}
	h := header{Names: job.Names, Stopped: clocks(&here)}
	if err := to.Progress(fmt.Sprintf("reading %d ranks", len(here.Ranks))); err != nil {
		return err
	}
	s, err := jobs.ReadJob(ctx, g, here.Ranks[0].PID, &here, f)
	if err != nil {
		return err
	}
	h.Left = clocks(&here)
	return to.Document(func(w io.Writer) error { return h.write(w, s) })
}

// Settle waits until the ranks of a job that are on this node and have something to run have run for long enough that
// another look at them says whether they stand.
func Settle(ctx context.Context, job *launch.Job) {
	before := clocks(job)
	liveness.Wait(ctx, func() bool { return liveness.HaveRun(before, clocks(job)) })
}

func clocks(job *launch.Job) map[int]liveness.Clock {
	out := map[int]liveness.Clock{}
	for _, r := range job.Ranks {
		if c := liveness.Of(r.PID); c != nil && r.IsHere() {
			out[r.PID] = *c
		}
	}
	return out
}

// part is what a node has sent.
type part struct {
	header
	*mqs.Snapshot
	memory
}
