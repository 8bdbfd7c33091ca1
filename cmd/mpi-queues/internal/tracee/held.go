package tracee

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
)

// HeldError reports a process that can't be stopped. No debugger can attach to it: gdb would wait in the kernel until it stops
// (ptrace(2), PTRACE_ATTACH).
type HeldError struct {
	PID int
	mqs.Hold
	// Threads are what is known of its threads from outside, those that hold it first.
	Threads []mqs.KernelThread
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("process %d can't be stopped: it is %s", e.PID, mqs.HoldWords(e.Hold, e.Threads))
}

// Record fills in what is known of the process from outside.
func (e *HeldError) Record(p *mqs.Process) {
	p.Hold, p.KernelThreads = e.Hold, e.Threads
}

// Most of what is kept of a process from outside.
const (
	maxThreads   = 16
	maxPath      = 4096
	maxKernel    = 32
	pathPatience = 200 * time.Millisecond
)

// observer samples processes below a /proc until it is known whether they can be stopped.
type observer struct {
	procfs.FS
	// patience is how long a thread has to stay in one uninterruptible sleep: reading from a disk takes a fraction of that.
	patience, pause time.Duration
	wait            func(ctx context.Context, d time.Duration)

	mu    sync.Mutex
	known map[int]sample // of processes that were held, by id
}

// sample is what would hold a process at one moment: nothing, if it can be stopped.
type sample struct {
	frozen string
	asleep map[int]slumber // by thread
}

// slumber identifies one uninterruptible sleep of a thread. Equal values mean the same sleep: a thread that leaves its call is given a
// processor, which changes switches.
type slumber struct{ started, switches uint64 }

func (s sample) holds() bool { return s.frozen != "" || len(s.asleep) > 0 }

// since returns what has held the process without a break since an earlier sample.
func (s sample) since(then sample) sample {
	out := sample{asleep: map[int]slumber{}}
	if then.frozen == s.frozen {
		out.frozen = s.frozen
	}
	for id, now := range s.asleep {
		if then.asleep[id] == now {
			out.asleep[id] = now
		}
	}
	return out
}

var host = &observer{FS: procfs.Host, patience: time.Second, pause: 50 * time.Millisecond, wait: func(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}}

// Held returns which processes no debugger can stop: because a thread stays in uninterruptible sleep, as where a file
// system does not answer, or because its control group is frozen. It takes one second if there is such a process
// that an earlier call has not found, and next to no time otherwise. Nothing is done to the processes.
func Held(ctx context.Context, pids ...int) map[int]*HeldError { return host.held(ctx, pids) }

// CanStop returns nil for a process that a debugger can stop, else a [*HeldError].
func CanStop(ctx context.Context, pid int) error {
	if held := Held(ctx, pid)[pid]; held != nil {
		return held
	}
	return nil
}

func (o *observer) held(ctx context.Context, pids []int) map[int]*HeldError {
	first, last := map[int]sample{}, map[int]sample{}
	open := false
	for _, pid := range pids {
		now := o.sample(pid)
		if !now.holds() {
			o.keep(pid, sample{})
			continue
		}
		o.mu.Lock()
		before := o.known[pid]
		o.mu.Unlock()
		first[pid], last[pid] = now, now.since(before)
		open = open || !last[pid].holds()
	}
	for waited := time.Duration(0); open && waited < o.patience && ctx.Err() == nil; waited += o.pause {
		o.wait(ctx, o.pause)
		open = false
		for pid, then := range first {
			if last[pid].holds() {
				continue // it was known before
			}
			if first[pid] = o.sample(pid).since(then); !first[pid].holds() {
				delete(first, pid)
				delete(last, pid)
			}
			open = open || first[pid].holds()
		}
	}
	out := map[int]*HeldError{}
	for pid, now := range first {
		if ctx.Err() == nil {
			o.keep(pid, now)
			out[pid] = o.describe(pid, now)
		}
	}
	return out
}

// keep remembers what holds a process, and forgets the process if nothing does.
func (o *observer) keep(pid int, s sample) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !s.holds() {
		delete(o.known, pid)
		return
	}
	if o.known == nil {
		o.known = map[int]sample{}
	}
	o.known[pid] = s
}

