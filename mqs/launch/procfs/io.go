package procfs

import (
	"bytes"
	"errors"
	"strconv"
)

var errIO = errors.New("/proc/PID/io does not say what was read and written")

// Transferred is how many bytes a process has read and written by system calls, as /proc/PID/io has them
// (proc(5): rchar, wchar). It may be read of processes that may be traced.
func (f FS) Transferred(pid int) (uint64, error) {
	text, err := read(f.Path(pid, "io"), maxLine)
	if err != nil {
		return 0, err
	}
	var sum uint64
	found := 0
	for line := range bytes.Lines(text) {
		name, value, _ := bytes.Cut(line, []byte(": "))
		if string(name) != "rchar" && string(name) != "wchar" {
			continue
		}
		n, err := strconv.ParseUint(string(bytes.TrimSpace(value)), 10, 64)
		if err != nil {
			return 0, errIO
		}
		sum += n
		found++
	}
	if found != 2 {
		return 0, errIO
	}
	return sum, nil
}
