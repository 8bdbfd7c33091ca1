package gdbrun

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/mattn/go-isatty"
	"golang.org/x/sys/unix"
)

// progressPatience is how long something takes at least of which progress is shown.
const progressPatience = 500 * time.Millisecond

// progressLine is a line of a terminal that says how far a gdb is.
type progressLine struct {
	began time.Time
	out   *os.File // nil if nobody reads it
	width int
}

func newProgressLine(out *os.File) *progressLine {
	if !IsTerminal(out) {
		out = nil
	}
	return &progressLine{began: time.Now(), out: out}
}

// show replaces what the line says.
func (l *progressLine) show(text string) {
	const most = 78
	if l.out == nil || time.Since(l.began) < progressPatience || !IsWritable(l.out) {
		return
	}
	runes := []rune(text)
	runes = runes[:min(len(runes), most)]
	fmt.Fprintf(l.out, "\r%s%s", string(runes), strings.Repeat(" ", max(0, l.width-len(runes))))
	l.width = len(runes)
}

// erase takes the line away.
func (l *progressLine) erase() {
	if l.width > 0 && IsWritable(l.out) {
		fmt.Fprintf(l.out, "\r%s\r", strings.Repeat(" ", l.width))
		l.width = 0
	}
}

// IsTerminal reports whether somebody reads f on a terminal that can do more than print lines. It has to be the terminal that
// controls this process: mpirun gives each rank a pseudo-terminal as standard output and reads that itself, to write
// it where its own output goes, a file or a log as well.
func IsTerminal(f *os.File) bool {
	if !isatty.IsTerminal(f.Fd()) || os.Getenv("TERM") == "dumb" {
		return false
	}
	_, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP) // ENOTTY for another terminal (tcgetpgrp(3))
	return err == nil
}

// IsWritable reports whether a terminal accepts output. After Ctrl-S it does not, and a write would block, while a gdb
// that reports progress keeps ranks stopped.
func IsWritable(terminal *os.File) bool {
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(terminal.Fd()), Events: unix.POLLOUT}}, 0)
	return err == nil && n > 0
}