// sample looks at the threads of a process once. A debugger attaches to each of them, and waits for the last.
func (o *observer) sample(pid int) sample {
	s := sample{asleep: map[int]slumber{}}
	runs := false
	for _, id := range o.Threads(pid) {
		stat, err := o.Stat(id)
		if err != nil || stat.State != 'D' {
			runs = runs || err == nil && (stat.State == 'R' || stat.State == 't') // and is not frozen then
			continue
		}
		status, _ := o.Status(id)
		s.asleep[id] = slumber{stat.Started, status.Switches}
	}
	if !runs {
		s.frozen = o.FrozenBy(pid)
	}
	return s
}

// describe returns what is known of a process that is held.
func (o *observer) describe(pid int, s sample) *HeldError {
	e := &HeldError{PID: pid, Hold: mqs.Unwakeable}
	if s.frozen != "" {
		e.Hold = mqs.Frozen
	}
	e.Threads = o.threads(pid, func(id int) bool { _, is := s.asleep[id]; return is })
	return e
}

// Outside returns what the kernel shows of a process that can't be stopped for another reason.
func Outside(pid int, why mqs.Hold) *HeldError {
	isFirst := func(id int) bool {
		stat, err := host.Stat(id)
		return err == nil && stat.State != 't' && stat.State != 'T'
	}
	return &HeldError{PID: pid, Hold: why, Threads: host.threads(pid, isFirst)}
}

// AwaitsStop says whether a debugger traces a thread of a process that has neither stopped nor ended.
func AwaitsStop(pid, debugger int) bool {
	return slices.ContainsFunc(host.Threads(pid), func(id int) bool {
		stat, err := host.Stat(id)
		status, _ := host.Status(id)
		return err == nil && status.Tracer == debugger && !stat.HasEnded() && stat.State != 't' && stat.State != 'T'
	})
}

// threads returns what the kernel shows of a process's threads: first those that hold it, then the others, the main thread before others.
func (o *observer) threads(pid int, isFirst func(id int) bool) []mqs.KernelThread {
	ids := o.Threads(pid)
	order := func(id int) int {
		switch {
		case isFirst(id) && id == pid:
			return 0
		case isFirst(id):
			return 1
		case id == pid:
			return 2
		}
		return 3
	}
	slices.SortFunc(ids, func(a, b int) int { return cmp.Or(cmp.Compare(order(a), order(b)), cmp.Compare(a, b)) })
	var out []mqs.KernelThread
	for _, id := range ids[:min(len(ids), maxThreads)] {
		out = append(out, o.thread(pid, id))
	}
	return out
}

func (o *observer) thread(pid, id int) mqs.KernelThread {
	t := mqs.KernelThread{ID: id, WaitChannel: printable.Line(o.WaitChannel(id))}
	if stat, err := o.Stat(id); err == nil {
		t.State = mqs.RunStateOf(stat.State)
	}
	for _, frame := range o.KernelStack(id) {
		if len(t.KernelStack) < maxKernel {
			t.KernelStack = append(t.KernelStack, printable.Line(frame))
		}
	}
	call, err := o.SystemCall(id)
	if err != nil || call.Number < 0 {
		return t
	}
	for _, a := range call.Arguments {
		t.Arguments = append(t.Arguments, inferior.Addr(a))
	}
	t.SystemCall = fmt.Sprintf("system call %d", call.Number)
	// A program of 32 bits has other numbers, and nothing beyond its 4 GiB.
	if is64 := call.StackPointer>>32 != 0; !is64 || runtime.GOARCH != "amd64" {
		return t
	}
	t.SystemCall = callstack.SystemCallName(call.Number)
	if number, ok := callstack.DescriptorArgument(call.Number, call.Arguments); ok {
		t.File = printable.Line(o.Descriptor(pid, number))
	} else if at := callstack.PathArgument(call.Number, call.Arguments); at != 0 {
		t.File = printable.Line(o.pathAt(pid, at))
	}
	return t
}

// pathAt reads a path from a process's memory, empty if that can't be read. A process that holds the lock on its own
// mappings blocks everybody who reads its memory: after pathPatience that reader is abandoned.
func (o *observer) pathAt(pid int, at uint64) string {
	read := make(chan string, 1)
	go func() {
		memory, err := os.Open(o.Path(pid, "mem"))
		if err != nil {
			read <- ""
			return
		}
		defer func() { _ = memory.Close() }()
		text := make([]byte, maxPath)
		n, _ := memory.ReadAt(text, int64(at)) // what is behind the path need not be there
		path, _, isWhole := bytes.Cut(text[:n], []byte{0})
		if !isWhole {
			path = nil
		}
		read <- string(path)
	}()
	select {
	case path := <-read:
		return path
	case <-time.After(pathPatience):
		return ""
	}
}
