//go:build live || matrix || full

package live

import (
	"bytes"
	"errors"
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
	"github.com/mpi-queues/mpi-queues/tests/internal/expect"
)

// Job is a running MPI job of one test program, all of whose processes have
// said what they did and stand still.
type Job struct {
	// Program is the path of its program, Folder where its processes write.
	Program, Folder string
	// Accounts of its processes: rank-0, rank-1, ... and child-0, ...
	Accounts []*expect.Account

	launcher *exec.Cmd
	ended    chan struct{}
	output   string
}

// Start runs a test program of tests/programs (or another source file in the
// project) on ranks processes and waits until they are ready. ranks 0 runs the
// program itself, without mpirun. The job ends with the test. Its ranks have
// a low priority.
//
// flags are the launcher's; args are the program's own behind OUTDIR.
func (w *Workspace) Start(t testing.TB, name string, ranks int, flags []string, args ...string) *Job {
	t.Helper()
	j := w.Launch(t, name, ranks, flags, args...)
	j.Await(t, j.Folder, max(ranks, 1))
	return j
}

// Launch is Start for a program that gets ready more than once, or in a folder of its
// own: it waits for nothing; see [Job.Await].
func (w *Workspace) Launch(t testing.TB, name string, ranks int, flags []string, args ...string) *Job {
	t.Helper()
	source := name
	if !strings.Contains(name, "/") {
		source = filepath.Join("tests", "programs", name+".c")
	}
	program := w.Program(t, source)
	folder, err := os.MkdirTemp(w.Folder, "job-")
	if err != nil {
		t.Fatal(err)
	}
	j := &Job{Program: program, Folder: folder, ended: make(chan struct{}), output: filepath.Join(folder, "output")}
	command := append([]string{program, folder}, args...)
	if ranks > 0 {
		command = slices.Concat(w.MPI.Launcher, []string{"-n", strconv.Itoa(ranks)}, w.options(t, source), flags, command)
	}
	log, err := os.Create(j.output)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	j.launcher = exec.Command(command[0], command[1:]...)
	j.launcher.Stdout, j.launcher.Stderr = log, log
	j.launcher.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := j.launcher.Start(); err != nil {
		t.Fatalf("%s: %v", command[0], err)
	}
	go func() {
		_ = j.launcher.Wait()
		close(j.ended)
	}()
	t.Cleanup(func() { j.Kill(t) })
	return j
}

// Pause stops the job's processes, as Ctrl-Z does.
func (j *Job) Pause(t testing.TB) {
	t.Helper()
	for _, a := range j.Accounts {
		if err := syscall.Kill(a.PID, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
	}
}

// options are the launcher's, from the comment "options: ..." in the program,
// if they are for this MPI.
func (w *Workspace) options(t testing.TB, source string) []string {
	t.Helper()
	if !w.MPI.TakesOptions {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(w.Root, source))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if _, options, ok := strings.Cut(line, " options: "); ok {
			return strings.Fields(options)
		}
	}
	return nil
}

// Await waits until the processes have said in a folder that they are ready, and loads
// their accounts.
func (j *Job) Await(t testing.TB, folder string, ranks int) {
	t.Helper()
	j.AwaitReady(t, folder, ranks)
	j.Accounts = nil
	for _, path := range slices.Concat(files(t, folder, "rank-*.json"), files(t, folder, "child-*.json")) {
		account, err := expect.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		j.Accounts = append(j.Accounts, account)
		Yield(t, account.PID)
	}
}

// AwaitReady waits until they have said so, also on other hosts, where their process ids are others.
func (j *Job) AwaitReady(t testing.TB, folder string, ranks int) {
	t.Helper()
	ready := func(prefix string, count int) bool {
		for i := range count {
			if !Exists(filepath.Join(folder, prefix+strconv.Itoa(i))) {
				return false
			}
		}
		return true
	}
	// How many children there are, their accounts say: all are written before anyone is ready.
	if !Soon(func() bool {
		return j.hasEnded() || ready("ready-", ranks) && ready("ready-child-", len(files(t, folder, "child-*.json")))
	}) || j.hasEnded() {
		text, _ := os.ReadFile(j.output)
		t.Fatalf("the job of %s did not become ready (ended: %v); its output:\n%s", filepath.Base(j.Program), j.hasEnded(), text)
	}
}

// yielding is how much lower the priority of ranks is than the tests' own, at which they still get on beside busy debuggers.
const yielding = 10

// Yield makes a process leave the processors to debuggers: a rank that waits in MPI
// looks for messages all the time.
func Yield(t testing.TB, pid int) {
	t.Helper()
	lower := yielding
	if own, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0); err == nil {
		lower = min(20-own+yielding, 19) // the system call counts from 40 down to 1
	}
	for _, thread := range procfs.Host.Threads(pid) {
		if err := syscall.Setpriority(syscall.PRIO_PROCESS, thread, lower); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Fatal(err)
		}
	}
	// Where sessions are scheduled as groups, priorities only count inside them, and
	// launchers give each rank one of its own (sched(7)).
	group := procfs.Host.Path(pid, "autogroup")
	ours, _ := os.ReadFile(procfs.Host.Path(os.Getpid(), "autogroup"))
	if theirs, err := os.ReadFile(group); err == nil && !bytes.Equal(theirs, ours) {
		_ = os.WriteFile(group, []byte(strconv.Itoa(yielding)), 0)
	}
}

func files(t testing.TB, folder, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, pattern))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func (j *Job) hasEnded() bool {
	select {
	case <-j.ended:
		return true
	default:
		return false
	}
}

// launcherPatience is for launchers that hang as they end: mpirun 4.1.4 may, in PMIx, after its ranks were killed.
const launcherPatience = time.Minute

// Kill ends the job, if it has not ended. The launcher takes its processes with it, as long as it
// can; those that stand in MPI do not heed the file.
func (j *Job) Kill(t testing.TB) {
	if !Exists(j.Folder) {
		return // it has been done
	}
	if err := os.WriteFile(filepath.Join(j.Folder, "stop"), nil, 0o644); err != nil {
		t.Error(err)
	}
	_ = j.launcher.Process.Signal(syscall.SIGTERM)
	for _, a := range j.Accounts {
		if j.owns(a.PID) {
			_ = syscall.Kill(a.PID, syscall.SIGKILL)
		}
	}
	if !Within(launcherPatience, j.hasEnded) {
		t.Logf("the launcher of %s does not end, and is killed", filepath.Base(j.Program))
	}
	_ = syscall.Kill(-j.launcher.Process.Pid, syscall.SIGKILL)
	if !Soon(func() bool {
		return !slices.ContainsFunc(j.Accounts, func(a *expect.Account) bool { return j.owns(a.PID) })
	}) {
		t.Errorf("processes of %s remain", filepath.Base(j.Program))
	}
	if err := os.RemoveAll(j.Folder); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// Descendants are all processes that one has started, and that these have. Each of its
// threads may have started some.
func Descendants(pid int) []int {
	var out []int
	for _, child := range procfs.Host.Children(pid) {
		out = append(append(out, child), Descendants(child)...)
	}
	return out
}

// owns tells whether a process is (still) one of this job's, whose program may be gone.
func (j *Job) owns(pid int) bool {
	path, err := procfs.Host.Program(pid)
	return err == nil && strings.TrimSuffix(path, " (deleted)") == j.Program
}
