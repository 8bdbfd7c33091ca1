//go:build linux

package gate

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A rank waits until it is told to go, and its process id is the kernel's word.
func TestMeet(t *testing.T) {
	l := listen(t)
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
