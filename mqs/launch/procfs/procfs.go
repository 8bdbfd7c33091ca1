// Package procfs reads what the kernel says of processes below /proc (proc(5)).
//
// Whoever owns a process chooses its name, its environment and the paths in its memory, so
// every file is read up to a bound, and what can't be parsed is an error or unknown, never
// a guess. A thread's id serves wherever a process id does.
package procfs

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// FS is a folder that is laid out as /proc is.
type FS string

// Host is that of this machine, or container.
const Host FS = "/proc"

// Path returns the path of one of a process's files.
func (f FS) Path(pid int, names ...string) string {
	return filepath.Join(append([]string{string(f), strconv.Itoa(pid)}, names...)...)
}

// Processes returns the ids of all processes, in no order.
func (f FS) Processes() ([]int, error) {
	folder, err := os.Open(string(f))
	if err != nil {
		return nil, err
	}
	defer func() { _ = folder.Close() }()
	names, err := folder.Readdirnames(-1)
	return numbers(names), err
}

// Threads returns the ids of a process's threads, in no order; none if it is gone.
func (f FS) Threads(pid int) []int {
	entries, _ := os.ReadDir(f.Path(pid, "task"))
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return numbers(names)
}

// Children returns the ids of the processes that a process's threads have started.
func (f FS) Children(pid int) []int {
	var out []int
	for _, thread := range f.Threads(pid) {
		text, _ := read(f.Path(pid, "task", strconv.Itoa(thread), "children"), maxList)
		out = append(out, numbers(strings.Fields(string(text)))...)
	}
	return out
}

// Deleted is what the kernel adds to the path of a file that is not there any more.
const Deleted = " (deleted)"

// Program returns the path of a process's program, as the kernel has it: in the process's own
// view of the files, and with [Deleted] behind it if it is not there any more.
func (f FS) Program(pid int) (string, error) { return os.Readlink(f.Path(pid, "exe")) }

// Namespace returns the kernel's name of a process's namespace of a kind ("pid", "mnt"), empty
// if it can't be seen.
func (f FS) Namespace(pid int, kind string) string {
	name, _ := os.Readlink(f.Path(pid, "ns", kind))
	return name
}

// Name returns what the kernel calls a process: the first 15 bytes of its program's base name,
// or whatever it has chosen instead (prctl PR_SET_NAME).
func (f FS) Name(pid int) (string, error) {
	text, err := read(f.Path(pid, "comm"), maxLine)
	return strings.TrimSuffix(string(text), "\n"), err
}

// CommandLine returns a process's arguments, the first of which names its program.
func (f FS) CommandLine(pid int) ([]string, error) {
	text, err := read(f.Path(pid, "cmdline"), maxList)
	if err != nil || len(text) == 0 {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00"), nil
}

// Bounds on what is read of a file, in bytes.
const (
	maxLine = 4 << 10 // one line: its name is the only part that grows
	maxList = 1 << 20 // arguments, children
)

// read returns the first bytes of a file.
func read(path string, most int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return io.ReadAll(io.LimitReader(file, most))
}

// numbers are those of the names that are process ids.
func numbers(names []string) []int {
	out := make([]int, 0, len(names))
	for _, name := range names {
		if id, err := strconv.Atoi(name); err == nil && id > 0 {
			out = append(out, id)
		}
	}
	return slices.Clip(out)
}
