package confine

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// tryAll does in this process what a library could do, good and bad.
func tryAll(dir string) report {
	r := report{Refused: map[string]string{}, Needed: map[string]string{}, Status: Status()}
	for _, all := range []map[string]func() error{attempts(dir), beyond(dir)} {
		for what, try := range all {
			r.Refused[what] = words(try())
		}
	}
	if r.Status.Complete() {
		r.Unlisted = unlisted()
	}
	if r.Status.NoNewPrivileges {
		r.Needed["no capability but reading"] = words(capabilities())
	}
	if r.Status.NoWriting {
		r.Needed["all threads"] = words(allThreads(filepath.Join(dir, "write")))
	}
	for what, try := range map[string]func() error{
		"read": func() error {
			_, err := os.ReadFile(filepath.Join(dir, "write"))
			return err
		},
		"list":    func() error { _, err := os.ReadDir(dir); return err },
		"map":     mapCode,
		"runtime": busy,
		"pipe":    throughPipe,
		"memory":  toMemory,
		"socket":  func() error { _, err := unix.Write(4, []byte("there")); return err },
		"signal to itself": func() error {
			return errors.Join(unix.Kill(unix.Getpid(), 0), unix.Tgkill(unix.Getpid(), unix.Gettid(), unix.SIGURG))
		},
		"own limits": func() error {
			var l unix.Rlimit
			return errors.Join(unix.Getrlimit(unix.RLIMIT_STACK, &l), unix.Prlimit(unix.Getpid(), unix.RLIMIT_STACK, nil, &l))
		},
		"name of a thread": func() error {
			return unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&[]byte("t\x00")[0])), 0, 0, 0)
		},
		"newer call": func() error { // is said to be missing, as by a kernel that lacks it
			if _, _, errno := unix.Syscall(unix.SYS_CLONE3, 0, 0, 0); errno != unix.ENOSYS && r.Status.Complete() {
				return fmt.Errorf("clone3: %w", errno)
			}
			return nil
		},
	} {
		r.Needed[what] = words(try())
	}
	return r
}

// words are an error's own, without what Go says was tried.
func words(err error) string {
	var errno unix.Errno
	switch {
	case err == nil:
		return ""
	case errors.As(err, &errno):
		return errno.Error()
	}
	return err.Error()
}

// attempts are what a confined process is to be refused.
func attempts(dir string) map[string]func() error {
	file := func(name string) string { return filepath.Join(dir, name) }
	listen := func(network, address string) func() error {
		return func() error {
			l, err := net.Listen(network, address)
			if err != nil {
				return err
			}
			return l.Close()
		}
	}
	return map[string]func() error{
		"write": func() error { return os.WriteFile(file("write"), []byte("x"), 0o600) },
		"create": func() error {
			f, err := os.CreateTemp("", "confine")
			if err != nil {
				return err
			}
			_ = f.Close()
			return os.Remove(f.Name())
		},
		"truncate":  func() error { return unix.Truncate(file("truncate"), 0) },
		"unlink":    func() error { return unix.Unlink(file("unlink")) },
		"rename":    func() error { return unix.Rename(file("rename"), file("renamed")) },
		"mkdir":     func() error { return unix.Mkdir(file("folder"), 0o700) },
		"symlink":   func() error { return unix.Symlink("write", file("link")) },
		"hard link": func() error { return unix.Link(file("write"), file("second")) },
		"fifo":      func() error { return unix.Mkfifo(file("fifo"), 0o600) },
		"chmod":     func() error { return unix.Chmod(file("chmod"), 0o666) },
		"times":     func() error { return os.Chtimes(file("times"), time.Time{}, time.Unix(1, 0)) },

		"tcp listen":  listen("tcp", "127.0.0.1:0"),
		"unix listen": listen("unix", file("socket")),
		"udp": func() error {
			c, err := net.Dial("udp", "127.0.0.1:9")
			if err != nil {
				return err
			}
			return c.Close()
		},
		"tcp connect": func() error {
			c, err := net.Dial("tcp", "127.0.0.1:9")
			if err == nil {
				return c.Close()
			}
			if errors.Is(err, unix.ECONNREFUSED) {
				return nil // nobody listens, but the network could be used
			}
			return err
		},

		"kill parent": func() error { return unix.Kill(unix.Getppid(), 0) },
		"tgkill parent": func() error {
			return unix.Tgkill(unix.Getppid(), unix.Getppid(), 0)
		},
		"limits of parent": func() error {
			var l unix.Rlimit
			return unix.Prlimit(unix.Getppid(), unix.RLIMIT_CORE, nil, &l)
		},
		// SEIZE does not stop it.
		"ptrace parent": func() error {
			return call(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(unix.Getppid()))
		},
		"owner of signals": func() error {
			_, err := unix.FcntlInt(0, unix.F_SETOWN, unix.Getppid())
			return err
		},
		"unshare":        func() error { return call(unix.SYS_UNSHARE, unix.CLONE_NEWUTS) },
		"child":          func() error { return child(nil) },
		"clone new user": func() error { return child(&unix.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER}) },
		"userfaultfd":    func() error { return call(unix.SYS_USERFAULTFD, 1) },
		"bpf":            func() error { return call(unix.SYS_BPF, 0) },
		"shared memory": func() error {
			id, err := unix.SysvShmGet(unix.IPC_PRIVATE, 4096, 0o600)
			if err != nil {
				return err
			}
			_, err = unix.SysvShmCtl(id, unix.IPC_RMID, nil)
			return err
		},
		"perf_event_open": func() error { return call(unix.SYS_PERF_EVENT_OPEN) },
		"x32":             func() error { return call(x32Bit + unix.SYS_GETPID) },
	}
}

