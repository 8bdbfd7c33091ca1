// Package faulty stands between a debugger and the helper, and does something to one of their messages.
package faulty

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Environment names the variable that has a test program be the helper: it has the path of a [Plan].
const Environment = "MPI_QUEUES_TEST_FAULTS"

// From is where a message comes from.
type From string

// The two ends.
const (
	Debugger From = "gdb"
	Helper   From = "helper"
)

// Fault is what is done to a message.
type Fault string

// The faults.
const (
	None     Fault = ""
	Lost     Fault = "lost"     // it never arrives
	Cut      Fault = "cut"      // its first half arrives, and the connection ends
	Halved   Fault = "halved"   // its first half arrives, and then what follows it
	Repeated Fault = "repeated" // it arrives twice
	Delayed  Fault = "delayed"  // it arrives after a while
	Garbage  Fault = "garbage"  // bytes that are no message arrive instead
	Earlier  Fault = "earlier"  // the message before it from the same end arrives instead
	Empty    Fault = "empty"    // it arrives without its parameters, or with the result null
	Other    Fault = "other"    // it arrives as a call of a method that there is not, or as an error
	Stopped  Fault = "stopped"  // the helper is stopped (SIGSTOP) when it arrives
	Killed   Fault = "killed"   // the helper is killed when it arrives

	// What does nothing to the message.
	Interrupted Fault = "interrupted" // the debugger gets Ctrl-C when it arrives
	Bereft      Fault = "bereft"      // a process of the debugger's is killed when it arrives

)

// Faults are all of them.
var Faults = []Fault{Lost, Cut, Halved, Repeated, Delayed, Garbage, Earlier, Empty, Other, Stopped, Killed}

// Stalls says whether a debugger may wait for ever after a fault, until it is interrupted.
func (f Fault) Stalls() bool {
	return slices.Contains([]Fault{Lost, Halved, Earlier, Empty, Other, Stopped}, f)
}

// Plan is what is done.
type Plan struct {
	// Helper is the path of the program that the proxy stands before.
	Helper string
	// Number is which message from that end is treated, from 0 on.
	From   From
	Number int
	Fault  Fault
	// PID is the process that is killed.
	PID int
}

// Write writes a plan to a file, and removes what a proxy has told of the one before.
func (p Plan) Write(path string) error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	if old, err := filepath.Glob(path + ".*"); err == nil {
		for _, name := range old {
			_ = os.Remove(name)
		}
	}
	return os.WriteFile(path, text, 0o600)
}

// Done says whether what a plan asks for has been done.
func Done(path string) bool {
	_, err := os.Stat(path + ".done")
	return err == nil
}

// Seen are the methods of the messages from one end so far, empty for an answer.
func Seen(path string, from From) []string {
	text, err := os.ReadFile(path + "." + string(from))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// delay is how long a message is delayed. No verdict depends on it.
const delay = 200 * time.Millisecond

// Run is the proxy: it runs the plan's helper, and passes messages on between it and its own standard
// input and output until one of them ends. It returns an exit status.
func Run(path string) int {
	if err := run(path); err != nil {
		fmt.Fprintln(os.Stderr, "the proxy:", err)
		return 1
	}
	return 0
}

func run(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	p := &proxy{path: path}
	if err := json.Unmarshal(text, &p.plan); err != nil {
		return err
	}
	p.helper = exec.Command(p.plan.Helper, "helper")
	p.helper.Stderr = os.Stderr
	p.helper.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, Environment+"=") })
	in, err := p.helper.StdinPipe()
	if err != nil {
		return err
	}
	out, err := p.helper.StdoutPipe()
	if err != nil {
		return err
	}
	if err := p.helper.Start(); err != nil {
		return err
	}
	var wait sync.WaitGroup
	wait.Add(1)
	go func() {
		defer wait.Done()
		p.pass(Debugger, os.Stdin, in)
		_ = in.Close()
	}()
	p.pass(Helper, out, os.Stdout)
	// Whoever waits for the other end hears of it.
	_ = os.Stdout.Close()
	_ = p.helper.Process.Kill()
	return nil
}

type proxy struct {
	path   string
	plan   Plan
	helper *exec.Cmd
}

// pass passes messages on until there is no other.
func (p *proxy) pass(from From, in io.Reader, out io.Writer) {
	log, err := os.OpenFile(p.path+"."+string(from), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return
	}
	defer func() { _ = log.Close() }()
	r := bufio.NewReader(in)
	var before []byte
	for number := 0; ; number++ {
		body, err := receive(r)
		if err != nil {
			return
		}
		var m struct{ Method string }
		_ = json.Unmarshal(body, &m)
		_, _ = fmt.Fprintln(log, m.Method)
		if from != p.plan.From || number != p.plan.Number || p.plan.Fault == None {
			if _, err := out.Write(frame(body)); err != nil {
				return
			}
		} else if !p.treat(body, before, out) {
			return
		}
		before = body
	}
}

// treat does to a message what the plan says; false if it is the last one.
func (p *proxy) treat(body, before []byte, out io.Writer) bool {
	whole := frame(body)
	var bytes []byte
	goesOn := true
	_ = os.WriteFile(p.path+".done", nil, 0o600)
	switch p.plan.Fault {
	case Lost:
	case Cut:
		bytes, goesOn = whole[:len(whole)/2], false
	case Halved:
		bytes = whole[:len(whole)/2]
	case Repeated:
		bytes = append(slices.Clone(whole), whole...)
	case Delayed:
		time.Sleep(delay)
		bytes = whole
	case Garbage:
		bytes = append([]byte("\x00\x01\x02\n"), whole...)
	case Earlier:
		bytes = frame(before)
	case Empty, Other:
		bytes = frame(replaced(body, p.plan.Fault))
	case Stopped, Killed:
		_ = p.helper.Process.Signal(map[Fault]os.Signal{Stopped: syscall.SIGSTOP, Killed: syscall.SIGKILL}[p.plan.Fault])
		bytes = whole
	case Interrupted:
		_ = syscall.Kill(os.Getppid(), syscall.SIGINT)
		bytes = whole
	case Bereft:
		_ = syscall.Kill(p.plan.PID, syscall.SIGKILL)
		p.awaitEnd()
		bytes = whole
	}
	_, err := out.Write(bytes)
	return err == nil && goesOn
}

// awaitEnd waits until the process that is killed has no memory any more.
func (p *proxy) awaitEnd() {
	for {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", p.plan.PID))
		if err != nil || len(text) == 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// replaced is another message for the same recipient.
func replaced(body []byte, by Fault) []byte {
	m := map[string]any{}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if err := decoder.Decode(&m); err != nil {
		return nil
	}
	_, isCall := m["method"]
	switch {
	case isCall && by == Empty:
		delete(m, "params")
	case isCall:
		m["method"] = "no/method"
	case by == Empty:
		m["result"] = nil
	default:
		delete(m, "result")
		m["error"] = map[string]any{"code": -32000, "message": "it went wrong"}
	}
	out, err := json.Marshal(m)
	if err != nil {
		return nil
	}
	return out
}

// receive returns the body of the next message.
func receive(r *bufio.Reader) ([]byte, error) {
	length := 0
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return nil, err
		}
		if line == "\r\n" {
			break
		}
		_, _ = fmt.Sscanf(line, "Content-Length: %d", &length)
	}
	body := make([]byte, length)
	_, err := io.ReadFull(r, body)
	return body, err
}

func frame(body []byte) []byte {
	return append(fmt.Appendf(nil, "Content-Length: %d\r\n\r\n", len(body)), body...)
}
