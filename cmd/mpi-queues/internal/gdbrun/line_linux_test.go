package gdbrun

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// openTerminal opens a pseudo-terminal that controls no process.
func openTerminal(t *testing.T) *os.File {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	terminal, err := os.OpenFile(fmt.Sprint("/dev/pts/", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = terminal.Close() })
	return terminal
}

// asksTerminal is set in the environment of a process of the next test, which ends with 0 if its standard output is a terminal.
const asksTerminal = "MPI_QUEUES_TEST_ASKS_TERMINAL"

// TestIsTerminal checks that output goes to a user's terminal only if that controls the process: it may be a pipe of mpirun's
// otherwise, which gives ranks pseudo-terminals.
func TestIsTerminal(t *testing.T) {
	if os.Getenv(asksTerminal) != "" {
		if !IsTerminal(os.Stdout) {
			os.Exit(1)
		}
		os.Exit(0)
	}
	t.Setenv(asksTerminal, "yes")
	for _, c := range []struct {
		controls bool
		term     string
		want     bool
	}{{true, "xterm", true}, {false, "xterm", false}, {true, "dumb", false}} {
		t.Setenv("TERM", c.term)
		p := exec.Command(os.Args[0], "-test.run=^TestIsTerminal$")
		p.Stdout = openTerminal(t)
		p.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: c.controls, Ctty: 1}
		if err := p.Run(); (err == nil) != c.want {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if IsTerminal(openFile(t)) {
		t.Error("a file is a terminal")
	}
}

func openFile(t *testing.T) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "output"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// TestStoppedTerminal checks that nothing waits for a terminal whose output Ctrl-S has stopped: ranks stand still meanwhile.
func TestStoppedTerminal(t *testing.T) {
	terminal := openTerminal(t)
	line := &progressLine{out: terminal}
	line.show("attaching")
	if line.width == 0 {
		t.Error("nothing is shown while the terminal's output is not stopped")
	}
	if err := unix.IoctlSetInt(int(terminal.Fd()), unix.TCXONC, unix.TCOOFF); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		line.show("reading")
		line.erase()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Error("showing progress waits for the terminal")
	}
}
