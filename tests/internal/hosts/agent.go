//go:build live || matrix || full

package hosts

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// The agent is a client of the test's process, which alone can enter all hosts. Its socket is in the folder of
// the agent's link. As with ssh, what runs on a host has pipes of its own, which end when the agent does.
const (
	agentName  = "agent"
	socketName = "socket"
	maxRequest = 1 << 17
)

type request struct{ Host, Line string }

// Main is the agent's program, if this process was started as one; else it returns.
func Main() {
	if filepath.Base(os.Args[0]) != agentName {
		return
	}
	args := os.Args[1:]
	for len(args) > 0 && strings.HasPrefix(args[0], "-") { // ssh's, as Hydra's "-x", without values
		args = args[1:]
	}
	if len(args) < 2 {
		fmt.Fprintln(os.Stderr, "agent: which host, and which command?")
		os.Exit(255)
	}
	status, err := ask(filepath.Join(filepath.Dir(os.Args[0]), socketName), request{args[0], strings.Join(args[1:], " ")})
	if err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		status = 255 // ssh's
	}
	os.Exit(status)
}

func ask(socket string, what request) (status int, err error) {
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		return 0, err
	}
	var own, theirs [3]*os.File
	for i := range own {
		r, w, err := os.Pipe()
		if err != nil {
			return 0, err
		}
		if own[i], theirs[i] = r, w; i == 0 {
			own[i], theirs[i] = w, r
		}
	}
	text, err := json.Marshal(what)
	if err != nil {
		return 0, err
	}
	rights := unix.UnixRights(int(theirs[0].Fd()), int(theirs[1].Fd()), int(theirs[2].Fd()))
	if _, _, err := c.WriteMsgUnix(append(text, '\n'), rights, nil); err != nil {
		return 0, err
	}
	for _, f := range theirs {
		_ = f.Close()
	}
	go func() {
		_, _ = io.Copy(own[0], os.Stdin)
		_ = own[0].Close()
	}()
	done := make(chan struct{})
	go func() {
		_, _ = io.Copy(os.Stderr, own[2])
		close(done)
	}()
	_, _ = io.Copy(os.Stdout, own[1])
	<-done
	var answer struct {
		Status int
		Error  string
	}
	if err := json.NewDecoder(c).Decode(&answer); err != nil {
		return 0, err
	}
	if answer.Error != "" {
		return 0, errors.New(answer.Error)
	}
	return answer.Status, nil
}

// serve does what agents ask for until the test ends.
func (h *Hosts) serve(t *testing.T) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: h.in(socketName), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.AcceptUnix()
			if err != nil {
				return
			}
			go h.answer(c)
		}
	}()
}

func (h *Hosts) answer(c *net.UnixConn) {
	defer func() { _ = c.Close() }()
	status, err := h.start(c)
	answer := map[string]any{"Status": status}
	if err != nil {
		answer["Error"] = err.Error()
	}
	_ = json.NewEncoder(c).Encode(answer)
}

func (h *Hosts) start(c *net.UnixConn) (status int, err error) {
	text, rights := make([]byte, maxRequest), make([]byte, unix.CmsgSpace(3*4))
	n, more, _, _, err := c.ReadMsgUnix(text, rights)
	if err != nil {
		return 0, err
	}
	messages, err := unix.ParseSocketControlMessage(rights[:more])
	if err != nil || len(messages) != 1 {
		return 0, errors.New("no files have come")
	}
	numbers, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(numbers) != 3 {
		return 0, errors.New("three files have not come")
	}
	var files [3]*os.File
	for i, fd := range numbers {
		unix.CloseOnExec(fd)
		files[i] = os.NewFile(uintptr(fd), "")
	}
	closeAll := func() {
		for _, f := range files {
			_ = f.Close()
		}
	}
	defer closeAll()
	var what request
	if err := json.Unmarshal(text[:n], &what); err != nil {
		return 0, err
	}
	if h.pids[what.Host] == 0 {
		return 0, fmt.Errorf("there is no host %s", what.Host)
	}
	cmd := h.Command(what.Host, what.Line)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if h.isCut(what.Host) {
		in, err := cmd.StdinPipe() // which nobody closes
		if err != nil {
			return 0, err
		}
		defer func() { _ = in.Close() }()
		if err := cmd.Start(); err != nil {
			return 0, err
		}
		_ = cmd.Wait()
		_, _ = c.Read(make([]byte, 1)) // until the agent is gone
		return 0, nil
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = files[0], files[1], files[2]
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	closeAll() // the agent waits for their ends
	err = cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return max(exit.ExitCode(), 1), nil
	}
	return 0, err
}
