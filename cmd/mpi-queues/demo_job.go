package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/child"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/tracee"
	"github.com/mpi-queues/mpi-queues/mqs"
)

// How long parts of the demo may take on a busy machine.
const (
	gdbPatience  = time.Minute
	jobPatience  = time.Minute
	stopPatience = 5 * time.Second
)

// compile makes a program out of C source.
func (t *tools) compile(ctx context.Context, program string, source []byte) error {
	if err := os.MkdirAll(filepath.Dir(program), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(program+".c", source, 0o644); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, t.mpicc, "-g", "-o", filepath.Base(program), filepath.Base(program)+".c")
	cmd.Dir = filepath.Dir(program)
	cmd.Env = t.environment()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s failed: %s", t.mpicc, firstLine(out, err))
	}
	return nil
}

// job is a running MPI job.
type job struct {
	launcher *exec.Cmd
	ended    chan struct{}
	program  string
	pids     []int // by rank
}

// start starts ranks of a program and waits until each is about to block.
// [job.stop] ends them.
func (t *tools) start(ctx context.Context, program string, ranks int) (*job, error) {
	folder := filepath.Dir(program)
	log, err := os.Create(filepath.Join(folder, "log"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	j := &job{ended: make(chan struct{}), program: program}
	j.launcher = exec.Command(t.mpirun, "--oversubscribe", "--mca", "pml", "ob1", "-n", strconv.Itoa(ranks), program, folder)
	j.launcher.Env = t.environment()
	j.launcher.Stdout, j.launcher.Stderr = log, log
	j.launcher.SysProcAttr = child.OwnSession()
	started := make(chan error)
	go func() {
		// The kernel ends the job when the thread that started it is gone.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(j.ended)
		err := j.launcher.Start()
		started <- err
		if err == nil {
			_ = j.launcher.Wait()
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	if err := j.await(ctx, folder, ranks); err != nil {
		j.stop()
		if text, readErr := os.ReadFile(log.Name()); readErr == nil && ctx.Err() == nil {
			err = fmt.Errorf("%w: %s", err, lastLine(text, errors.New("it said nothing")))
		}
		return nil, err
	}
	return j, nil
}

// await polls for the files that the ranks write.
func (j *job) await(ctx context.Context, folder string, ranks int) error {
	deadline := time.After(jobPatience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		// The newline comes last.
		for len(j.pids) < ranks {
			text, err := os.ReadFile(filepath.Join(folder, fmt.Sprintf("ready-%d", len(j.pids))))
			line, ok := strings.CutSuffix(string(text), "\n")
			pid, numberErr := strconv.Atoi(line)
			if err != nil || !ok || numberErr != nil {
				break
			}
			j.pids = append(j.pids, pid)
		}
		if len(j.pids) == ranks {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-j.ended:
			return errors.New("the job ended before it hung")
		case <-deadline:
			return fmt.Errorf("after %s only %d of %d ranks were running", jobPatience, len(j.pids), ranks)
		case <-tick.C:
		}
	}
}

// hang reads the queues until all ranks stand in their receives and the
// message with the wrong tag has arrived.
func (j *job) hang(ctx context.Context, g *gdb) (*mqs.Snapshot, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, jobPatience, fmt.Errorf("after %s the ranks were still not waiting for each other", jobPatience))
	defer cancel()
	for {
		var asked []inquiry
		for _, pid := range j.pids {
			asked = append(asked, askProcess(pid))
		}
		s, err := inspect(ctx, g, asked)
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
		if hangs(s) {
			return s, nil
		}
	}
}

// hangs says whether every process waits for a message and one has come that nobody wants.
func hangs(s *mqs.Snapshot) bool {
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

// stop ends the job and waits until it is gone. The ranks end first: the
// launcher then collects them and clears up, which it does not if it is told to end.
func (j *job) stop() {
	for _, pid := range j.pids {
		if j.owns(pid) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	if len(j.pids) == 0 || !j.endsWithin(stopPatience) {
		_ = j.launcher.Process.Signal(syscall.SIGTERM)
		if !j.endsWithin(stopPatience) {
			_ = syscall.Kill(-j.launcher.Process.Pid, syscall.SIGKILL)
		}
	}
	<-j.ended
}

func (j *job) endsWithin(patience time.Duration) bool {
	select {
	case <-j.ended:
		return true
	case <-time.After(patience):
		return false
	}
}

// owns says whether a process is one of the job's, and not another of the same number.
func (j *job) owns(pid int) bool {
	p, err := tracee.Read(pid)
	return err == nil && p.Program == j.program
}