// child runs a program. It gets this one's files, where the package would open
// /dev/null for writing.
func child(how *unix.SysProcAttr) error {
	cmd := exec.Command("true")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = how
	return cmd.Run()
}

// capabilities fails if this process has more of root's powers than to read.
func capabilities() error {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(status)) {
		if set, ok := strings.CutPrefix(line, "CapPrm:"); ok {
			has, err := strconv.ParseUint(strings.TrimSpace(set), 16, 64)
			if err == nil && has&^(1<<unix.CAP_DAC_READ_SEARCH) != 0 {
				err = fmt.Errorf("capabilities %#x", has)
			}
			return err
		}
	}
	return errors.New("no capabilities in its status")
}

// allThreads fails if any thread can write a file.
func allThreads(path string) error {
	var all sync.WaitGroup
	var started sync.WaitGroup
	const threads = 32
	failed := make([]error, threads)
	started.Add(threads)
	for i := range threads {
		all.Add(1)
		go func() {
			defer all.Done()
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			started.Done()
			started.Wait() // so that each has a thread of its own
			fd, err := unix.Open(path, unix.O_RDWR, 0)
			if err == nil {
				_ = unix.Close(fd)
				failed[i] = errors.New("a thread can write")
			}
		}()
	}
	all.Wait()
	return errors.Join(failed...)
}

// mapCode maps this program as the loader maps a library.
func mapCode() error {
	f, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	code, err := unix.Mmap(int(f.Fd()), 0, 4096, unix.PROT_READ|unix.PROT_EXEC, unix.MAP_PRIVATE)
	if err != nil {
		return err
	}
	return unix.Munmap(code)
}

// busy gives the runtime's threads, timers, preemption and collector work.
func busy() error {
	var all sync.WaitGroup
	var sum [16]int
	for i := range sum {
		all.Add(1)
		go func() {
			defer all.Done()
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			for range 50 {
				sum[i] += len(make([]byte, 100_000))
			}
			time.Sleep(time.Millisecond)
			runtime.GC()
			for start := time.Now(); time.Since(start) < 20*time.Millisecond; { // is preempted by signals
				sum[i]++
			}
		}()
	}
	all.Wait()
	return nil
}

// throughPipe sends words through a pipe of the process.
func throughPipe() error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	if _, err := w.WriteString("word"); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	text, err := io.ReadAll(r)
	if err == nil && string(text) != "word" {
		err = fmt.Errorf("%q", text)
	}
	return err
}

// toMemory maps the memory that the process was given, and writes to it.
func toMemory() error {
	m, err := unix.Mmap(3, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	copy(unsafe.Slice(&m[0], len(m)), "hello")
	return unix.Munmap(m)
}
