//go:build linux

// Package gate is where the ranks of a job that is started under a debugger meet who starts it: a
// socket in a folder of the user's own. A rank comes there before it executes its program, lets the
// debugger trace it (PR_SET_PTRACER) and waits until it is told to go on. So it can be held at the
// first instruction of the program, however the job's launcher has started it.
//
// What is said are lines. The rank says the version of this, it is answered with the process id of
// the debugger, it says that it is ready, and is told to go. The rank's own process id, and the user
// at either end, are the kernel's word (SO_PEERCRED).
package gate

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Variable names the environment variable that has the path of the socket, and Flag the flag of
// `mpi-queues rank' that has it where something puts that before the ranks' program.
const (
	Variable = "MPI_QUEUES_GATE"
	Flag     = "gate"
)

const (
	hello = "mpi-queues rank 1"
	ready = "ready"
	goOn  = "go"
)

// patience is how long the other end may take for a line that needs nothing of anybody else.
const patience = 10 * time.Second

// Listener is the place where the ranks of a job meet.
type Listener struct {
	// Path is that of the socket.
	Path string

	debugger int
	socket   *net.UnixListener
}

// Listen makes a socket in a folder that only the user can enter. debugger is the process that ranks
// are to let trace them, and what it has started.
func Listen(folder string, debugger int) (*Listener, error) {
	path := filepath.Join(folder, "gate")
	var socket *net.UnixListener
	err := shortened(path, func(short string) (err error) {
		socket, err = net.ListenUnix("unix", &net.UnixAddr{Name: short, Net: "unix"})
		return err
	})
	if err != nil {
		return nil, err
	}
	socket.SetUnlinkOnClose(false) // its short name means nothing any more
	return &Listener{path, debugger, socket}, nil
}

// shortened calls use with another path of a socket, which is short whatever the length of the first one: the kernel's
// limit is 107 bytes (unix(7)). It is a path only until use returns.
func shortened(path string, use func(short string) error) error {
	folder, err := unix.Open(filepath.Dir(path), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: filepath.Dir(path), Err: err}
	}
	defer func() { _ = unix.Close(folder) }()
	return use(fmt.Sprintf("/proc/self/fd/%d/%s", folder, filepath.Base(path)))
}

// Close has all ranks that come from now on start by themselves.
func (l *Listener) Close() {
	_ = l.socket.Close()
	_ = os.Remove(l.Path)
}

// Rank is a rank that waits before it executes its program.
type Rank struct {
	// PID is its process id.
	PID int

	conn *net.UnixConn
	from *bufio.Reader
}

// Accept returns the next rank that comes. Who does not speak as a rank does is sent away.
func (l *Listener) Accept() (*Rank, error) {
	for {
		conn, err := l.socket.AcceptUnix()
		if err != nil {
			return nil, err
		}
		r := &Rank{conn: conn, from: bufio.NewReaderSize(conn, 256)}
		if err := r.meet(l.debugger); err != nil {
			_ = conn.Close()
			continue
		}
		return r, nil
	}
}

func (r *Rank) meet(debugger int) error {
	cred, err := credentials(r.conn)
	if err != nil {
		return err
	}
	if cred.Uid != uint32(os.Geteuid()) || cred.Pid <= 0 {
		return fmt.Errorf("process %d of user %d is no rank", cred.Pid, cred.Uid)
	}
	r.PID = int(cred.Pid)
	if err := expect(r.conn, r.from, hello); err != nil {
		return err
	}
	if err := say(r.conn, strconv.Itoa(debugger)); err != nil {
		return err
	}
	return expect(r.conn, r.from, ready)
}

// Go has the rank execute its program.
func (r *Rank) Go() error { return say(r.conn, goOn) }

// Close has the rank start by itself, if it waits still.
func (r *Rank) Close() { _ = r.conn.Close() }

// Meet goes to the gate at a path, as a rank, and waits there until ctx ends. Errors are clauses
// for users: no debugger will come.
func Meet(ctx context.Context, path string) error {
	var dialer net.Dialer
	var conn net.Conn
	err := shortened(path, func(short string) (err error) {
		conn, err = dialer.DialContext(ctx, "unix", short)
		return err
	})
	if err != nil {
		return errors.New("nobody waits for it there")
	}
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	// On another host the path can be anybody's.
	cred, err := credentials(conn.(*net.UnixConn))
	if err != nil {
		return errGone
	}
	if cred.Uid != uint32(os.Geteuid()) {
		return fmt.Errorf("another user waits there (%d)", cred.Uid)
	}
	from := bufio.NewReaderSize(conn, 256)
	if err := say(conn, hello); err != nil {
		return errGone
	}
	line, err := hear(conn, from, patience)
	if err != nil {
		return errGone
	}
	debugger, err := strconv.ParseUint(line, 10, 31)
	if err != nil {
		return errors.New("another version of mpi-queues waits there")
	}
	LetTrace(int(debugger))
	if err := say(conn, ready); err != nil {
		return errGone
	}
	line, err = hear(conn, from, 0)
	switch {
	case ctx.Err() != nil:
		return errors.New("no debugger came in time")
	case err != nil || line != goOn:
		return errGone
	}
	return nil
}

var errGone = errors.New("who waited for it there has gone")

func credentials(conn *net.UnixConn) (*unix.Ucred, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	var cred *unix.Ucred
	var inner error
	err = raw.Control(func(fd uintptr) { cred, inner = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	return cred, errors.Join(err, inner)
}

func say(conn net.Conn, line string) error {
	_ = conn.SetWriteDeadline(time.Now().Add(patience))
	_, err := conn.Write([]byte(line + "\n"))
	return err
}

// hear returns the next line, without a limit of time if that is 0.
func hear(conn net.Conn, from *bufio.Reader, within time.Duration) (string, error) {
	var deadline time.Time
	if within > 0 {
		deadline = time.Now().Add(within)
	}
	_ = conn.SetReadDeadline(deadline)
	line, err := from.ReadSlice('\n')
	return strings.TrimSuffix(string(line), "\n"), err
}

func expect(conn net.Conn, from *bufio.Reader, want string) error {
	line, err := hear(conn, from, patience)
	if err == nil && line != want {
		err = fmt.Errorf("%q is not %q", line, want)
	}
	return err
}
