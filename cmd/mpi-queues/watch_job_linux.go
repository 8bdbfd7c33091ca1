package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/commandline"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/pidfd"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/scratch"
	"github.com/mpi-queues/mpi-queues/mqs/launch"
)

// endPatience is how long a job has to end by itself before it is killed.
const endPatience = 10 * time.Second

// watchedJob is the job that is watched.
type watchedJob struct {
	// pid is the process that was named, or started. launcher is what ends the job when it is ended.
	pid      int
	launcher *pidfd.Process
	ended    chan struct{} // closed when pid has
	cmd      *exec.Cmd     // nil if the job was there before
	// folder may have a link to this program, nil if there is no need.
	folder *scratch.Folder
}

// newWatched is the job of a process, and of its launcher.
func newWatched(pid, launcher int) *watchedJob {
	j := &watchedJob{pid: pid, launcher: pidfd.Open(launcher), ended: make(chan struct{})}
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
	words := make([]string, len(command))
	for i, word := range command {
		words[i] = quoted(word)
	}
	prefix := program + " " + rankName + " --"
	line, err := commandline.Prefixed(ctx, strings.Join(words, " "), prefix)
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
	j.launcher.Close()
	if j.folder != nil {
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

// kill ends the job: by its launcher, which ends its ranks, and those that are left after a while.
func (j *watchedJob) kill() {
	var ranks []*pidfd.Process
	if job, err := launch.Find(j.pid); err == nil {
		for _, r := range job.Ranks {
			if r.IsHere() && !r.Exited {
				ranks = append(ranks, pidfd.Open(r.PID))
			}
		}
	}
	gone := make(chan struct{})
	go func() {
		j.launcher.AwaitEnd()
		close(gone)
	}()
	j.launcher.Signal(unix.SIGTERM)
	select {
	case <-gone:
	case <-time.After(endPatience):
	}
	for _, r := range ranks {
		r.Signal(unix.SIGKILL)
		r.Close()
	}
	select {
	case <-gone:
	case <-time.After(time.Second):
		j.launcher.Signal(unix.SIGKILL)
	}
	fmt.Fprintln(os.Stderr, "mpi-queues: the job is ended")
}
