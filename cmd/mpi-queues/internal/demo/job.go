package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/child"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/gdbrun"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/jobs"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/pidfd"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// How long parts of the demo may take on a busy machine.
const (
	gdbPatience  = time.Minute
	jobPatience  = time.Minute
	stopPatience = 5 * time.Second
)

// Compile makes a program out of C source.
func (t *Tools) Compile(ctx context.Context, program string, source []byte) error {
	if err := os.MkdirAll(filepath.Dir(program), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(program+".c", source, 0o644); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, t.mpicc, "-g", "-o", filepath.Base(program), filepath.Base(program)+".c")
	cmd.Dir = filepath.Dir(program)
	cmd.Env = t.Environment()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s failed: %s", t.mpicc, firstLine(out, err))
	}
	return nil
}

// Job is a running MPI job.
type Job struct {
	// Launcher is mpirun.
	Launcher *exec.Cmd
	ended    chan struct{}
	// Program is the path of what each rank runs.
	Program string
	// PIDs are the processes of its ranks.
	PIDs []int
}

// Start starts ranks of a program and waits until each is about to block.
// [Job.Stop] ends them.
func (t *Tools) Start(ctx context.Context, program string, ranks int) (*Job, error) {
	folder := filepath.Dir(program)
	log, err := os.Create(filepath.Join(folder, "log"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	j := &Job{ended: make(chan struct{}), Program: program}
	j.Launcher = exec.Command(t.mpirun, "--oversubscribe", "--mca", "pml", "ob1", "-n", strconv.Itoa(ranks), program, folder)
	j.Launcher.Env = t.Environment()
	j.Launcher.Stdout, j.Launcher.Stderr = log, log
	j.Launcher.SysProcAttr = child.OwnSession()
	started := make(chan error)
	go func() {
		// The kernel ends the job when the thread that started it is gone.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(j.ended)
		err := j.Launcher.Start()
		started <- err
		if err == nil {
			_ = j.Launcher.Wait()
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	if err := j.await(ctx, folder, ranks); err != nil {
		j.Stop()
		if text, readErr := os.ReadFile(log.Name()); readErr == nil && ctx.Err() == nil {
			err = fmt.Errorf("%w: %s", err, lastLine(text, errors.New("it said nothing")))
		}
		return nil, err
	}
	return j, nil
}

// await polls for the files that the ranks write.
func (j *Job) await(ctx context.Context, folder string, ranks int) error {
	deadline := time.After(jobPatience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		// The newline comes last.
		for len(j.PIDs) < ranks {
			text, err := os.ReadFile(filepath.Join(folder, fmt.Sprintf("ready-%d", len(j.PIDs))))
			line, ok := strings.CutSuffix(string(text), "\n")
			pid, numberErr := strconv.Atoi(line)
			if err != nil || !ok || numberErr != nil {
				break
			}
			j.PIDs = append(j.PIDs, pid)
		}
		if len(j.PIDs) == ranks {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-j.ended:
			return errors.New("the job ended before it hung")
		case <-deadline:
			return fmt.Errorf("after %s only %d of %d ranks were running", jobPatience, len(j.PIDs), ranks)
		case <-tick.C:
		}
	}
}

// hang reads the queues until all ranks stand in their receives and the
// message with the wrong tag has arrived.
func (j *Job) hang(ctx context.Context, g *gdbrun.GDB) (*mqs.Snapshot, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, jobPatience, fmt.Errorf("after %s the ranks were still not waiting for each other", jobPatience))
	defer cancel()
	for {
		var asked []jobs.Inquiry
		for _, pid := range j.PIDs {
			asked = append(asked, jobs.Process(pid))
		}
		s, err := jobs.Read(ctx, g, asked, read.Filter{})
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			return nil, err
		}
		for _, p := range s.Processes {
			if p.Unavailable != "" {
				return nil, errors.New(p.Unavailable)
			}
		}
		if Hangs(s) {
			return s, nil
		}
	}
}

// Hangs says whether every process waits for a message and one has come that nobody wants.
func Hangs(s *mqs.Snapshot) bool {
	unexpected := 0
	for _, p := range s.Processes {
		receives := 0
		for _, c := range p.Communicators {
			receives += total(c, mqs.PendingReceives)
			unexpected += total(c, mqs.UnexpectedMessages)
		}
		if receives == 0 {
			return false
		}
	}
	return unexpected > 0
}

func total(c *mqs.Queues, class mqs.OpClass) int {
	if q := c.Queue[class]; q != nil {
		return q.Total
	}
	return 0
}

// Stop ends the job and waits until it is gone. The ranks end first: the
// launcher then collects them and clears up, which it does not if it is told to end.
func (j *Job) Stop() {
	// While none has begun the launcher is told to end: it may hang when ranks that are on their way are killed.
	if len(j.PIDs) > 0 {
		j.kill()
	}
	if len(j.PIDs) == 0 || !j.endsWithin(stopPatience) {
		_ = j.Launcher.Process.Signal(syscall.SIGTERM)
		if !j.endsWithin(stopPatience) {
			_ = syscall.Kill(-j.Launcher.Process.Pid, syscall.SIGKILL)
		}
	}
	<-j.ended
	// A launcher that was told to end does not wait for its ranks.
	for deadline := time.Now().Add(stopPatience); j.kill() > 0 && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
}

// kill kills the ranks that there are, known or not yet, and returns how many.
func (j *Job) kill() int {
	all, _ := procfs.Host.Processes()
	killed := 0
	for _, pid := range all {
		p := pidfd.Open(pid) // before it is looked at: the number can become another's
		program, err1 := procfs.Host.Program(pid)
		status, err2 := procfs.Host.Status(pid)
		if errors.Join(err1, err2) == nil && program == j.Program && slices.Contains(status.Users, os.Geteuid()) {
			p.Signal(syscall.SIGKILL)
			killed++
		}
		p.Close()
	}
	return killed
}

func (j *Job) endsWithin(patience time.Duration) bool {
	select {
	case <-j.ended:
		return true
	case <-time.After(patience):
		return false
	}
}
