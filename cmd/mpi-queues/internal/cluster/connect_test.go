package cluster

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/commandline"
)

func TestConnection(t *testing.T) {
	t.Parallel()
	words := []string{"/a b/mpi-queues", "connect"}
	relay, err := fill("srun -w {hosts} -n {count} sh -c {command}", "", []string{"a"}, (&Program{Path: "/c/mpi-queues"}).LineThere(RelayName))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ engine, host, want string }{
		{"ssh {host} {command}", "a", `'/a b/mpi-queues' connect 'ssh a '\''gdbserver --multi --once -'\'''`},
		{"srun -w {hosts} -n {count} sh -c {command}", "a", `'/a b/mpi-queues' connect --relayed ` + string(commandline.Quote(string(relay)))},
		{"ssh {host} {command}", "-oProxyCommand=x", ""},
		{"ssh {host} {command}", "", ""},
		{"ssh {host} {command}", "a\nb", ""},
		{"ssh\x1b {host} {command}", "a", ""},
	} {
		if line, err := Connection(words, "/c/mpi-queues", c.engine, c.host); line != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%q of %q: %s, %v", c.host, c.engine, line, err)
		}
	}
}

// connected is a debugger's connection with a command line.
type connected struct {
	io.Writer // what the debugger says
	io.Reader // what it hears
	errs      bytes.Buffer
	end       chan error
}

func connectWith(t *testing.T, line string, patience time.Duration) (*connected, *os.File) {
	t.Helper()
	in, say, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	hear, out := io.Pipe()
	c := &connected{Writer: say, Reader: hear, end: make(chan error, 1)}
	t.Cleanup(func() { _, _, _ = say.Close(), in.Close(), out.Close() })
	go func() {
		c.end <- Connect(context.Background(), line, false, in, out, &c.errs, patience)
		_ = out.Close()
	}()
	return c, say
}

const long = time.Hour // nothing waits for it

// What both sides say is passed on as it is, and the command ends with the debugger.
func TestConnect(t *testing.T) {
	t.Parallel()
	gone := filepath.Join(t.TempDir(), "gone")
	c, say := connectWith(t, "echo hello >&2; cat; echo >"+gone, long)
	for _, packet := range []string{"+$qSupported#37", "$vMustReplyEmpty#3a", "\x03", "+$X1,2:}\x03#ff"} {
		if _, err := io.WriteString(c, packet); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(packet))
		if _, err := io.ReadFull(c, got); err != nil || string(got) != packet {
			t.Fatalf("%q, %v", got, err)
		}
	}
	_ = say.Close()
	if err := <-c.end; err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(gone); err != nil || c.errs.String() != "hello\n" {
		t.Error(err, c.errs.String())
	}
}

// A host that does not answer, or not in the protocol's way, ends its connection; one that is not asked may be silent.
func TestConnectWithout(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, line, say, want string
		patience              time.Duration
	}{
		{"silence", "sleep 1000", "$?#3f", "no answer came within 50ms", 50 * time.Millisecond},
		{"half an answer", `printf '+$OK'; sleep 1000`, "$?#3f", "no answer came within 50ms", 50 * time.Millisecond},
		{"what nobody has asked", `while printf '%%Stop:T05#00'; do sleep 0.01; done`, "$?#3f", "no answer came within 50ms", 50 * time.Millisecond},
		{"no end", "cat /dev/zero", "", "what it sends is no answer to a debugger", long},
		{"words", "yes", "", "what it sends is no answer to a debugger", long},
		{"one packet", `printf '$'; yes`, "", "what it sends is no answer to a debugger", long},
		{"no command", "/no/such/program", "", "", long},
		{"an acknowledgement", `printf '$OK#9a'; sleep 0.3`, "+", "", 50 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			one, _ := connectWith(t, c.line, c.patience)
			if c.say != "" {
				if _, err := io.WriteString(one, c.say); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := io.Copy(io.Discard, one); err != nil {
				t.Error(err)
			}
			if err := <-one.end; (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
				t.Error(err)
			}
			if c.name == "no command" && !strings.Contains(one.errs.String(), "/no/such/program") {
				t.Error(one.errs.String())
			}
		})
	}
}

// Nothing of a command is left that heeds neither the end of its input nor a signal.
func TestConnectEnds(t *testing.T) {
	t.Parallel()
	c, say := connectWith(t, `trap '' TERM; sh -c 'echo "\$$$#00"; while :; do sleep 0.1; done'`, long)
	line := make([]byte, 32)
	n, err := c.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	pid := 0
	for _, b := range line[1:n] {
		if b == '#' {
			break
		}
		pid = pid*10 + int(b-'0')
	}
	if err := syscall.Kill(pid, 0); err != nil {
		t.Fatal(pid, err)
	}
	go func() { _, _ = io.Copy(io.Discard, c) }()
	_ = say.Close()
	if err := <-c.end; err != nil {
		t.Error(err)
	}
	for !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		time.Sleep(5 * time.Millisecond)
	}
}
