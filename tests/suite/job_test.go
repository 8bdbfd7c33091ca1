//go:build matrix || full

package suite

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
	"github.com/mpi-queues/mpi-queues/tests/internal/live"
)

// job is a program that runs.
type job struct {
	launcher *exec.Cmd
	ended    chan struct{}
	// program is its path, and folder where its processes run and write.
	program, folder string
	// ranks are the process ids of those that the launcher was told to start.
	ranks []int
}

// manner is how a program is run.
type manner struct {
	// preload is the library that makes it long, empty if it is left alone.
	preload string
	slow    bool
	// most is how often main is called at most, 0 for as long as nobody says stop.
	most int
}

// start starts a program. It is in its processes' folder too, where one that spawns looks for it.
func start(t *testing.T, mpi mpi, p program, path string, m manner) *job {
	t.Helper()
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	j := &job{program: real, folder: t.TempDir(), ended: make(chan struct{})}
	if err := os.Symlink(real, filepath.Join(j.folder, p.name)); err != nil {
		t.Fatal(err)
	}
	env := []string{"MPITEST_RETURN_WITH_CODE=yes", "AGAIN_FOLDER=" + j.folder}
	if m.most > 0 {
		env = append(env, "AGAIN_MOST="+strconv.Itoa(m.most))
	}
	if m.slow {
		env = append(env, "AGAIN_SLOW=yes")
	}
	command := slices.Clone(mpi.Launcher)
	if p.spawns {
		command = append(command, mpi.room...)
		env = append(env, "AGAIN_SPAWNS=yes")
	}
	command = append(command, "-n", strconv.Itoa(p.ranks))
	if m.preload != "" {
		env = append(env, "LD_PRELOAD="+m.preload)
	}
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		command = append(command, mpi.Setting(name, value)...)
	}
	command = slices.Concat(command, []string{path}, p.args)
	log, err := os.Create(filepath.Join(j.folder, "output"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	j.launcher = exec.Command(command[0], command[1:]...)
	j.launcher.Dir, j.launcher.Stdout, j.launcher.Stderr = j.folder, log, log
	j.launcher.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := j.launcher.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = j.launcher.Wait()
		close(j.ended)
	}()
	t.Cleanup(j.kill)
	return j
}

// await waits until all ranks have initialised MPI, and says whether they have.
func (j *job) await(t *testing.T, ranks int) bool {
	t.Helper()
	file := func(rank int) string { return filepath.Join(j.folder, "rank-"+strconv.Itoa(rank)) }
	live.Soon(func() bool {
		for rank := range ranks {
			if !live.Exists(file(rank)) {
				return j.hasEnded()
			}
		}
		return true
	})
	for rank := range ranks {
		text, err := os.ReadFile(file(rank))
		pid, bad := strconv.Atoi(string(text))
		if err != nil || bad != nil {
			return false
		}
		j.ranks = append(j.ranks, pid)
		live.Yield(t, pid)
	}
	return true
}

func (j *job) hasEnded() bool {
	select {
	case <-j.ended:
		return true
	default:
		return false
	}
}

// short is how long a program may take that is to be looked at, and patience how long one
// may take to come to its end that has been.
const short, patience = 10 * time.Second, 2 * time.Minute

// end waits for the job's end. An error says how it ends, if it does not do so well.
func (j *job) end(limit time.Duration) error {
	select {
	case <-j.ended:
	case <-time.After(limit):
		j.kill()
		return fmt.Errorf("it has not ended after %v", limit)
	}
	said := j.output()
	if status := j.launcher.ProcessState.ExitCode(); status != 0 {
		return fmt.Errorf("it ends with %d:\n%s", status, said)
	}
	if strings.Contains(said, "Found ") {
		return fmt.Errorf("it finds errors:\n%s", said)
	}
	return nil
}

// output is what the job has written, its end if that is much.
func (j *job) output() string {
	text, _ := os.ReadFile(filepath.Join(j.folder, "output"))
	return string(text[max(0, len(text)-2000):])
}

// calls is how often main has been called.
func (j *job) calls() int {
	text, _ := os.ReadFile(filepath.Join(j.folder, "calls"))
	n, _ := strconv.Atoi(strings.TrimRight(string(text), "\x00"))
	return n
}

// kill ends the launcher and all that it has started.
func (j *job) kill() {
	if j.hasEnded() {
		return
	}
	family := append(live.Descendants(j.launcher.Process.Pid), j.launcher.Process.Pid)
	for _, pid := range family {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	<-j.ended
}

// processes are those that run the job's program: its ranks, and what they have spawned.
func (j *job) processes() []int {
	return slices.DeleteFunc(live.Descendants(j.launcher.Process.Pid), func(pid int) bool {
		program, err := procfs.Host.Program(pid)
		return err != nil || program != j.program
	})
}

// stop stops all of the job's processes, also those that come while it does so. They are
// returned; what the launcher starts later runs.
func (j *job) stop() (held []int, err error) {
	for {
		fresh := slices.DeleteFunc(j.processes(), func(pid int) bool { return slices.Contains(held, pid) })
		switch missing := slices.DeleteFunc(slices.Clone(j.ranks), func(pid int) bool { return slices.Contains(held, pid) }); {
		case len(fresh) > 0:
		case len(missing) > 0:
			return held, fmt.Errorf("of the ranks %v, %v are not found below the launcher", j.ranks, missing)
		default:
			return held, nil
		}
		for _, pid := range fresh {
			if syscall.Kill(pid, syscall.SIGSTOP) == nil {
				held = append(held, pid)
			}
		}
		if !live.Soon(func() bool { return len(stopped(held)) == len(held) || slices.ContainsFunc(held, isGone) }) {
			return held, fmt.Errorf("of the processes %v, only %v stop", held, stopped(held))
		}
		held = slices.DeleteFunc(held, isGone) // it was ending
	}
}

// letRun lets stopped processes run on.
func letRun(held []int) {
	for _, pid := range held {
		_ = syscall.Kill(pid, syscall.SIGCONT)
	}
}

// stopped are those of some processes that a signal or a debugger has stopped.
func stopped(pids []int) []int {
	return slices.DeleteFunc(slices.Clone(pids), func(pid int) bool {
		state := live.State(pid)
		return state != 'T' && state != 't'
	})
}

// isGone is true of a process that has ended, whether or not its parent has noticed.
func isGone(pid int) bool {
	state := live.State(pid)
	return state == 0 || state == 'Z' || state == 'X'
}

// ends says whether the job is about to end, or has done so: a rank is gone.
func (j *job) ends() bool { return j.hasEnded() || slices.ContainsFunc(j.ranks, isGone) }
