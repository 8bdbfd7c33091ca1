package gdbrun

import (
	"fmt"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestStoppedTerminal checks that nothing waits for a terminal whose output Ctrl-S has stopped: ranks stand still meanwhile.
func TestStoppedTerminal(t *testing.T) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = master.Close() }()
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
	defer func() { _ = terminal.Close() }()
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
