package procfs

import (
	"bytes"
	"strconv"
	"strings"
)

// Status is what /proc/PID/status says of a process.
type Status struct {
	// Name is as in [Stat], with the kernel's escapes of \ and newlines.
	Name string
	// Parent and Tracer are process ids, 0 for none; -1 if not known.
	Parent, Tracer int
	// Users are its user ids: real, effective, saved, and of the file system; none if not known.
	Users []int
	// IDs are its process ids, from this machine's (or container's) to that in its own process
	// namespace; none if not known.
	IDs []int
	// Switches counts the thread's context switches, 0 if unknown. While it is unchanged, a thread that is not running has not
	// run.
	Switches uint64
	// Pending is the set of signals pending for the thread or its process; bit 0 is signal 1.
	Pending uint64
}

// maxStatus is how much of a process's status is read, in bytes: thrice what a process of two
// thousand groups has.
const maxStatus = 64 << 10

// Status reads what is known of a process. It fails if there is none.
func (f FS) Status(pid int) (Status, error) {
	text, err := read(f.Path(pid, "status"), maxStatus)
	if err != nil {
		return Status{Parent: -1, Tracer: -1}, err
	}
	return parseStatus(text), nil
}

func parseStatus(text []byte) Status {
	s := Status{Parent: -1, Tracer: -1}
	for line := range bytes.Lines(text) {
		key, value, _ := strings.Cut(string(line), ":")
		switch key {
		case "Name":
			s.Name = strings.TrimSuffix(strings.TrimPrefix(value, "\t"), "\n")
		case "PPid":
			s.Parent = onlyID(value)
		case "TracerPid":
			s.Tracer = onlyID(value)
		case "Uid":
			s.Users = ids(value)
		case "NSpid":
			s.IDs = ids(value)
		case "SigPnd", "ShdPnd":
			n, _ := strconv.ParseUint(strings.TrimSpace(value), 16, 64)
			s.Pending |= n
		case "voluntary_ctxt_switches", "nonvoluntary_ctxt_switches":
			n, _ := strconv.ParseUint(strings.TrimSpace(value), 10, 64)
			s.Switches += n
		}
	}
	return s
}

// ids reads numbers with blanks between them, none if one of them is no number.
func ids(text string) []int {
	var out []int
	for word := range strings.FieldsSeq(text) {
		n, err := strconv.Atoi(word)
		if err != nil {
			return nil
		}
		out = append(out, n)
	}
	return out
}

// onlyID reads one number, -1 if it is none.
func onlyID(text string) int {
	if all := ids(text); len(all) == 1 {
		return all[0]
	}
	return -1
}
