package launch

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
)

// startPatience is the age up to which a process may still become the launcher of a job. Launchers that reach other machines
// take seconds.
const startPatience = 5 * time.Second

// startInterval is the time between two looks for a job that is being started: each reads all of /proc.
const startInterval = 100 * time.Millisecond

// Await waits while a process that has just been started is no launcher yet, or has yet to start ranks on this machine, so that
// [Find] does not miss them. It returns at once for a process that is a rank, or is older than some seconds.
func Await(ctx context.Context, pid int) {
	await(ctx, procfs.Host, pid, func() (*Job, error) {
		job, err := Find(pid)
		if err != nil {
			if far := FindFar(pid); far != nil {
				return far, nil
			}
		}
		return job, err
	})
}

func await(ctx context.Context, proc procfs.FS, pid int, find func() (*Job, error)) {
	for {
		if !isYoung(proc, pid) || !isStarting(find()) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(startInterval):
		}
	}
}

// isYoung reports whether a process that runs has been started a moment ago. One that a debugger or a signal has stopped starts
// nothing.
func isYoung(proc procfs.FS, pid int) bool {
	age, err := proc.Age(pid)
	if err != nil || age < 0 || age > startPatience {
		return false
	}
	stat, err := proc.Stat(pid)
	return err == nil && stat.State != 't' && stat.State != 'T'
}

// isStarting reports whether what was found of a process that has just been started may be incomplete.
func isStarting(job *Job, err error) bool {
	var neither *neitherError
	if err != nil {
		return errors.As(err, &neither)
	}
	here := len(slices.DeleteFunc(slices.Clone(job.Ranks), func(r Rank) bool { return r.Host != "" }))
	return job.Self == nil && job.Here.Known && here < int(job.Here.Value)
}
