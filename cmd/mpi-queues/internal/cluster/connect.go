package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/child"
	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/commandline"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
)

// server is the program that a debugger reaches processes of another machine by (gdbserver(1)). Its standard input and
// output are the connection, with which it ends.
const server = "gdbserver"

var serverWords = []string{server, "--multi", "--once", "-"}

// Connection is the command line for a shell by which gdb reaches a host: an engine has gdbserver started there. The
// words are those of a command of this program's that runs a line with [Connect]. program is this program on the host, which
// relays what gdbserver says through an engine of hosts.
func Connection(words []string, program, engine, host string) (string, error) {
	command := commandline.Quote(serverWords...).Anywhere()
	if !IsPerHost(engine) {
		words, command = append(slices.Clone(words), "--"+Relayed), (&Program{Path: program}).LineThere(RelayName)
	}
	connection, err := fill(engine, host, []string{host}, command)
	if err != nil {
		return "", err
	}
	line := string(commandline.Quote(append(slices.Clone(words), string(connection))...))
	if line != printable.Line(line) {
		return "", errors.New("its command line has control characters in it")
	}
	return line, nil
}

// ConnectPatience is how long a host may take for its answer to a debugger. A debugger without an answer asks again, and
// goes on without it: what comes late is taken for the answer to something else.
const ConnectPatience = time.Minute

// The most that a host may send, in bytes: in one packet, and beside packets, as a greeting.
const (
	maxPacket = 16 << 20
	maxBeside = 1 << 16
)

// Connect runs a command line whose standard input and output are a connection between a debugger and a gdbserver
// ("GDB Remote Serial Protocol" in gdb's manual, whose non-stop mode answers each packet at once), until the debugger
// closes it, the context ends, or the host does not answer in time or sends what is no answer. If it is relayed, the line
// has it through [Relay].
func Connect(ctx context.Context, line string, isRelayed bool, in io.Reader, out, errs io.Writer, patience time.Duration) error {
	cmd := exec.Command("/bin/sh", "-c", line)
	cmd.SysProcAttr = child.OwnSession()
	cmd.Stderr = errs
	cmd.WaitDelay = time.Second // something that it has left may hold its output
	to, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	var from io.Reader
	if from, err = cmd.StdoutPipe(); err != nil {
		return err
	}
	if isRelayed {
		from = newRelayed(from)
	}
	// The kernel ends it when the thread that started it is gone.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return err
	}
	asked, answered := make(chan struct{}), make(chan struct{})
	closed, ended := make(chan struct{}), make(chan error, 1)
	over := make(chan struct{})
	defer close(over)
	go func() {
		defer close(closed)
		_ = pass(in, to, func(piece []byte) error {
			if bytes.IndexByte(piece, '$') >= 0 {
				tell(asked, over)
			}
			return nil
		})
	}()
	go func() {
		var p packets
		ended <- pass(from, out, func(piece []byte) error {
			are, err := p.take(piece)
			if are {
				tell(answered, over)
			}
			return err
		})
	}()
	late := time.NewTimer(patience)
	late.Stop()
	for isOpen := true; isOpen; {
		select {
		case <-asked:
			late.Reset(patience)
		case <-answered:
			late.Stop()
		case <-late.C:
			err, isOpen = fmt.Errorf("no answer came within %s", patience), false
		case <-closed:
			isOpen = false
		case <-ctx.Done():
			isOpen = false
		case err = <-ended:
			isOpen = false
		}
	}
	_ = to.Close()
	finish(cmd, err != nil)
	return err
}

// tell says something to who listens, until it is over.
func tell(what chan<- struct{}, over <-chan struct{}) {
	select {
	case what <- struct{}{}:
	case <-over:
	}
}

// pass passes on what is read, of which check is told first, until either end is closed, or what is read or the check fails.
func pass(from io.Reader, to io.Writer, check func(piece []byte) error) error {
	buffer := make([]byte, 1<<16)
	for {
		n, end := from.Read(buffer)
		if err := check(buffer[:n]); err != nil {
			return err
		}
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return nil
			}
		}
		switch {
		case errors.Is(end, io.EOF) || errors.Is(end, os.ErrClosed):
			return nil
		case end != nil:
			return end
		}
	}
}

// packets are what a gdbserver sends: "$" or, for what nobody has asked, "%", then bytes of which none is a "#", then "#"
// and a checksum of two digits. Between them are acknowledgements, "+" and "-".
type packets struct {
	kind           byte // of the packet that has begun, 0 beside packets
	digits         int  // of the checksum, that are to come
	inside, beside int
}

var errNoAnswer = errors.New("what it sends is no answer to a debugger")

// take takes the next piece, and says whether the end of an answer is in it.
func (p *packets) take(piece []byte) (isAnswer bool, err error) {
	for _, b := range piece {
		switch {
		case p.digits > 0:
			p.digits--
		case p.kind != 0 && b == '#':
			isAnswer = isAnswer || p.kind == '$'
			p.kind, p.inside, p.digits = 0, 0, 2
		case p.kind != 0:
			if p.inside++; p.inside > maxPacket {
				return false, errNoAnswer
			}
		case b == '$' || b == '%':
			p.kind = b
		case b != '+' && b != '-':
			if p.beside++; p.beside > maxBeside {
				return false, errNoAnswer
			}
		}
	}
	return isAnswer, nil
}

// finish waits for the end of a command whose input is closed, and brings it about if it does not come, or at once:
// gdb waits 5 s for all of this.
func finish(cmd *exec.Cmd, atOnce bool) {
	const mercy = time.Second
	patience := 3 * time.Second
	if atOnce {
		patience = 0
	}
	group := -cmd.Process.Pid // it leads a session
	end := time.AfterFunc(patience, func() {
		_ = syscall.Kill(group, syscall.SIGTERM)
		time.Sleep(mercy)
		_ = syscall.Kill(group, syscall.SIGKILL)
	})
	_ = cmd.Wait() // it has said itself why it has failed
	end.Stop()
	_ = syscall.Kill(group, syscall.SIGKILL)
}
