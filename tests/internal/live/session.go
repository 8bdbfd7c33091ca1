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
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
)

// Prompt is what a [Session]'s gdb prints when it waits for a command: no
// command's output has it. It is ASCII: readline writes other characters byte by byte, and what
// a job writes on the same terminal may come between.
const Prompt = "<ready> "

// Session is a gdb that someone sits at: it runs on a terminal of its own.
type Session struct {
	t        testing.TB
	cmd      *exec.Cmd
	terminal *os.File
	ended    chan struct{}

	mu   sync.Mutex
	text []byte // all that gdb has written
	seen int    // how much of it has been waited for
	// isClosed is true if nobody can write any more.
	isClosed bool
	where    string // the file of its whereabouts
}

// StartSession starts a gdb on a terminal and waits for its first prompt. env adds to
// its environment. It ends with the test.
func (w *Workspace) StartSession(t testing.TB, where Where, env ...string) *Session {
	t.Helper()
	master, slave, err := openTerminal()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = slave.Close() }()
	file := filepath.Join(t.TempDir(), "where")
	args := slices.Concat([]string{"-q"}, tellsWhere(file), w.arguments(where, []string{"set width 0", "set height 0", "set prompt " + Prompt}))
	s := &Session{t: t, cmd: exec.Command(w.Debugger, args...), terminal: master, ended: make(chan struct{}), where: file}
	s.cmd.Env = w.environment(env...)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = slave, slave, slave
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go s.listen()
	go func() {
		_ = s.cmd.Wait()
		close(s.ended)
	}()
	t.Cleanup(s.leave)
	s.Await(Prompt)
	return s
}

// openTerminal returns the two ends of a new pseudo-terminal.
func openTerminal() (master, slave *os.File, err error) {
	master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	// Not through Fd, which would make Read deaf to Close.
	raw, err := master.SyscallConn()
	number := 0
	if err == nil {
		controlErr := raw.Control(func(fd uintptr) {
			if number, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN); err == nil {
				err = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0)
			}
		})
		err = errors.Join(err, controlErr)
	}
	if err == nil {
		slave, err = os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		_ = master.Close()
		return nil, nil, err
	}
	return master, slave, nil
}

func (s *Session) listen() {
	chunk := make([]byte, 1<<16)
	for {
		n, err := s.terminal.Read(chunk)
		s.mu.Lock()
		s.text = append(s.text, chunk[:n]...)
		s.isClosed = err != nil
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// PID is gdb's process id.
func (s *Session) PID() int { return s.cmd.Process.Pid }

// Send types a line.
func (s *Session) Send(line string) { s.Type(line + "\n") }

// Type types characters; "\x03" is Ctrl-C.
func (s *Session) Type(characters string) {
	s.t.Helper()
	if _, err := s.terminal.WriteString(characters); err != nil {
		s.t.Fatalf("can't type %q: %v", characters, err)
	}
}

// Has says whether gdb has written a text since the last wait.
func (s *Session) Has(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Contains(s.text[s.seen:], []byte(text))
}

// Await waits until gdb has written a text since the last call, and returns
// what it has written up to it.
func (s *Session) Await(text string) string {
	s.t.Helper()
	out, ok := s.await(text)
	if !ok {
		s.t.Fatalf("gdb does not write %q; since the last command it wrote:\n%s", text, out)
	}
	return out
}

// await gives up when nobody can write any more.
func (s *Session) await(text string) (out string, ok bool) {
	Soon(func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		at := bytes.Index(s.text[s.seen:], []byte(text))
		if at < 0 {
			out = string(s.text[s.seen:])
			return s.isClosed
		}
		out = string(s.text[s.seen : s.seen+at])
		s.seen += at + len(text)
		ok = true
		return true
	})
	return strings.ReplaceAll(out, "\r\n", "\n"), ok
}

// Do types a command and returns what gdb writes until its next prompt.
func (s *Session) Do(command string) string {
	s.t.Helper()
	s.Send(command)
	_, out, _ := strings.Cut(s.Await(Prompt), "\n") // the line that was typed comes back first
	return out
}

// Says does a command whose output must have the texts.
func (s *Session) Says(command string, texts ...string) string {
	s.t.Helper()
	out := s.Do(command)
	for _, text := range texts {
		if !strings.Contains(out, text) {
			s.t.Errorf("%s does not say %q:\n%s", command, text, out)
		}
	}
	return out
}

// Helper returns the process id of the product's helper that gdb runs, or 0.
func (s *Session) Helper() int {
	for _, child := range procfs.Host.Children(s.PID()) {
		if line, err := procfs.Host.CommandLine(child); err == nil && len(line) == 2 && line[1] == "helper" {
			return child
		}
	}
	return 0
}

// HangUp closes the terminal, as the loss of an ssh connection does.
func (s *Session) HangUp() { _ = s.terminal.Close() }

// Signal is the signal that has ended gdb; -1 if it ended by itself. It is known after [Session.End].
func (s *Session) Signal() syscall.Signal {
	if status := s.cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
		return status.Signal()
	}
	return -1
}

// End waits until gdb has ended, and returns what it has written since the last wait.
func (s *Session) End() string {
	s.t.Helper()
	Until(s.t, "for gdb's end", func() bool {
		select {
		case <-s.ended:
			return true
		default:
			return false
		}
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.text[s.seen:])
}

func (s *Session) leave() {
	if s.t.Failed() {
		s.mu.Lock()
		s.t.Logf("gdb's last words:\n%s", s.text[max(0, len(s.text)-4000):])
		isBusy := !s.isClosed && !bytes.HasSuffix(s.text, []byte(Prompt))
		s.mu.Unlock()
		if isBusy {
			s.t.Log(whereabouts(s.PID(), s.where))
		}
	}
	_ = s.terminal.Close()
	// The terminal's hang-up ends gdb, which detaches first.
	select {
	case <-s.ended:
	case <-time.After(10 * time.Second):
		_ = s.cmd.Process.Kill()
		<-s.ended
	}
}

// Kill kills a process at once.
func Kill(t testing.TB, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		t.Fatal(err)
	}
}

// CPU is how much processor time a process has used, in its system's ticks, or
// -1 if there is none.
func CPU(pid int) int {
	stat, err := procfs.Host.Stat(pid)
	if err != nil {
		return -1
	}
	return int(stat.User + stat.System)
}

// Written is how many bytes a process has written to files, pipes and terminals.
func Written(pid int) int {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/io")
	if err != nil {
		return -1
	}
	_, rest, _ := strings.Cut(string(text), "wchar: ")
	digits, _, _ := strings.Cut(rest, "\n")
	n, _ := strconv.Atoi(digits)
	return n
}
