package procmem

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// compile makes a program of the file in testdata.
func compile(t *testing.T, flags ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "variables")
	args := append([]string{"-o", out, filepath.Join("testdata", "variables.c")}, flags...)
	if text, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("gcc %v: %v\n%s", args, err, text)
	}
	return out
}

func TestOpen(t *testing.T) {
	cmd := exec.Command(compile(t))
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = stdin.Close(), cmd.Wait() }()
	if _, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	p, err := Open(cmd.Process.Pid, "peek_text", "peek_number", "peek_function", "puts", "peek_nothing")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	at, size, ok := p.Symbol("peek_number")
	b, err := p.Bytes(at, 4)
	if !ok || size != 4 || err != nil || Order(p).Uint32(b) != 4711 {
		t.Error(at, size, ok, b, err)
	}
	at, _, _ = p.Symbol("peek_text")
	to, err := Pointer(p, at)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := Text(p, to, 100); err != nil || text != "read while it runs" {
		t.Error(text, err)
	}
	if _, err := Text(p, to, 5); err == nil {
		t.Error("a text beyond its limit was read")
	}
	for name, want := range map[string]bool{"peek_function": true, "puts": true, "peek_nothing": false, "main": false} {
		if _, _, ok := p.Symbol(name); ok != want {
			t.Errorf("%s: %t", name, ok)
		}
	}
	if _, err := p.Bytes(0, 1); err == nil {
		t.Error("something was read at 0")
	}
	if _, err := p.Bytes(1<<63, 1); err == nil {
		t.Error("something was read at 2^63")
	}
}

func TestOpenNothing(t *testing.T) {
	if _, err := Open(1<<30, "main"); err == nil {
		t.Error("a process that is not there was opened")
	}
}

// Files that anybody can have made end in an error or in symbols, not in a panic
// and not in gigabytes.
func TestHostileFiles(t *testing.T) {
	sound, err := os.ReadFile(compile(t))
	if err != nil {
		t.Fatal(err)
	}
	try := func(b []byte) {
		budget := newBudget(maxTables)
		f, err := parse(bytes.NewReader(b), int64(len(b)), []string{"peek_text"}, budget)
		if err == nil {
			_, _ = f.bias([]mapping{{start: 0x1000, end: 0x2000}})
		}
	}
	for n := 0; n < len(sound); n += 97 {
		try(sound[:n])
	}
	for at := range 0x800 { // the headers of the file and its segments
		for _, value := range []byte{0, 1, 0x7f, 0xff} {
			b := bytes.Clone(sound)
			b[at] = value
			try(b)
		}
	}
	for at := len(sound) - 31*64; at < len(sound); at++ { // those of its sections
		b := bytes.Clone(sound)
		b[at] = 0xff
		try(b)
	}
	budget := newBudget(100)
	if _, err := parse(bytes.NewReader(sound), int64(len(sound)), nil, budget); err == nil {
		t.Error("more than may be read was read")
	}
}

func TestParseMapping(t *testing.T) {
	m, _, path, err := parseMapping(`7f00-7fff r-xp 00001000 fe:00 42        /a b\012c`)
	if err != nil || m != (mapping{0x7f00, 0x7fff, 0x1000}) || path != "/a b\nc" {
		t.Error(m, path, err)
	}
	if _, _, _, err := parseMapping("nonsense"); err == nil {
		t.Error("no error")
	}
	if _, _, _, err := parseMapping("x-y r-xp 0 fe:00 42 /a"); err == nil {
		t.Error("no error")
	}
}
