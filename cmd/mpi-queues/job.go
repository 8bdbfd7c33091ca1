package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/tracee"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/launch"
)

// readJob reads all ranks of the job that a process belongs to, at one moment: one
// gdb stops them all before it reads the first. options are those of its command
// mpi-queues. A rank that can't be read, or is on another machine, is in the
// snapshot with its reason. It fails only if ctx ends or the gdb is of no use.
func readJob(ctx context.Context, g *gdb, pid int, job *launch.Job, options []string) (*mqs.Snapshot, error) {
	asked := askJob(job)
	whole := inquiry{pid: pid, options: append([]string{"-all"}, options...), job: []tracee.State{}}
	for k := range asked {
		asked[k].options = options
		if asked[k].obstacle == nil {
			whole.job = append(whole.job, asked[k].before)
		}
	}
	var useless *uselessError
	var late *timeoutError
	read := map[int]*mqs.Process{}
	if len(whole.job) > 0 {
		seen, err := g.readAll(ctx, whole)
		switch {
		// Where gdb makes no progress, each rank would only be stopped as long once more.
		case ctx.Err() != nil || errors.As(err, &useless), errors.As(err, &late):
			return nil, err
		case err != nil: // what stands against it shows when each is tried alone
			return inspect(ctx, g, asked)
		}
		for _, p := range seen.Processes {
			read[p.PID] = p
		}
	}
	s := &mqs.Snapshot{}
	for k, i := range asked {
		p := read[i.pid]
		switch {
		case i.obstacle != nil:
			p = i.failed(i.obstacle)
		case p == nil: // it may be another debugger's that has let go since, and if not, why is seen
			alone, err := inspect(ctx, g, asked[k:k+1])
			if err != nil {
				return nil, err
			}
			p = alone.Processes[0]
		}
		i.complete(p, k)
		s.Processes = append(s.Processes, p)
	}
	return s, nil
}

// askJob asks for all that is known of a job.
func askJob(job *launch.Job) []inquiry {
	var asked []inquiry
	for _, r := range job.Ranks {
		asked = append(asked, askRank(r, job.Size))
	}
	return asked
}

// askRank asks for one rank of a job of this size.
func askRank(r launch.Rank, size mqs.Maybe[int32]) inquiry {
	i := inquiry{pid: r.PID, program: r.Executable}
	switch {
	case r.Host != "":
		i.host = r.Host
		i.obstacle = fmt.Errorf("process %d%s is on %s: run `mpi-queues dump %d' there", r.PID, ranked(r.Number), r.Host, r.PID)
	case r.Obstacle != "":
		i.obstacle = errors.New(r.Obstacle)
	case r.Exited:
		i.obstacle, i.phase = fmt.Errorf("process %d%s has exited", r.PID, ranked(r.Number)), mqs.Exited
	default:
		i = askProcess(r.PID)
	}
	i.rank, i.size = r.Number, size
	return i
}

func ranked(number mqs.Maybe[int32]) string {
	if !number.Known {
		return ""
	}
	return fmt.Sprintf(" (rank %d)", number.Value)
}

// whole finds out what to ask for the process ids of the command line: of a rank
// that rank, of a launcher all that it has launched. It leaves what there is to
// say of a job beyond its ranks here.
func (d *dump) whole() {
	var jobs []*launch.Job
	for _, pid := range d.pids {
		named := func(r launch.Rank) bool { return r.PID == pid && r.Host == "" && !r.Exited && r.Obstacle == "" }
		known := slices.IndexFunc(jobs, func(j *launch.Job) bool { return !d.isJob && slices.ContainsFunc(j.Ranks, named) })
		if known >= 0 {
			d.ask(askRank(jobs[known].Ranks[slices.IndexFunc(jobs[known].Ranks, named)], jobs[known].Size))
			continue
		}
		job, err := launch.Find(pid)
		var several *launch.SeveralError
		switch {
		case err != nil:
			i := askProcess(pid)
			if i.obstacle == nil && (d.isJob || errors.As(err, &several)) {
				i.obstacle = err
			}
			d.ask(i)
		case job.Self != nil && !d.isJob:
			jobs = append(jobs, job)
			d.ask(askRank(*job.Self, job.Size))
		default:
			jobs = append(jobs, job)
			d.ask(askJob(job)...)
			d.remarks = append(d.remarks, missing(job)...)
		}
	}
}

