package dll

import (
	"bytes"
	"regexp"
	"strings"
	"sync"

	"github.com/mpi-queues/mpi-queues/mqs/printable"
)

// tail keeps the end of what a DLL prints.
type tail struct {
	mu   sync.Mutex
	text []byte
	new  int // how much of its end nobody has taken
}

// maxTail is the number of bytes that are kept.
const maxTail = 64 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	if over := len(t.text) - maxTail; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	t.new = min(t.new+len(b), len(t.text))
	return len(b), nil
}

// take returns the lines that were printed since the last call.
func (t *tail) take() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	fresh := t.text[len(t.text)-t.new:]
	t.new = 0
	return lines(fresh)
}

// all returns the lines that are kept.
func (t *tail) all() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := t.text
	if m := runtimeWords.FindIndex(text); m != nil {
		text = text[:m[0]]
	}
	return lines(text)
}

func lines(text []byte) []string {
	if text = bytes.TrimRight(text, "\n"); len(text) == 0 {
		return nil
	}
	return strings.Split(printable.Text(string(text)), "\n")
}

// The Go runtime reports a fault in C code with the signal's name at the
// beginning of a line, and the program counter on the next.
var crash = regexp.MustCompile(`(?m)^(SIG[A-Z0-9]+): .*\nPC=0x`)

// runtimeWords begin the runtime's report of a fault, which is of no use here.
var runtimeWords = regexp.MustCompile(`(?m)^(SIG[A-Z0-9]+: |fatal error: |panic: |runtime: |unexpected fault address )`)

// signal returns the name of the signal that ended a DLL's process, if the runtime has reported one.
func (t *tail) signal() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if m := crash.FindSubmatch(t.text); m != nil {
		return string(m[1])
	}
	return ""
}

// last returns the last line that the DLL itself printed, cut so that it fits into a sentence.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := t.text
	if m := runtimeWords.FindIndex(text); m != nil {
		text = text[:m[0]]
	}
	text = bytes.TrimSpace(text)
	if i := bytes.LastIndexByte(text, '\n'); i >= 0 {
		text = text[i+1:]
	}
	const most = 200
	if len(text) > most {
		text = text[len(text)-most:]
	}
	return printable.Line(string(text))
}
