//go:build linux

package dll_test

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/mpi-queues/mpi-queues/mqs/dll"
	"github.com/mpi-queues/mpi-queues/mqs/dll/abi"
	"github.com/mpi-queues/mpi-queues/mqs/dll/wire"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// asMadHost makes the test's own program a host of which a DLL has taken over:
// it sends what it likes.
const asMadHost = "MPI_QUEUES_TEST_MAD_HOST"

// replies of a mad host to the requests behind Load.
var replies = map[string]wire.FromHost{
	"nothing":             {},
	"no answer":           {Reply: &wire.Reply{}},
	"another's answer":    {Reply: &wire.Reply{Loaded: &wire.Loaded{}}},
	"asks for nothing":    {Ask: &wire.Ask{}},
	"asks for too much":   {Ask: &wire.Ask{Ranges: []inferior.Range{{Addr: 1, Len: 1 << 40}}}},
	"asks for less":       {Ask: &wire.Ask{Ranges: []inferior.Range{{Addr: 1, Len: -1}}}},
	"asks without end":    {Ask: &wire.Ask{Symbols: []string{"main"}}},
	longNote:              {Reply: &wire.Reply{Opened: &wire.Opened{}}},
	"half a communicator": {Reply: &wire.Reply{Opened: &wire.Opened{}, Communicator: &wire.Communicator{Raw: []byte{1}}}},
	"more of nothing": {Reply: &wire.Reply{Opened: &wire.Opened{}, Operations: &wire.OperationList{More: true},
		Communicator: &wire.Communicator{Raw: make([]byte, 88)}}},
	"errors": {Reply: &wire.Reply{Opened: &wire.Opened{}, Communicator: &wire.Communicator{Raw: make([]byte, 88), Group: []byte{1, 2, 3, 4, 5}}}},
}

const (
	// silent is the kind of a host that never answers.
	silent = "silent"
	// longNote is the kind of a host that sends 100 MiB of text. beMad makes the text: in the map above, each process of the tests
	// would allocate it.
	longNote = "a long note"
)

func beMad(kind string) {
	stream, err := net.FileConn(os.NewFile(dll.StreamFD, "stream"))
	if err != nil {
		os.Exit(1)
	}
	conn := wire.NewConn[wire.FromHost, wire.ToHost](stream)
	for {
		m, err := conn.Receive()
		if err != nil {
			os.Exit(0)
		}
		if kind == silent {
			_ = os.WriteFile(os.Getenv(asMadHost+"_ASKED"), nil, 0o600)
			select {}
		}
		answer := replies[kind]
		switch {
		case m.Load == nil && kind == longNote:
			answer.Reply.Notes = []string{strings.Repeat("x", 100<<20)}
		case m.Load != nil:
			answer = wire.FromHost{Reply: &wire.Reply{Loaded: &wire.Loaded{Compatibility: 2, Missing: []abi.Entry{5000, -1}}}}
		}
		if conn.Send(answer) != nil {
			os.Exit(0)
		}
	}
}

// Whatever a host sends, the helper ends it and has a sentence.
func TestMadHosts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "libmad.so")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for kind := range replies {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			var started []*exec.Cmd
			hosts := &dll.Hosts{Log: zerolog.Nop(), Command: func() *exec.Cmd {
				cmd := exec.Command("/proc/self/exe")
				cmd.Env = append(os.Environ(), asMadHost+"="+kind)
				started = append(started, cmd)
				return cmd
			}}
			defer hosts.Close()
			settings := dll.Settings{Path: path, SafePath: []string{"/"}, Timeout: time.Second}
			process := dll.Process{Inferior: anyProcess}
			sources := read.Sources{OpenDLL: func(r *inferior.Reader, _ read.Source) (read.Source, error) {
				return hosts.Open(r.Context(), process, settings)
			}}
			_, err := sources.Read(inferior.NewReader(t.Context(), process), read.DLL, read.Filter{})
			var unreadable *read.UnreadableError
			if err == nil || !strings.Contains(err.Error(), "libmad.so") || strings.Contains(err.Error(), "please report") {
				t.Errorf("the error is %v (%v)", err, errors.As(err, &unreadable))
			}
			for _, cmd := range started {
				if cmd.ProcessState == nil {
					t.Error("the host goes on")
				}
			}
		})
	}
}

// The hosts can be ended while a request of theirs is under way, and none is started
// behind that.
func TestCloseMeanwhile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "libmad.so")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var cmd *exec.Cmd
	asked := filepath.Join(t.TempDir(), "asked")
	hosts := &dll.Hosts{Log: zerolog.Nop(), Command: func() *exec.Cmd {
		cmd = exec.Command("/proc/self/exe")
		cmd.Env = append(os.Environ(), asMadHost+"="+silent, asMadHost+"_ASKED="+asked)
		return cmd
	}}
	settings := dll.Settings{Path: path, SafePath: []string{"/"}} // no timeout
	failed := make(chan error)
	go func() {
		_, err := hosts.Open(t.Context(), dll.Process{Inferior: anyProcess}, settings)
		failed <- err
	}()
	for _, err := os.Stat(asked); err != nil; _, err = os.Stat(asked) {
		runtime.Gosched() // until the request is under way
	}
	hosts.Close()
	if err := <-failed; err == nil {
		t.Error("a host that has been ended has opened a process")
	}
	if cmd.ProcessState == nil {
		t.Error("the host goes on")
	}
	if _, err := hosts.Open(t.Context(), dll.Process{Inferior: anyProcess}, settings); err == nil {
		t.Error("there is a host behind the end")
	}
}

// anyProcess has neither symbols nor memory.
var anyProcess = &inferiortest.Process{Identity: inferior.Info{Inferior: 1, PID: 1, Kind: "core"}}
