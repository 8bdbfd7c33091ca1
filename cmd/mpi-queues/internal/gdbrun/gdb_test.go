package gdbrun

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mpi-queues/mpi-queues/bridge"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/tracee"
	"github.com/mpi-queues/mpi-queues/mqs/launch"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// asGDB names, in the environment, what this program does as a gdb with the extension.
const asGDB = "MPI_QUEUES_TEST_GDB"

// As of gdb, it is the first thread of this program that traces: the kernel names a tracer by its thread.
func init() { runtime.LockOSThread() }

func TestMain(m *testing.M) {
	if scene := os.Getenv(asGDB); scene != "" {
		beGDB(scene)
		return
	}
	os.Exit(m.Run())
}

// What a gdb "in turn" does with a process of a number.
const (
	refusing = 1<<30 + iota
	silent
	deadly
	deadlyAhead // only to a gdb that has read its files ahead
	endless
)

// client is the other end of the protocol, on standard input.
type client struct {
	from *bufio.Reader
	id   int
}

// ask makes a request, answers no call-back, and returns the result or the error as JSON.
func (e *client) ask(method string, params any) (result, failure json.RawMessage) {
	e.id++
	body, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": e.id, "method": method, "params": params})
	if _, err := syscall.Write(0, fmt.Appendf(nil, "Content-Length: %d\r\n\r\n%s", len(body), body)); err != nil {
		os.Exit(9)
	}
	for {
		length := 0
		for {
			line, err := e.from.ReadString('\n')
			if err != nil {
				os.Exit(9)
			}
			if value, ok := strings.CutPrefix(line, "Content-Length: "); ok {
				length, _ = strconv.Atoi(strings.TrimSpace(value))
			}
			if line == "\r\n" {
				break
			}
		}
		text := make([]byte, length)
		_, _ = io.ReadFull(e.from, text)
		var reply struct {
			ID     int             `json:"id"`
			Method string          `json:"method"`
			Result json.RawMessage `json:"result"`
			Error  json.RawMessage `json:"error"`
		}
		if err := json.Unmarshal(text, &reply); err == nil && reply.Method == "" && reply.ID == e.id {
			return reply.Result, reply.Error
		}
	}
}

