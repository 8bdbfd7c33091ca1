// Package jobs knows what a command asks for when it names processes, launchers and core files, and
// reads it through gdb: each process by itself, or a whole job at one moment.
package jobs

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/gdbrun"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/tracee"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/launch"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// GDB reads processes, as [gdbrun.GDB] does.
type GDB interface {
	Read(ctx context.Context, t gdbrun.Task) (*mqs.Snapshot, error)
	ReadInTurn(ctx context.Context, f read.Filter, most int, t gdbrun.Turn) error
}

// Inquiry asks for one process or core file.
type Inquiry struct {
	pid int
	// rank and size are the process's as its launcher says; host is the machine
	// it is on, empty for this one.
	rank, size mqs.Maybe[int32]
	host       string
	// software is what the launcher belongs to, if that is known.
	software string
	// before is what the process was like before gdb.
	before tracee.State
	// program and core are paths; of a process there is only its program, if that is known.
	program, core string
	// obstacle is why gdb need not be tried; phase is what is known then.
	obstacle error
	phase    mqs.Phase
	// remark is what is missing of a core file, empty if nothing is.
	remark string
}

// IsHere is false of a process on another machine.
func (i *Inquiry) IsHere() bool { return i.host == "" }

// NeedsGDB is false if it is known without gdb that the process can't be read.
func (i *Inquiry) NeedsGDB() bool { return i.obstacle == nil }

// Process asks for a process.
func Process(pid int) Inquiry {
	i := Inquiry{pid: pid}
	if i.before, i.obstacle = tracee.Read(pid); i.obstacle == nil {
		i.obstacle = i.before.Obstacle()
	}
	i.program = i.before.Program
	return i
}

// Ranks asks for all that is known of a job.
func Ranks(job *launch.Job) []Inquiry {
	var asked []Inquiry
	for _, r := range job.Ranks {
		asked = append(asked, rankOf(job, r))
	}
	return asked
}

// rankOf asks for one rank of a job.
func rankOf(job *launch.Job, r launch.Rank) Inquiry {
	i := Inquiry{pid: r.PID, program: r.Executable}
	switch {
	case r.Host != "":
		i.host = r.Host
		i.obstacle = fmt.Errorf("process %d%s is on %s: run `mpi-queues dump %d' there", r.PID, ranked(r.Number), r.Host, r.PID)
	case r.Obstacle != "":
		i.obstacle = errors.New(r.Obstacle)
	case r.Exited:
		i.obstacle, i.phase = errors.New(exited(r)), mqs.Exited
	default:
		i = Process(r.PID)
	}
	i.rank, i.size, i.software = r.Number, job.Size, job.Software
	return i
}

// exited says that a rank has exited.
func exited(r launch.Rank) string {
	if r.PID == 0 {
		return fmt.Sprintf("rank %d has exited", r.Number.Value)
	}
	return fmt.Sprintf("process %d%s has exited", r.PID, ranked(r.Number))
}

func ranked(number mqs.Maybe[int32]) string {
	if !number.Known {
		return ""
	}
	return fmt.Sprintf(" (rank %d)", number.Value)
}

// Resolve finds out what to ask for process ids: of a rank that rank, of a launcher all that it has
// launched, and the whole job of either if that is meant. remarks are sentences on what there is of
// a job beyond its ranks here.
func Resolve(jobs *launch.Finder, pids []int, isJob bool) (asked []Inquiry, remarks []string) {
	ask := func(more ...Inquiry) { // for what is not asked for yet
		for _, i := range more {
			if !slices.ContainsFunc(asked, func(other Inquiry) bool {
				return other.pid == i.pid && other.host == i.host && (i.pid != 0 || other.rank == i.rank)
			}) {
				asked = append(asked, i)
			}
		}
	}
	for _, pid := range pids {
		job, err := jobs.Find(pid)
		var several *launch.SeveralError
		switch {
		case err != nil:
			i := Process(pid)
			if i.obstacle == nil && (isJob || errors.As(err, &several)) {
				i.obstacle = err
			}
			ask(i)
		case job.Self != nil && !isJob:
			ask(rankOf(job, *job.Self))
		default:
			ask(Ranks(job)...)
			remarks = append(remarks, Missing(job, false)...)
		}
	}
	return asked, remarks
}

// leaveHeld finds out which of the processes that gdb would be given can't be stopped. They are left alone.
func leaveHeld(ctx context.Context, asked []Inquiry) {
	var pids []int
	for k := range asked {
		if i := &asked[k]; i.obstacle == nil && i.core == "" {
			pids = append(pids, i.pid)
		}
	}
	held := tracee.Held(ctx, pids...)
	for k := range asked {
		if e := held[asked[k].pid]; e != nil && asked[k].obstacle == nil && asked[k].core == "" {
			asked[k].obstacle = e
		}
	}
}

// failed is a process that could not be read.
func (i *Inquiry) failed(err error) *mqs.Process {
	var held *tracee.HeldError
	if !errors.As(err, &held) && err == i.obstacle && i.before.Tracer > 0 {
		held = tracee.Outside(i.pid, mqs.BeingTraced)
	}
	var refusal *gdbrun.AttachError
	if errors.As(err, &refusal) {
		err = tracee.Refused(i.pid, refusal.Reason)
	}
	reason := err.Error()
	if i.remark != "" && i.obstacle == nil {
		reason += "; " + i.remark
	}
	p := &mqs.Process{PID: i.pid, Image: i.program, Phase: i.phase, Unavailable: reason}
	if i.core == "" && i.host == "" && tracee.HasEnded(i.pid) {
		p.Phase = mqs.Exited
	} else if held != nil {
		held.Record(p)
	}
	return p
}

// complete gives a process its place in a report, and its rank if only the launcher knows it.
func (i *Inquiry) complete(p *mqs.Process, place int) {
	p.Seat(i.rank, i.size, i.software)
	p.Inferior = place + 1
	if i.remark != "" && p.Unavailable == "" {
		p.Notes = append(p.Notes, i.remark)
	}
	if p.State == "" {
		p.State = mqs.RunStateOf(i.before.State)
	}
}