// ask adds what is not asked for yet.
func (d *dump) ask(asked ...inquiry) {
	for _, i := range asked {
		if !slices.ContainsFunc(d.asked, func(other inquiry) bool { return other.pid == i.pid && other.host == i.host }) {
			d.asked = append(d.asked, i)
		}
	}
}

// missing says, in sentences, what of a job is not on this machine, or is not it.
func missing(job *launch.Job) []string {
	var out []string
	var hosts []string
	on := map[string][]launch.Rank{}
	var here []launch.Rank
	for _, r := range job.Ranks {
		if r.Host == "" {
			here = append(here, r)
			continue
		}
		if on[r.Host] == nil {
			hosts = append(hosts, r.Host)
		}
		on[r.Host] = append(on[r.Host], r)
	}
	for _, host := range hosts {
		ranks, verb := numbers(on[host])
		out = append(out, fmt.Sprintf("%s %s on %s: run `mpi-queues dump --job %d' there", ranks, verb, host, on[host][0].PID))
	}
	if size := int(job.Size.Value); job.Size.Known && len(job.Ranks) < size {
		ranks, _ := numbers(here)
		out = append(out, fmt.Sprintf("Of the job's %d ranks, only %s found on this machine: the others are on other machines, where "+
			"`mpi-queues dump --job PID' with the process id of any of them shows those that are there, or have exited",
			size, strings.ToLower(ranks[:1])+ranks[1:]+map[bool]string{true: " was", false: " were"}[len(here) == 1]))
	}
	if len(job.Claims) > 0 {
		out = append(out, fmt.Sprintf("The environment of %s says that it is of this job too, which is not believed, since another user has started it",
			counted(job.Claims)))
	}
	var others, without []string
	for _, pid := range job.Others {
		if tracee.LacksMPI(pid) {
			without = append(without, tracee.Name(pid))
		} else {
			others = append(others, strconv.Itoa(pid))
		}
	}
	launcher := fmt.Sprintf("%s (process %d)", filepath.Base(job.Name), job.Launcher)
	if len(others) > 0 {
		out = append(out, fmt.Sprintf("%s has also started other jobs, as MPI_Comm_spawn does: `mpi-queues dump %s' shows them", launcher, strings.Join(others, " ")))
	}
	if len(without) > 0 {
		out = append(out, fmt.Sprintf("%s has also started %s, which %s loaded no MPI library", launcher, strings.Join(without, ", "),
			map[bool]string{true: "has", false: "have"}[len(without) == 1]))
	}
	return out
}

// counted names processes.
func counted(pids []int) string {
	const most = 10
	var parts []string
	for _, pid := range pids[:min(len(pids), most)] {
		parts = append(parts, strconv.Itoa(pid))
	}
	text := strings.Join(parts, ", ")
	if len(pids) > most {
		text += fmt.Sprintf(" and %d more", len(pids)-most)
	}
	if len(pids) == 1 {
		return "process " + text
	}
	return "each of the processes " + text
}

// numbers writes the numbers of ranks, with the verb that goes with them.
func numbers(ranks []launch.Rank) (text, verb string) {
	var parts []string
	for i := 0; i < len(ranks); {
		first := ranks[i].Number.Value
		n := 1
		for i+n < len(ranks) && ranks[i+n].Number.Value == first+int32(n) {
			n++
		}
		part := strconv.Itoa(int(first))
		if n > 1 {
			part += "-" + strconv.Itoa(int(first)+n-1)
		}
		parts = append(parts, part)
		i += n
	}
	if len(ranks) == 1 {
		return "Rank " + parts[0], "is"
	}
	return "Ranks " + strings.Join(parts, ", "), "are"
}