// beGDB does what a gdb does in a scene of a test's.
func beGDB(scene string) {
	e := &client{from: bufio.NewReader(os.Stdin)}
	hello := func() {
		if _, failure := e.ask(bridge.MethodInitialize, bridge.InitializeParams{Protocol: bridge.ProtocolVersion}); failure != nil {
			os.Exit(8)
		}
	}
	queues := func(reasons ...string) json.RawMessage {
		var p bridge.QueuesParams
		for i, reason := range reasons {
			p.Obstacles = append(p.Obstacles, bridge.Obstacle{Inferior: i + 1, PID: 7 + i, Reason: reason})
		}
		_, failure := e.ask(bridge.MethodQueues, p)
		return failure
	}
	switch scene {
	case "reads":
		hello()
		_ = queues("it runs", "`set mpi-queues dll PATH' names one")
	case "refuses":
		hello()
		e.ask(bridge.MethodStatus, bridge.StatusParams{Failure: "ptrace: Operation not permitted."})
	case "fails":
		hello()
		e.ask(bridge.MethodStatus, bridge.StatusParams{Attached: true, Failure: "it runs: `set mpi-queues source both'"})
	case "is sent away":
		hello()
		failure := queues()
		e.ask(bridge.MethodStatus, bridge.StatusParams{Attached: true, Failure: "refused: " + string(failure)})
	case "says nothing":
		hello()
		fmt.Println("warning: something\nlast words")
		os.Exit(3)
	case "dies":
		hello()
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "stands still":
		hello()
		e.ask(bridge.MethodStatus, bridge.StatusParams{Message: "attaching to process 2 of 1000"})
		time.Sleep(time.Hour)
	case "in turn":
		var asked request
		if err := json.Unmarshal([]byte(os.Getenv("MPI_QUEUES_ATTACH")), &asked); err != nil {
			os.Exit(7)
		}
		hello()
		for {
			result, _ := e.ask(bridge.MethodNext, bridge.NextParams{})
			var next bridge.NextResult
			if json.Unmarshal(result, &next) != nil || next.PID == 0 {
				return
			}
			if next.PID == deadlyAhead && asked.Ahead {
				next.PID = deadly
			}
			switch next.PID {
			case refusing:
				e.ask(bridge.MethodStatus, bridge.StatusParams{Failure: "ptrace: Operation not permitted."})
			case silent:
			case deadly:
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			case endless:
				time.Sleep(time.Hour)
			default:
				_ = queues(fmt.Sprintf("read by %d", os.Getpid()))
			}
		}
	case "never asks":
		hello()
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "stops one":
		pid, _ := strconv.Atoi(os.Getenv(stopped))
		_ = syscall.Kill(pid, syscall.SIGSTOP)
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "attaches": // as gdb does: with a SIGSTOP, for which it waits
		hello()
		pid, _ := strconv.Atoi(os.Getenv(stopped))
		_ = unix.PtraceAttach(pid)
		_, _ = unix.Wait4(pid, nil, unix.WALL, nil)
		time.Sleep(time.Hour)
	case "traces": // and does not stop it
		hello()
		pid, _ := strconv.Atoi(os.Getenv(stopped))
		_, _, _ = unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(pid), 0, 0, 0, 0)
		time.Sleep(time.Hour)
	case "sleeps": // in vfork, which waits for the child, and which SIGKILL alone ends
		if child, _, _ := unix.RawSyscall6(unix.SYS_CLONE, unix.CLONE_VFORK|uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0); child != 0 {
			return
		}
		_, _, _ = unix.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0, 0)
		for {
			_, _, _ = unix.RawSyscall(unix.SYS_PPOLL, 0, 0, 0)
		}
	case "is silent":
		time.Sleep(time.Hour)
	case "tells its limit":
		hello()
		var data, files unix.Rlimit
		_ = unix.Getrlimit(unix.RLIMIT_DATA, &data)
		_ = unix.Getrlimit(unix.RLIMIT_NOFILE, &files)
		_ = queues(fmt.Sprint(data.Cur, files.Max-files.Cur))
	case "tells its files":
		hello()
		names, _ := filepath.Glob("/proc/self/fd/*")
		sockets := 0
		for _, name := range names {
			if to, err := os.Readlink(name); err == nil && strings.HasPrefix(to, "socket:") {
				sockets++
			}
		}
		_ = queues(fmt.Sprintf("%d sockets", sockets))
	}
}

// fake is a GDB that this program is.
func fake(t *testing.T, scene string, timeout time.Duration) *GDB {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(asGDB, scene)
	g, err := New(self, "1.0", timeout, Settings{Choice: read.Auto}, new(launch.Finder))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g
}

// What gdb has read arrives as it is, in the shell's words; what stops it is told apart.
func TestRead(t *testing.T) {
	s, err := fake(t, "reads", time.Minute).Read(t.Context(), Task{Job: 7})
	if err != nil || len(s.Processes) != 2 || s.Processes[0].Unavailable != "it runs" || s.Processes[1].Unavailable != "`--dll PATH' names one" {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err = fake(t, "refuses", time.Minute).Read(t.Context(), Task{Job: 7}); err == nil || *errorOf[*AttachError](err) != (AttachError{"ptrace: Operation not permitted."}) {
		t.Error(err)
	}
	if _, err = fake(t, "fails", time.Minute).Read(t.Context(), Task{Job: 7}); err == nil || err.Error() != "it runs: `--source both'" {
		t.Error(err)
	}
	_, err = fake(t, "says nothing", time.Minute).Read(t.Context(), Task{Job: 7})
	if err == nil || err.Error() != "gdb: last words (exit status 3)" || errorOf[*UselessError](err) != nil {
		t.Error(err)
	}
	_, err = fake(t, "dies", time.Minute).Read(t.Context(), Task{Job: 7})
	if err == nil || !strings.HasSuffix(err.Error(), "did nothing (signal: killed)") || errorOf[*UselessError](err) != nil {
		t.Error(err)
	}
}

// TestRecord checks that a recording that was there before is not taken for the one that gdb could not make.
func TestRecord(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rank-0.mpiq")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := fake(t, "refuses", time.Minute).Record(t.Context(), tracee.State{PID: 7}, file); errorOf[*AttachError](err) == nil {
		t.Error(err)
	}
}

