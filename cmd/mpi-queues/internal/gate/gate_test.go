//go:build linux

package gate

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// listenAt has this program listen at a path, as a stranger, instead of running tests.
const listenAt = "MPI_QUEUES_TEST_LISTEN"

func TestMain(m *testing.M) {
	if path := os.Getenv(listenAt); path != "" {
		beStranger(path)
		return
	}
	os.Exit(m.Run())
}

// beStranger listens, says so, and writes what it hears.
func beStranger(path string) {
	socket, err := net.Listen("unix", path)
	if err == nil {
		err = os.Chmod(path, 0o777)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("listening")
	if conn, err := socket.Accept(); err == nil {
		_, _ = io.Copy(os.Stdout, conn)
	}
}

// A rank waits until it is told to go, and its process id is the kernel's word.
func TestMeet(t *testing.T) { meet(t, listen(t)) }

// TestLongPath checks that ranks come to a socket whose path is longer than the kernel lets an address be: TMPDIR can be.
func TestLongPath(t *testing.T) {
	folder := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := Listen(folder, os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	meet(t, l)
	l.Close()
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

// meet has this process meet a listener as a rank.
func meet(t *testing.T, l *Listener) {
	t.Helper()
	met := make(chan error)
	go func() { met <- Meet(t.Context(), l.Path) }()
	r, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if r.PID != os.Getpid() {
		t.Errorf("it is process %d", r.PID)
	}
	select {
	case err := <-met:
		t.Fatalf("it does not wait: %v", err)
	case <-time.After(10 * time.Millisecond):
	}
	if err := r.Go(); err != nil {
		t.Error(err)
	}
	if err := <-met; err != nil {
		t.Error(err)
	}
}

func listen(t *testing.T) *Listener {
	t.Helper()
	l, err := Listen(t.TempDir(), os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

// A rank for which nobody comes says why.
func TestNobodyComes(t *testing.T) {
	meet := func(ctx context.Context, path, want string) {
		t.Helper()
		if err := Meet(ctx, path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	meet(t.Context(), filepath.Join(t.TempDir(), "nonesuch"), "nobody waits for it")

	l := listen(t)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, _ = l.Accept()
		cancel() // its time is over
	}()
	meet(ctx, l.Path, "no debugger came in time")

	l = listen(t)
	go func() {
		if r, err := l.Accept(); err == nil {
			r.Close()
		}
	}()
	meet(t.Context(), l.Path, "has gone")

	l = listen(t)
	l.Close()
	meet(t.Context(), l.Path, "nobody waits for it")
}

// A rank says nothing to a listener of another user, who may have made the path on another host.
func TestStrangerListens(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const stranger = 54321
	folder, err := os.MkdirTemp("", "gate") // those of t.TempDir are closed to strangers
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	path := filepath.Join(folder, "gate")
	if err := os.Chown(folder, stranger, stranger); err != nil {
		t.Fatal(err)
	}
	// By its open file: the path of the program may be closed to strangers.
	program, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = program.Close() }()
	cmd := exec.CommandContext(t.Context(), "/proc/self/fd/3")
	cmd.ExtraFiles = []*os.File{program}
	cmd.Dir = folder
	cmd.Env = []string{listenAt + "=" + path}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: stranger, Gid: stranger}}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	first := make([]byte, len("listening\n"))
	if _, err := io.ReadFull(out, first); err != nil || string(first) != "listening\n" {
		t.Fatalf("%q, %v", first, err)
	}
	if err := Meet(t.Context(), path); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("another user waits there (%d)", stranger)) {
		t.Errorf("%v does not name the stranger", err)
	}
	if heard, err := io.ReadAll(out); err != nil || len(heard) > 0 {
		t.Errorf("the stranger hears %q, %v", heard, err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// Who does not speak as a rank is sent away, and those that come after are heard.
func TestStrangers(t *testing.T) {
	l := listen(t)
	ranks := make(chan *Rank)
	go func() {
		r, err := l.Accept()
		if err != nil {
			t.Error(err)
		}
		ranks <- r
	}()
	for _, said := range []string{"", "GET / HTTP/1.1\r\n", "mpi-queues rank 99\n", strings.Repeat("x", 10000)} {
		conn, err := net.Dial("unix", l.Path)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = conn.Write([]byte(said))
		if said == "" {
			_ = conn.Close()
			continue
		}
		if n, err := conn.Read(make([]byte, 10)); err == nil {
			t.Errorf("%.20q is answered with %d bytes", said, n)
		}
		_ = conn.Close()
	}
	go func() { _ = Meet(t.Context(), l.Path) }()
	if r := <-ranks; r != nil {
		_ = r.Go()
	}
}
