package bridge

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rs/zerolog"
	"github.com/sourcegraph/jsonrpc2"
)

// windows counts the windows that this process has open.
func windows(t *testing.T) int {
	t.Helper()
	files, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, file := range files {
		if to, err := os.Readlink(file); err == nil && strings.HasPrefix(to, "/memfd:mpi-queues") {
			n++
		}
	}
	return n
}

// A process that serves many debuggers keeps nothing of those that have gone, and none of what was
// done for them goes on.
func TestNothingGoesOn(t *testing.T) {
	before := windows(t)
	for range 5 {
		here, there := net.Pipe()
		begun := make(chan struct{})
		var ended atomic.Bool
		served := make(chan error, 1)
		server := NewServer("v1", zerolog.Nop())
		RegisterDisplay(server, MethodDescribe, func(ctx context.Context, _ *Debugger, _ DescribeParams) error {
			close(begun)
			<-ctx.Done()
			ended.Store(true)
			return ctx.Err()
		})
		go func() { served <- server.Serve(context.Background(), there) }()
		conn := jsonrpc2.NewConn(context.Background(), jsonrpc2.NewBufferedStream(here, jsonrpc2.VSCodeObjectCodec{}),
			jsonrpc2.HandlerWithError(func(context.Context, *jsonrpc2.Conn, *jsonrpc2.Request) (any, error) { return nil, nil }))
		if err := conn.Call(context.Background(), MethodInitialize, InitializeParams{Protocol: ProtocolVersion}, nil); err != nil {
			t.Fatal(err)
		}
		if windows(t) != before+1 {
			t.Errorf("%d windows, where there were %d", windows(t), before)
		}
		go func() { _ = conn.Call(context.Background(), MethodDescribe, DescribeParams{}, nil) }()
		<-begun
		_ = conn.Close()
		if err := <-served; err != nil || !ended.Load() {
			t.Errorf("the handler has ended: %t (%v)", ended.Load(), err)
		}
	}
	if n := windows(t); n != before {
		t.Errorf("%d windows are left", n-before)
	}
}