// The source that a user does not have is an error of the helper's, and is told in its words.
func TestHelperRefuses(t *testing.T) {
	g := fake(t, "is sent away", time.Minute)
	g.settings.Choice = "elsewhere"
	_, err := g.Read(t.Context(), Task{Job: 7})
	if err == nil || !strings.Contains(err.Error(), "there is no source") || !strings.Contains(err.Error(), "elsewhere") {
		t.Error(err)
	}
}

func errorOf[E error](err error) (found E) {
	errors.As(err, &found)
	return found
}

// A gdb that stands still keeps a job stopped for the time that is given, and not for
// that time for each rank of it.
func TestTimeIsNotForEachRank(t *testing.T) {
	for scene, doing := range map[string]string{"stands still": " (attaching to process 2 of 1000)", "is silent": ""} {
		_, err := fake(t, scene, time.Second).Read(t.Context(), Task{Job: 1, Before: make([]tracee.State, 1000)})
		late := errorOf[*TimeoutError](err)
		if late == nil || late.after != time.Second {
			t.Fatal(err)
		}
		if want := "gdb made no progress within 1s" + doing + " and was told to end"; late.doing != "" && !strings.Contains(err.Error(), want) {
			t.Error(err)
		}
	}
}

// gdb has one end of the socket and nothing else of ours.
func TestGDBInheritsOneEnd(t *testing.T) {
	s, err := fake(t, "tells its files", time.Minute).Read(t.Context(), Task{Job: 7})
	if err != nil || s.Processes[0].Unavailable != "1 sockets" {
		t.Errorf("%+v, %v", s, err)
	}
}

// What it leaves behind is nothing.
func TestNothingIsLeft(t *testing.T) {
	g := fake(t, "dies", time.Minute)
	before, err := os.ReadDir(g.Folder())
	if err != nil {
		t.Fatal(err)
	}
	_, _ = g.Read(t.Context(), Task{Job: 7})
	after, err := os.ReadDir(g.Folder())
	if err != nil || len(after) != len(before) {
		t.Error(after, err)
	}
	g.Close()
	if _, err := os.Stat(g.Folder()); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// The settings mean what gdb's of the same names do.
func TestSettings(t *testing.T) {
	t.Setenv("HOME", "/home/me")
	t.Setenv("DLLS", "/opt/dlls")
	if err := os.Unsetenv("NOT_SET"); err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	got := Settings{Choice: read.DLL, DLL: "sub/libx.so", SafePath: ":~/a:$DLLS/b:$NOT_SET/c:relative:/d", DLLTimeout: 3}.source([]bridge.Process{{PID: 1}})
	if got.Choice != "dll" || got.Timeout != 3 || len(got.Starters) != 1 || got.DLL != filepath.Join(here, "sub", "libx.so") ||
		!slices.Equal(got.SafePath, []string{"/home/me/a", "/opt/dlls/b", "/d"}) {
		t.Errorf("%+v", got)
	}
	if got := (Settings{DLL: "~/libx.so"}).source(nil); got.DLL != "/home/me/libx.so" {
		t.Error(got.DLL)
	}
	if got := (Settings{}).source(nil); got.DLL != "" || got.SafePath != nil {
		t.Errorf("%+v", got)
	}
}

// A gdb is found by its name, and what is named must be there.
func TestFind(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("PATH", folder)
	t.Setenv("MPI_QUEUES_GDB", "")
	if _, err := Find(""); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
	gdb := filepath.Join(folder, "gdb")
	if err := os.WriteFile(gdb, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if path, err := Find(""); path != gdb || err != nil {
		t.Error(path, err)
	}
	if _, err := Find("none"); err == nil || !errors.Is(err, exec.ErrNotFound) || !strings.HasPrefix(err.Error(), `the gdb "none", named by --gdb, can't be run (`) {
		t.Error(err)
	}
}
