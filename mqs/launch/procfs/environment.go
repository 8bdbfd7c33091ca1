package procfs

import (
	"bytes"
	"slices"
)

const (
	// maxEnvironment is how much of an environment is read, in bytes: twice what the kernel lets a
	// program start with.
	maxEnvironment = 12 << 20
	// maxVariable is how long a variable's value may be, in bytes: a longer one is as if it were
	// not there.
	maxVariable = 4 << 10
)

// Environment returns those variables of the environment that a process was started with that
// have one of some names; what it has set since is not among them. As for getenv, the first of a
// name counts. What could be read is there beside an error too.
func (f FS) Environment(pid int, names []string) (map[string]string, error) {
	text, err := read(f.Path(pid, "environ"), maxEnvironment)
	if err != nil && text == nil {
		return nil, err
	}
	values := map[string]string{}
	for len(text) > 0 {
		var line []byte
		line, text, _ = bytes.Cut(text, []byte{0})
		name, value, ok := bytes.Cut(line, []byte{'='})
		if i := slices.Index(names, string(name)); ok && i >= 0 {
			if _, known := values[names[i]]; !known && len(value) <= maxVariable {
				values[names[i]] = string(value)
			}
		}
	}
	return values, err
}
