package procfs

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"
)

// Stat is a process's line in /proc/PID/stat.
type Stat struct {
	// Name is what the kernel calls it: any bytes that its owner likes.
	Name string
	// State is its letter: R, S, D, T (stopped), t (traced), Z (zombie), X (dead).
	State byte
	// Parent is its parent's process id, 0 if that is outside of this container.
	Parent int
	// User and System are the processor time that it has used, in the kernel's ticks.
	User, System uint64
	// Started is when it began, in the kernel's ticks since boot. With the process id it names one
	// process: the number alone can become another's.
	Started uint64
}

// HasEnded is true of a process that only waits for its parent to notice.
func (s Stat) HasEnded() bool { return s.State == 'Z' || s.State == 'X' }

// Stat reads the line of a process. It fails if there is none.
func (f FS) Stat(pid int) (Stat, error) {
	text, err := read(f.Path(pid, "stat"), maxLine)
	if err != nil {
		return Stat{}, err
	}
	return parseStat(text)
}

// tick is the kernel's in /proc: its USER_HZ is 100 on all machines that an MPI runs on.
const tick = time.Second / 100

// Age returns how long ago a process was started. It is negative if the two clocks do not go together, as in a container whose
// uptime is its own.
func (f FS) Age(pid int) (time.Duration, error) {
	stat, err := f.Stat(pid)
	if err != nil {
		return 0, err
	}
	text, err := read(filepath.Join(string(f), "uptime"), maxLine)
	if err != nil {
		return 0, err
	}
	first, _, _ := bytes.Cut(text, []byte(" "))
	up, err := time.ParseDuration(string(first) + "s")
	if err != nil {
		return 0, fmt.Errorf("/proc/uptime: %w", err)
	}
	return up - time.Duration(min(stat.Started, maxTicks))*tick, nil
}

// maxTicks bounds the time since boot that is believed: a thousand years of it are too many for a duration.
const maxTicks = uint64(1<<63-1) / uint64(tick) / 2

// The fields of the line that are used, as proc(5) numbers them.
const (
	stateField  = 3 // the first one behind the name
	parentField = 4
	userField   = 14
	systemField = 15
	startField  = 22
)

var errStat = errors.New("a line in /proc/PID/stat is cut short")

// parseStat reads a line: PID (NAME) STATE PARENT and some 50 more.
func parseStat(line []byte) (Stat, error) {
	// The name may hold anything, parentheses too; nothing behind it does.
	from, to := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if from < 0 || to < from {
		return Stat{}, errStat
	}
	s := Stat{Name: string(line[from+1 : to])}
	i := stateField
	for field := range bytes.FieldsSeq(line[to+1:]) {
		var err error
		switch i {
		case stateField:
			s.State = field[0]
		case parentField:
			s.Parent, err = strconv.Atoi(string(field))
		case userField:
			s.User, err = strconv.ParseUint(string(field), 10, 64)
		case systemField:
			s.System, err = strconv.ParseUint(string(field), 10, 64)
		case startField:
			s.Started, err = strconv.ParseUint(string(field), 10, 64)
		}
		if err != nil {
			return Stat{}, fmt.Errorf("field %d of /proc/PID/stat: %w", i, err)
		}
		if i == startField {
			return s, nil
		}
		i++
	}
	return Stat{}, errStat
}
