package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/child"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/wire"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
)

// The engines that are known by name. Each is a command line for a shell: {host} is a host, {hosts} are all
// of them with commas between, {command} is the collector's command line, each as one word.
var engines = map[string]string{
	"ssh":     "ssh -o BatchMode=yes -o ConnectTimeout=10 {host} {command}",
	"mpirun":  "mpirun --host {hosts} --map-by ppr:1:node sh -c {command}",
	"mpiexec": "mpiexec -hosts {hosts} -ppn 1 sh -c {command}",
	"local":   "sh -c {command}",
}

// Engine is the command line of an engine, by its name or as it is.
func Engine(via string) (string, error) {
	if line, known := engines[via]; known {
		via = line
	}
	if !strings.Contains(via, "{command}") {
		return "", fmt.Errorf("--via %q has no {command} in it, which stands for the command to be started on a host, as one word", via)
	}
	return via, nil
}

// SlurmEngine starts a collector on each node of a job of Slurm's.
func SlurmEngine(job string) string {
	return "srun --jobid=" + quote(job) + " --overlap --ntasks-per-node=1 --kill-on-bad-exit=0 sh -c {command}"
}

// isPerHost is true of an engine that is started once for each host.
func isPerHost(engine string) bool { return strings.Contains(engine, "{host}") }

// fill puts hosts and a command into an engine's command line.
func fill(engine, host string, hosts []string, command string) string {
	return strings.NewReplacer("{host}", quote(host), "{hosts}", quote(strings.Join(hosts, ",")), "{command}", quote(command)).Replace(engine)
}

// quote makes one word for a shell.
func quote(word string) string {
	const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_/,:@+="
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Line is a command line for a shell.
func Line(words ...string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quote(w)
	}
	return strings.Join(quoted, " ")
}

// endPatience is how long an engine may take to end that was told to.
const endPatience = 3 * time.Second

// start runs a command line until it ends or ctx does, and receives what it writes. The error says why
// nothing may have come, as a clause.
func start(ctx context.Context, line string, to *wire.Receiver, changed func(wire.Status)) error {
	cmd := exec.Command("/bin/sh", "-c", line)
	cmd.SysProcAttr = child.OwnSession()
	said := &tail{}
	cmd.Stderr = said
	// While it is open, collectors go on that have it for their standard input.
	hold, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, in := io.Pipe()
	cmd.Stdout = in
	cmd.WaitDelay = endPatience // something that it has left may hold its output
	// The kernel ends it when the thread that started it is gone.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return err
	}
	received := make(chan struct{})
	go func() {
		defer close(received)
		_ = to.Read(out, changed)
		_, _ = io.Copy(io.Discard, out)
	}()
	ended := make(chan struct{})
	go func() {
		select {
		case <-ended:
			return
		case <-ctx.Done():
		}
		_ = hold.Close()
		group := -cmd.Process.Pid // it leads a session
		_ = syscall.Kill(group, syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(endPatience):
			_ = syscall.Kill(group, syscall.SIGKILL)
		}
	}()
	err = cmd.Wait()
	close(ended)
	_, _ = in.Close(), hold.Close()
	<-received
	if words := said.last(); err != nil && words != "" && ctx.Err() == nil {
		return fmt.Errorf("%s (%w)", words, err)
	}
	if err == nil {
		err = errors.New("it ended without a word")
	}
	return err
}

// tail keeps the end of a text.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(b []byte) (int, error) {
	const most = 2048
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b[max(0, len(b)-most):]...)
	t.text = append([]byte(nil), t.text[max(0, len(t.text)-most):]...)
	return len(b), nil
}

// last is its last line.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	return printable.Line(strings.TrimSpace(lines[len(lines)-1]))
}
