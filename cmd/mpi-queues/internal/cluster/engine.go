package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/child"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/commandline"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/wire"
	"github.com/mpi-queues/mpi-queues/mqs/launch"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
)

// The engines that are known by name. Each is a command line for a shell: {host} is a host, {hosts} are all
// of them with commas between, {count} is their number, {command} is the collector's command line, each as one word.
var engines = map[string]string{
	"ssh":     "ssh -o BatchMode=yes -o ConnectTimeout=10 {host} {command}",
	"mpirun":  "mpirun --host {hosts} --map-by ppr:1:node -n {count} sh -c {command}",
	"mpiexec": "mpiexec -hosts {hosts} -ppn 1 -n {count} sh -c {command}",
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

// IsPerHost is true of an engine that is started once for each host.
func IsPerHost(engine string) bool { return strings.Contains(engine, "{host}") }

// IsOfHosts is true of an engine that has to be told the hosts.
func IsOfHosts(engine string) bool {
	return IsPerHost(engine) || strings.Contains(engine, "{hosts}") || strings.Contains(engine, "{count}")
}

// fill puts hosts and a command, each as one word, into an engine's command line, which is the user's own. The error is that
// of the first host that is no plain name ([launch.CheckHost]).
func fill(engine, host string, hosts []string, command commandline.Script) (commandline.Script, error) {
	var named []string
	if IsPerHost(engine) {
		named = []string{host}
	}
	if strings.Contains(engine, "{hosts}") {
		named = append(named, hosts...)
	}
	for _, name := range named {
		if err := launch.CheckHost(name); err != nil {
			return "", err
		}
	}
	word := func(text string) string { return string(commandline.Quote(text)) }
	line := strings.NewReplacer("{host}", word(host), "{hosts}", word(strings.Join(hosts, ",")), "{count}", strconv.Itoa(len(hosts)),
		"{command}", word(string(command))).Replace(engine)
	return commandline.Script(line), nil
}

// endPatience is how long an engine may take to end that was told to.
const endPatience = 3 * time.Second

// start runs a command line until it ends or ctx does, and receives what it writes. The program is sent once if it
// is asked for and not nil. The error says why nothing may have come, as a clause.
func start(ctx context.Context, line commandline.Script, to *wire.Receiver, program *Program) error {
	cmd := exec.Command("/bin/sh", "-c", string(line))
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
	within, stop := context.WithCancel(ctx)
	defer stop()
	received := make(chan error, 1)
	go func() {
		var once sync.Once
		readErr := to.Read(out, func(s wire.Status) {
			if s.Wants && program != nil {
				once.Do(func() { go program.send(hold) })
			}
		})
		if readErr != nil {
			stop()
		}
		_, _ = io.Copy(io.Discard, out)
		received <- readErr
	}()
	ended := make(chan struct{})
	go func() {
		select {
		case <-ended:
			return
		case <-within.Done():
		}
		select {
		case <-ended: // both have come: its process group may be another's by now
			return
		default:
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
	if readErr := <-received; readErr != nil {
		return readErr
	}
	if words := said.last(); err != nil && words != "" && ctx.Err() == nil {
		return fmt.Errorf("%s (%w)", words, err)
	}
	if err == nil {
		err = errSilent
	}
	return err
}

// errSilent means that an engine has ended as if all were well.
var errSilent = errors.New("it ended without a word")

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
