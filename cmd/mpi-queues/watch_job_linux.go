package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/commandline"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/pidfd"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/scratch"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/tracee"
	"github.com/mpi-queues/mpi-queues/mqs/launch"
	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
)

// endPatience is how long a job has to end by itself before it is killed.
const endPatience = 10 * time.Second

// watchedJob is the job that is watched.
type watchedJob struct {
	// pid is the process that was named, or started.
	pid   int
	ended chan struct{} // closed when pid has
	// cmd and launcher are the process that was started, nil if the job was there before.
	cmd      *exec.Cmd
	launcher *pidfd.Process
	// folder may have a link to this program, nil if the job was there before.
	folder *scratch.Folder
}

// newWatched is the job of a process.
func newWatched(pid int) *watchedJob {
	j := &watchedJob{pid: pid, ended: make(chan struct{})}
	process := pidfd.Open(pid)
	go func() {
		process.AwaitEnd()
		process.Close()
		close(j.ended)
	}()
	return j
}

// startWatched starts a job's command line, with what lets each rank be traced before its program. The terminal's
// signals reach it as they reach this process.
func startWatched(ctx context.Context, command []string) (*watchedJob, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	folder, err := scratch.New()
	if err != nil {
		return nil, err
	}
	j := &watchedJob{folder: folder, ended: make(chan struct{})}
	if err := j.start(ctx, self, command); err != nil {
		folder.Remove()
		return nil, err
	}
	return j, nil
}

// start starts the command line.
func (j *watchedJob) start(ctx context.Context, self string, command []string) error {
	program, err := commandline.Unquoted(self, j.folder.Path)
	if err != nil {
		return err
	}
	prefix := program + " " + rankName + " --"
	line, err := commandline.Prefixed(ctx, string(commandline.Quote(command...)), prefix)
	if err != nil {
		return usage(err)
	}
	j.cmd = exec.Command("/bin/sh", "-c", commandline.Replacing(line))
	j.cmd.Stdin, j.cmd.Stdout, j.cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	j.cmd.Env = append(os.Environ(), commandline.Settings(prefix)...)
	if err := j.cmd.Start(); err != nil {
		return err
	}
	j.pid, j.launcher = j.cmd.Process.Pid, pidfd.Open(j.cmd.Process.Pid)
	go func() {
		_ = j.cmd.Wait() // its state says how it has ended
		close(j.ended)
	}()
	return nil
}

func (j *watchedJob) close() {
	if j.cmd != nil {
		j.launcher.Close()
		j.folder.Remove()
	}
}

// end is what the program ends with after a job that has ended: its command's status, if it was started here.
func (j *watchedJob) end() error {
	if j.cmd == nil {
		return nil
	}
	<-j.ended
	code := j.cmd.ProcessState.ExitCode()
	if status, ok := j.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		code = 128 + int(status.Signal()) // as shells have it
	}
	if code == 0 {
		return nil
	}
	return &exitError{code: code}
}

// interrupted passes a signal on to a job that was started here. Another one runs on.
func (j *watchedJob) interrupted() error {
	if j.cmd == nil {
		return unreadable(errInterrupted)
	}
	j.launcher.Signal(unix.SIGTERM)
	return j.end()
}

// kill ends the job: by its launcher, which ends its ranks, and those that are left after a while. The error says what is not
// ended.
func (j *watchedJob) kill() error {
	launcher, ranks, err := j.processes()
	first := ranks
	switch {
	case launcher != nil:
		first, err = []*pidfd.Process{launcher}, nil
	case len(ranks) == 0 && err != nil:
		return fmt.Errorf("the job could not be ended: %w", err)
	}
	gone := make(chan struct{})
	go func() {
		for _, p := range first {
			p.AwaitEnd()
		}
		close(gone)
	}()
	signal := func(all []*pidfd.Process, number unix.Signal) {
		for _, p := range all {
			p.Signal(number)
		}
	}
	signal(first, unix.SIGTERM)
	select {
	case <-gone:
	case <-time.After(endPatience):
	}
	signal(ranks, unix.SIGKILL)
	select {
	case <-gone:
	case <-time.After(time.Second):
		signal(first, unix.SIGKILL)
	}
	return err
}

// processes returns the job's ranks on this machine and its launcher; launcher is nil if it must be left alone. A launcher that
// this command did not start may be any program that started a rank, so it is returned only if it belongs to the ranks' user.
func (j *watchedJob) processes() (launcher *pidfd.Process, ranks []*pidfd.Process, err error) {
	job, err := launch.Find(j.pid)
	if err != nil {
		return j.launcher, nil, err
	}
	opened := map[int]*pidfd.Process{}
	for _, pid := range append(here(job), launcherOf(job, j.pid)) {
		opened[pid] = pidfd.Open(pid)
	}
	// Before they were opened, the numbers can have become other processes'.
	if job, err = launch.Find(j.pid); err != nil {
		return j.launcher, nil, err
	}
	pid := launcherOf(job, j.pid)
	launcher, isSeen := opened[pid]
	for _, rank := range here(job) {
		if p := opened[rank]; p != nil {
			ranks = append(ranks, p)
		}
		if launcher != nil && !haveSameUser(pid, rank) {
			launcher = nil
		}
	}
	switch {
	case j.cmd != nil:
		launcher = j.launcher
	case isSeen && launcher == nil:
		err = fmt.Errorf("%s started the ranks but does not belong to their user, so it is left running and only the ranks are ended",
			tracee.Name(pid))
	}
	return launcher, ranks, err
}

// launcherOf is the process of a job that ends the job when it is ended, pid being one of the job's.
func launcherOf(job *launch.Job, pid int) int {
	if pid != job.Launcher && len(job.Others) > 0 {
		return pid // the launcher has other jobs too
	}
	return cmp.Or(job.Launcher, pid)
}

// here are the processes of a job's ranks on this machine.
func here(job *launch.Job) []int {
	var out []int
	for _, r := range job.Ranks {
		if r.IsHere() {
			out = append(out, r.PID)
		}
	}
	return out
}

// haveSameUser reports whether two processes belong to one user, and each to one alone (a program that is setuid does not).
func haveSameUser(a, b int) bool {
	first, err1 := procfs.Host.Status(a)
	second, err2 := procfs.Host.Status(b)
	isSame := err1 == nil && err2 == nil && slices.Equal(first.Users, second.Users)
	return isSame && len(slices.Compact(first.Users)) == 1
}
