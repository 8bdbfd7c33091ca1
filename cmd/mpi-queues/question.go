package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/cluster"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/commandline"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/gdbrun"
	"github.com/mpi-queues/mpi-queues/mqs/launch"
)

// isSpread is true if more than this machine is to be looked at without the user's asking for it: the job has ranks on
// others, and its launcher has reached these in a way that is known.
func (n *nodes) isSpread(job *launch.Job) bool {
	if n.via == noEngine || !isElsewhere(job) {
		return false
	}
	way := launch.WayOf(job.Launcher)
	return slurmStep(job) != "" || way.IsKnown()
}

// findJob is the job of a process, which may be a launcher without ranks on this machine.
func findJob(known *launch.Finder, pid int) (*launch.Job, error) {
	job, err := known.Find(pid)
	if err != nil {
		if far := launch.FindFar(pid); far != nil {
			return far, nil
		}
	}
	return job, err
}

// spread is what to ask the nodes of a job that [nodes.isSpread] knows to be on several; else there is nothing to ask, and
// notAsked says why the others can't be asked.
func (c *report) spread(ctx context.Context) (q *cluster.Question, notAsked string) {
	c.known = new(launch.Finder)
	job, err := findJob(c.known, c.pid)
	if err != nil || !c.isSpread(job) {
		return nil, ""
	}
	if q, err = c.question(ctx, c.settings, view{internal: true}, c.pid); err != nil {
		return nil, fmt.Sprintf("the job's other nodes were not asked: %v", err)
	}
	return q, ""
}

func isElsewhere(job *launch.Job) bool {
	here := 0
	for _, r := range job.Ranks {
		if r.Host == "" {
			here++
		}
	}
	return here == 0 || here < len(job.Ranks) || job.Size.Known && here < int(job.Size.Value)
}

// slurmStep is the step of Slurm's that a job is, "ID.STEP"; empty if it is none.
func slurmStep(job *launch.Job) string {
	for _, name := range job.Names {
		if step, is := strings.CutPrefix(name, launch.SlurmName); is && slurmJob.MatchString(step) {
			return step
		}
	}
	return ""
}

// question makes of the flags what to ask. The process whose job is meant is looked up unless it is 0.
func (n *nodes) question(ctx context.Context, s settings, v view, of int) (*cluster.Question, error) {
	c := collector{settings: s, limit: n.limit, view: v, lists: n.lists}
	q := &cluster.Question{Hosts: n.hosts, Version: version(), Limit: n.limit, Stacks: v.stacks, Vouched: map[string]bool{}}
	pids := map[string]int{} // of ranks, by their hosts
	var way launch.Way
	step := n.slurm
	if of != 0 {
		job, err := findJob(new(launch.Finder), of)
		if err != nil {
			return nil, err
		}
		if n.via == "" && len(n.hosts) == 0 {
			step = cmp.Or(step, slurmStep(job))
		}
		if len(job.Names) > 0 {
			c.name, q.Names = job.Names[0], job.Names
		}
		if step == "" {
			if isElsewhere(job) {
				way = launch.WayOf(job.Launcher)
			}
			if n.via == "" && len(n.hosts) == 0 && len(way.Remotes) == 0 && len(job.Names) > 0 {
				step = way.Slurm
			}
		}
		if step == "" {
			if pids, err = n.hostsOf(job, way.Remotes, q); err != nil {
				return nil, err
			}
		}
	}
	var err error
	switch {
	case n.via != "":
		q.Engine, err = cluster.Engine(n.via)
	case step != "":
		id, _, _ := strings.Cut(step, ".")
		q.Engine = cluster.SlurmEngine(id)
	case len(way.Remotes) > 0:
		q.Engine = string(commandline.Quote(way.Remotes[0].Words...)) + " {host} {command}"
	case len(q.Hosts) > 0:
		q.Engine, err = cluster.Engine("ssh")
	}
	if err != nil {
		return nil, usage(err)
	}
	if step != "" {
		if c.name == "" {
			c.name, q.Names = launch.SlurmName+step, []string{launch.SlurmName + step}
		}
		if len(q.Hosts) == 0 && cluster.IsOfHosts(q.Engine) {
			if q.Hosts, err = cluster.SlurmNodes(ctx, step); err != nil {
				return nil, err
			}
		}
	}
	for host := range pids {
		q.Vouched[host] = host == cluster.Node() || cluster.IsPerHost(q.Engine)
	}
	if err := n.setCommand(q, c, pids); err != nil {
		return nil, err
	}
	if gdbrun.IsTerminal(os.Stderr) {
		q.Told = func(answered, asked int) {
			if !gdbrun.IsWritable(os.Stderr) {
				return
			}
			end := map[bool]string{true: "\r\x1b[K"}[answered >= asked]
			fmt.Fprintf(os.Stderr, "\r%d of %d nodes have answered%s", answered, asked, end)
		}
	}
	return q, nil
}

// hostsOf are the hosts of a job's launcher's table with a rank of each, and asks them unless others are named. Without
// a table, those are asked that the launcher has reached.
func (n *nodes) hostsOf(job *launch.Job, remotes []launch.Remote, q *cluster.Question) (map[string]int, error) {
	pids := map[string]int{}
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
	if len(n.hosts) > 0 && len(pids) == 0 && len(job.Names) == 0 && job.HasOddName {
		return nil, fmt.Errorf("can't find the job's ranks on other hosts: its name in the environment of process %d is too long "+
			"or contains unprintable characters", n.of)
	}
	if len(n.hosts) > 0 && len(pids) == 0 && len(job.Names) == 0 {
		return nil, fmt.Errorf("the launcher of process %d's job gives it no name that its ranks on other hosts have too: they can't be told from those of another job", n.of)
	}
	if len(q.Hosts) == 0 && len(job.Names) > 0 {
		for _, r := range remotes {
			q.Hosts = append(q.Hosts, r.Host)
		}
	}
	if len(q.Hosts) == 0 && isElsewhere(job) {
		return nil, fmt.Errorf("on which hosts the job's other ranks are is not known here, since its launcher (%s, process %d) keeps no table of them: name them with --hosts",
			cmp.Or(job.Name, "gone"), job.Launcher)
	}
	return pids, nil
}

// setCommand has collectors started as one is that reads with these settings.
func (n *nodes) setCommand(q *cluster.Question, c collector, pids map[string]int) error {
	own, err := os.Executable()
	if err != nil {
		return err
	}
	program := cluster.NewProgram(own, "mpi-queues "+version())
	if n.program == "" {
		q.Program = program
	}
	q.Command = func(host string, again bool) (commandline.Script, error) {
		one := c
		one.again, one.view.stacks = again, q.Stacks
		if host != "" {
			one.node, one.whileInput = host, true
		}
		if pids[host] != 0 {
			one.pid, one.name = pids[host], ""
		}
		switch {
		case n.program != "":
			return commandline.Quote(append([]string{n.program}, one.words()...)...).Anywhere(), nil
		case host == "":
			return program.LineThere(one.words()...), nil
		case host == cluster.Node():
			return commandline.Quote(append([]string{own}, one.words()...)...).Anywhere(), nil
		}
		return program.Line(host, one.words()...)
	}
	return nil
}
