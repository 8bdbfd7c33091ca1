//go:build bench

package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// patience bounds every wait.
const patience = 5 * time.Minute

// job starts tests/programs/many with n pending receives and returns the pids of
// its launcher and of its ranks once all of them are posted. The job ends with the test.
func job(t *testing.T, program string, ranks, n int) (launcher int, pids []int) {
	t.Helper()
	dir := t.TempDir()
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	must(t, err)
	events := os.NewFile(uintptr(fd), "inotify")
	defer func() { _ = events.Close() }()
	_, err = unix.InotifyAddWatch(fd, dir, unix.IN_CREATE|unix.IN_MOVED_TO)
	must(t, err)

	cmd := exec.Command("mpirun.openmpi", "--oversubscribe", "-n", fmt.Sprint(ranks), program, dir, fmt.Sprint(n))
	cmd.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	must(t, cmd.Start())
	ended := make(chan struct{})
	var how error
	go func() { how = cmd.Wait(); close(ended) }()
	t.Cleanup(func() {
		_ = os.WriteFile(filepath.Join(dir, "stop"), nil, 0o666)
		select {
		case <-ended:
		case <-time.After(time.Minute):
			_ = cmd.Process.Kill()
		}
	})

	buffer := make([]byte, 4096)
	must(t, events.SetReadDeadline(time.Now().Add(patience)))
	for rank := 0; rank < ranks; {
		if _, err := os.Stat(filepath.Join(dir, fmt.Sprintf("ready-%d", rank))); err == nil {
			pids = append(pids, pidIn(t, filepath.Join(dir, fmt.Sprintf("rank-%d.json", rank))))
			rank++
			continue
		}
		select {
		case <-ended:
			t.Fatalf("the job ended: %v\n%s", how, &said)
		default:
		}
		if _, err := events.Read(buffer); err != nil {
			t.Fatalf("the job is not ready: %v\n%s", err, &said)
		}
	}
	return cmd.Process.Pid, pids
}

// pidIn reads the first member of a rank's account, its pid.
func pidIn(t *testing.T, path string) int {
	t.Helper()
	f, err := os.Open(path)
	must(t, err)
	defer func() { _ = f.Close() }()
	d := json.NewDecoder(f)
	for {
		token, err := d.Token()
		must(t, err)
		if token == "pid" {
			var pid int
			must(t, d.Decode(&pid))
			return pid
		}
	}
}

// session is a gdb that is fed commands and whose output comes through a pipe.
type session struct {
	t     *testing.T
	stdin io.Writer
	out   *os.File
	errs  chan string // lines of stderr
	count int
	pid   int // gdb's
}

func newSession(t *testing.T, helper string, environment ...string) *session {
	t.Helper()
	cmd := exec.Command("gdb", "-q", "-nx", "-iex", "set auto-load off")
	cmd.Env = append(append(os.Environ(), "MPI_QUEUES_HELPER="+helper, "DEBUGINFOD_URLS="), environment...)
	stdin, err := cmd.StdinPipe()
	must(t, err)
	out, w, err := os.Pipe()
	must(t, err)
	cmd.Stdout = w
	stderr, err := cmd.StderrPipe()
	must(t, err)
	must(t, cmd.Start())
	must(t, w.Close())
	s := &session{t: t, stdin: stdin, out: out, errs: make(chan string, 1<<16), pid: cmd.Process.Pid}
	go func() {
		defer close(s.errs)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			s.errs <- lines.Text()
		}
	}()
	t.Cleanup(func() {
		_, _ = io.WriteString(stdin, "detach inferiors 1 2\nquit\n")
		_ = stdin.Close()
		timer := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
		timer.Stop()
	})
	s.do("set prompt")
	s.do("set confirm off")
	s.do("set pagination off")
	s.do("set width 0")
	return s
}

// do gives gdb a command and returns what it printed, and the time from handing
// over the command to having its last byte.
func (s *session) do(command string) (string, time.Duration) {
	s.t.Helper()
	s.count++
	mark := fmt.Sprintf("@@%d@@\n", s.count)
	line := fmt.Sprintf("%s\necho @@%d@@\\n\n", command, s.count)
	must(s.t, s.out.SetReadDeadline(time.Now().Add(patience)))
	start := time.Now()
	_, err := io.WriteString(s.stdin, line)
	must(s.t, err)
	output, err := readUntil(s.out, mark)
	took := time.Since(start)
	if err != nil {
		s.t.Fatalf("%s: %v\n%s\n%s", command, err, tail(output), s.stderr())
	}
	return string(output[:len(output)-len(mark)]), took
}

// stderr returns what gdb has said on stderr and nobody has read.
func (s *session) stderr() string {
	var b bytes.Buffer
	for {
		select {
		case line, ok := <-s.errs:
			if !ok {
				return b.String()
			}
			fmt.Fprintln(&b, line)
		default:
			return b.String()
		}
	}
}

// cost is the line that `set mpi-queues debug on' adds to a command.
type cost struct {
	roundTrips int
	bytes      int64
	seconds    float64
}

// debugged runs a command and returns the line about its cost.
func (s *session) debugged(command string) cost {
	s.t.Helper()
	s.do("set mpi-queues debug on")
	defer s.do("set mpi-queues debug off")
	s.do(command)
	timeout := time.After(patience)
	for {
		select {
		case line, ok := <-s.errs:
			var c cost
			if n, _ := fmt.Sscanf(line, "mpi-queues: %d round trips, %d bytes read, %f s", &c.roundTrips, &c.bytes, &c.seconds); n == 3 {
				return c
			}
			if ok {
				continue
			}
		case <-timeout:
		}
		s.t.Fatalf("%s: no line about its cost", command)
	}
}

// received is where output goes. It is touched before anything is timed.
var received = bytes.Repeat([]byte{'\n'}, 64<<20)

// readUntil reads until what has come ends with mark; with no mark, to the end.
// What it returns is there until it is called again.
func readUntil(r io.Reader, mark string) ([]byte, error) {
	out := received[:0]
	for {
		n, err := r.Read(out[len(out):cap(out)])
		out = out[:len(out)+n]
		switch {
		case mark != "" && bytes.HasSuffix(out, []byte(mark)):
			return out, nil
		case mark == "" && errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return out, err
		case len(out) == cap(out):
			return out, errors.New("more output than expected")
		}
	}
}

func tail(b []byte) string { return string(b[max(0, len(b)-2000):]) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
