package tracee

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
)

// proc is a made-up /proc.
type proc struct {
	t *testing.T
	procfs.FS
}

func (p proc) write(path, text string) {
	p.t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		p.t.Fatal(err)
	}
}

// thread sets a thread of a process: its state, how often it was given a processor, and its system call.
func (p proc) thread(pid, id int, state byte, switches int, call string) {
	p.t.Helper()
	p.write(p.Path(id, "stat"), fmt.Sprintf("%d (a) %c 5 7 7 0 -1 4194560 1 2 3 4 100 23 0 0 20 0 1 0 4711 8 9\n", id, state))
	p.write(p.Path(id, "status"), fmt.Sprintf("Name:\ta\nvoluntary_ctxt_switches:\t%d\n", switches))
	p.write(p.Path(id, "syscall"), call)
	p.write(p.Path(pid, "task", strconv.Itoa(id), "stat"), "")
}

// observed returns an observer of a made-up /proc. step is called as time goes by, with its number.
func observed(t *testing.T, step func(p proc, n int)) (proc, *observer, *int) {
	p := proc{t, procfs.FS(t.TempDir())}
	n := new(int)
	return p, &observer{FS: p.FS, patience: 2 * time.Second, pause: 50 * time.Millisecond, wait: func(context.Context, time.Duration) {
		*n++
		step(p, *n)
	}}, n
}

const (
	pread   = "17 0x5 0x7f00 0x1000 0x0 0x0 0x0 0x7ffc00001000 0x7f0000001000\n"
	waiting = "202 0x5 0x7f00 0x1000 0x0 0x0 0x0 0x7ffc00001000 0x7f0000001000\n"
)

// TestHeld checks which processes are left alone: those of which one thread stays in one uninterruptible sleep. A
// process that reads from a disk is often in such a sleep, and must not lose its report.
func TestHeld(t *testing.T) {
	for name, c := range map[string]struct {
		step func(p proc, n int)
		held bool
	}{
		"stays asleep":       {func(proc, int) {}, true},
		"wakes after a read": {func(p proc, n int) { p.thread(7, 8, "DDDDDR"[min(n, 5)], 3, pread) }, false},
		"reads again and again, with the same arguments": {func(p proc, n int) { p.thread(7, 8, 'D', 3+n/10, pread) }, false},
		"ends": {func(p proc, _ int) { _ = os.RemoveAll(p.Path(7, "task")) }, false},
	} {
		p, o, _ := observed(t, c.step)
		p.thread(7, 7, 'S', 9, waiting)
		p.thread(7, 8, 'D', 3, pread)
		p.thread(10, 10, 'S', 9, waiting)
		if err := os.MkdirAll(p.Path(7, "fd"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("/dead/mesh.h5", p.Path(7, "fd", "5")); err != nil {
			t.Fatal(err)
		}
		held := o.held(t.Context(), []int{7, 10})
		if (held[7] != nil) != c.held || held[10] != nil {
			t.Errorf("%s: %v", name, held)
		}
		if !c.held {
			continue
		}
		want := "process 7 can't be stopped: it is in uninterruptible sleep in pread64 on /dead/mesh.h5"
		if held[7].Error() != want || held[7].Hold != mqs.Unwakeable || len(held[7].Threads) != 2 || held[7].Threads[1].ID != 7 {
			t.Errorf("%s: %q, %+v", name, held[7], held[7])
		}
		if got := held[7].Threads[0]; got.ID != 8 || len(got.Arguments) != 6 || got.Arguments[0] != 5 || got.State != mqs.Uninterruptible {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestHeldAgain checks that a process that was held takes no more time while it sleeps on, and is sampled anew once it has run.
func TestHeldAgain(t *testing.T) {
	p, o, steps := observed(t, func(proc, int) {})
	p.thread(7, 7, 'D', 3, pread)
	first := o.held(t.Context(), []int{7})
	if again := *steps; first[7] == nil || again == 0 || o.held(t.Context(), []int{7})[7] == nil || *steps != again {
		t.Errorf("%v, after %d steps, %d more", first, again, *steps-again)
	}
	p.thread(7, 7, 'D', 4, pread)
	if before := *steps; o.held(t.Context(), []int{7})[7] == nil || *steps == before {
		t.Error("a process that has run since is not sampled again")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p.thread(7, 7, 'D', 5, pread)
	if held := o.held(ctx, []int{7}); len(held) > 0 {
		t.Errorf("it is said to be held when nobody has waited: %v", held)
	}
}

// TestFrozen checks that a frozen process is left alone though its threads seem to sleep, as the freezer of version 2 shows
// them, and that a thread that runs, or that a debugger has stopped, disproves it.
func TestFrozen(t *testing.T) {
	for states, want := range map[string]bool{"SS": true, "SR": false, "tt": false, "DD": true} {
		p, o, _ := observed(t, func(proc, int) {})
		p.thread(7, 7, states[0], 1, waiting)
		p.thread(7, 8, states[1], 1, waiting)
		p.write(p.Path(7, "cgroup"), "0::/job\n")
		p.write(filepath.Join(string(p.FS), "self", "mountinfo"), "30 1 0:26 / "+string(p.FS)+"/cg rw - cgroup2 cgroup2 rw\n")
		p.write(filepath.Join(string(p.FS), "cg", "job", "cgroup.events"), "frozen 1\n")
		held := o.held(t.Context(), []int{7})[7]
		if (held != nil) != want || want && (held.Hold != mqs.Frozen || !strings.HasSuffix(held.Error(), "it is frozen by its control group")) {
			t.Errorf("%s: %v", states, held)
		}
	}
}

// TestPath checks that a path is read from the memory of the process, and that one without an end is none.
func TestPath(t *testing.T) {
	p, o, _ := observed(t, func(proc, int) {})
	p.thread(7, 7, 'D', 1, "257 0xffffff9c 0x2 0x0 0x0 0x0 0x0 0x7ffc00001000 0x7f0000001000\n")
	for memory, want := range map[string]string{"xx/dead/mesh.h5\x00rest": "/dead/mesh.h5", "xx/dead": "", "xx": "", "xx\x00": ""} {
		p.write(p.Path(7, "mem"), memory)
		if got := o.thread(7, 7); got.File != want || got.SystemCall != "openat" {
			t.Errorf("%q: %+v", memory, got)
		}
	}
	// A program of 32 bits counts its system calls otherwise.
	p.thread(7, 7, 'D', 1, "257 0xffffff9c 0x2 0x0 0x0 0x0 0x0 0xffd01000 0x8001000\n")
	if got := o.thread(7, 7); got.SystemCall != "system call 257" || got.File != "" {
		t.Errorf("%+v", got)
	}
	if all := o.threads(7, func(int) bool { return false }); len(all) != 1 || !slices.Equal(all[0].KernelStack, nil) {
		t.Errorf("%+v", all)
	}
}
