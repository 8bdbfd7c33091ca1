package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// What a gdbserver says comes as it was, whatever it is, in lines that engines pass on.
func TestRelay(t *testing.T) {
	t.Parallel()
	said := bytes.Repeat([]byte("+$m\x00\n\xff}\x03#3f"), 1000)
	for name, line := range map[string]string{"as they are": "%s", "with a host before": "nodeb: %s", "with a long name before": strings.Repeat("n", maxBeside/8) + ": %s", "with ends of a terminal": "%s\r", "among others": "hello\n%s\n"} {
		var lines, all bytes.Buffer
		if err := relay(bytes.NewReader(said), &lines); err != nil {
			t.Fatal(err)
		}
		for one := range strings.Lines(lines.String()) {
			if len(one) > 1000 {
				t.Errorf("%s: %d bytes", name, len(one))
			}
			fmt.Fprintf(&all, line+"\n", strings.TrimSuffix(one, "\n"))
		}
		if got, err := io.ReadAll(newRelayed(&all)); err != nil || !bytes.Equal(got, said) {
			t.Errorf("%s: %d of %d bytes, %v", name, len(got), len(said), err)
		}
	}
}

// Each piece goes when it is there.
func TestRelayAtOnce(t *testing.T) {
	t.Parallel()
	in, say := io.Pipe()
	hear, out := io.Pipe()
	go func() { _ = relay(in, out) }()
	from := newRelayed(hear)
	for _, piece := range []string{"+", "$OK#9a"} {
		go func() { _, _ = io.WriteString(say, piece) }()
		got := make([]byte, 100)
		if n, err := from.Read(got); err != nil || string(got[:n]) != piece {
			t.Fatalf("%q, %v", got[:n], err)
		}
	}
}

func TestRelayOfOthers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		from io.Reader
		want error
	}{
		"words without end":    {strings.NewReader(strings.Repeat("hello\n", maxBeside)), errNoAnswer},
		"one line without end": {strings.NewReader(strings.Repeat("x", 2*maxBeside)), errNoAnswer},
		"damage":               {strings.NewReader(relayMark + "&\n"), nil},
	} {
		_, err := io.ReadAll(newRelayed(c.from))
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := relay(strings.NewReader("x"), failing{}); err == nil {
		t.Error("nobody has heard it")
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
