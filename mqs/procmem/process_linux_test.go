package procmem

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
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
	r := inferior.NewReader(t.Context(), p)
	info := r.Info()
	if info.PID != cmd.Process.Pid || info.Executable != cmd.Path || info.PointerSize != 8 && info.PointerSize != 4 {
		t.Errorf("%+v", info)
	}
	symbols, err := r.Symbols("peek_text", "peek_number", "peek_function", "puts", "peek_nothing", "main")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := r.Uint(symbols["peek_number"].Addr, 4); n != 4711 || p.SymbolSize("peek_number") != 4 || err != nil {
		t.Error(n, err)
	}
	to, err := r.Pointers(symbols["peek_text"].Addr, 1)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := r.CString(to[0], 100); err != nil || text != "read while it runs" {
		t.Error(text, err)
	}
	if _, err := r.CString(to[0], 5); err == nil {
		t.Error("a text beyond its limit was read")
	}
	for name, want := range map[string]bool{"peek_function": true, "puts": true, "peek_nothing": false, "main": false} {
		if _, ok := symbols[name]; ok != want {
			t.Errorf("%s: %t", name, ok)
		}
	}
	for _, at := range []inferior.Addr{0, 1, 1 << 62, 1 << 63} {
		if _, err := r.Bytes(at, 1); err == nil {
			t.Errorf("something was read at %s", at)
		}
	}
}

// What is not readable ends what is.
func TestReadToTheEnd(t *testing.T) {
	p, err := Open(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	last := procfs.Mapping{}
	for m, err := range procfs.Host.Mappings(os.Getpid()) {
		if err != nil {
			t.Fatal(err)
		}
		if m.Path == "[stack]" {
			last = m
		}
	}
	got, err := p.ReadMemory(t.Context(), []inferior.Range{{Addr: inferior.Addr(last.End - 100), Len: 1 << 20}, {Addr: 1, Len: 1}, {Addr: 1 << 63, Len: 8}})
	if err != nil || len(got) != 3 || len(got[0]) < 100 || len(got[0]) == 1<<20 || len(got[1])+len(got[2]) != 0 {
		t.Errorf("%d answers, %v", len(got), err)
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
			_, _ = f.bias([]procfs.Mapping{{Start: 0x1000, End: 0x2000}})
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
