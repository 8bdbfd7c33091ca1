package cluster

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/child"
)

// RelayName is the command that relays a gdbserver. Relayed is the option of who hears it.
const (
	RelayName = "relay"
	Relayed   = "relayed"
)

// What a gdbserver says has no ends of lines, and launchers pass on whole lines: PRRTE's, and srun unless it is told not
// to. So it goes in lines of this mark and base64, which are short enough for srun.
const (
	relayMark = "mpi-queues relays "
	relayMost = 720 // bytes of a line, before base64
)

// Relay runs a gdbserver with this program's standard input, until it ends, and writes what it says in lines.
func Relay(out io.Writer) error {
	cmd := exec.Command(serverWords[0], serverWords[1:]...)
	cmd.SysProcAttr = child.OwnSession()
	cmd.Stdin, cmd.Stderr = os.Stdin, os.Stderr
	from, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	// The kernel ends it when the thread that started it is gone.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return err
	}
	if err := relay(from, out); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return err
	}
	return cmd.Wait()
}

// relay writes what it reads in lines, each at once.
func relay(from io.Reader, out io.Writer) error {
	said := make([]byte, relayMost)
	for {
		n, end := from.Read(said)
		if n > 0 {
			line := base64.StdEncoding.AppendEncode([]byte(relayMark), said[:n])
			if _, err := out.Write(append(line, '\n')); err != nil {
				return err
			}
		}
		if end != nil {
			return nil
		}
	}
}

// relayed reads what [Relay] has written. An engine may put its own words before a line, and between lines.
type relayed struct {
	from   *bufio.Reader
	said   []byte // of the last line, what has not been read
	beside int    // bytes that were the engine's since
}

func newRelayed(from io.Reader) *relayed { return &relayed{from: bufio.NewReaderSize(from, maxBeside)} }

func (r *relayed) Read(b []byte) (int, error) {
	for len(r.said) == 0 {
		line, err := r.from.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			err = errNoAnswer
		}
		if err != nil {
			return 0, err
		}
		before, text, is := bytes.Cut(line, []byte(relayMark))
		if r.beside += len(before); r.beside > maxBeside {
			return 0, errNoAnswer
		}
		if !is {
			continue
		}
		r.beside = 0
		if r.said, err = base64.StdEncoding.AppendDecode(nil, bytes.TrimSpace(text)); err != nil {
			return 0, fmt.Errorf("what was relayed is damaged: %w", err)
		}
	}
	n := copy(b, r.said)
	r.said = r.said[n:]
	return n, nil
}
