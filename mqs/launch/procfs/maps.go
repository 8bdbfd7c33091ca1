package procfs

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strconv"
	"strings"
)

// Mapping is a part of a process's address space, from Start up to End.
type Mapping struct {
	Start, End uint64
	// Offset is where in the file it begins, in bytes.
	Offset uint64
	// File tells the file from others, also from those that had its path before or have it since;
	// empty if there is none.
	File string
	// Path is where the file was when it was mapped, in the process's own view of the files, or
	// the kernel's name in brackets ("[stack]"); empty for memory of no file.
	Path string
	// IsCode is true of what the process may execute.
	IsCode bool
}

// maxMaps is how much of /proc/PID/maps is read, in bytes: as many mappings as the kernel lets a
// process have by default.
const maxMaps = 8 << 20

// ErrManyMappings means that a process has more mappings than are read: those before it count.
var ErrManyMappings = errors.New("it has too many mappings")

// Mappings yields what a process has in its address space, in the order of the addresses. An
// error ends it.
func (f FS) Mappings(pid int) iter.Seq2[Mapping, error] {
	return func(yield func(Mapping, error) bool) {
		file, err := os.Open(f.Path(pid, "maps"))
		if err != nil {
			yield(Mapping{}, err)
			return
		}
		defer func() { _ = file.Close() }()
		lines := bufio.NewReader(io.LimitReader(file, maxMaps))
		for length := 0; ; {
			line, err := lines.ReadString('\n')
			length += len(line)
			switch {
			case errors.Is(err, io.EOF) && length == maxMaps:
				yield(Mapping{}, ErrManyMappings)
				return
			case errors.Is(err, io.EOF) && line == "":
				return
			case err != nil && !errors.Is(err, io.EOF):
				yield(Mapping{}, err)
				return
			}
			m, err := parseMapping(strings.TrimSuffix(line, "\n"))
			if !yield(m, err) || err != nil {
				return
			}
		}
	}
}

// parseMapping reads a line: START-END RIGHTS OFFSET DEVICE INODE PATH.
func parseMapping(line string) (m Mapping, err error) {
	fields := strings.SplitN(line, " ", 6)
	if len(fields) < 5 {
		return m, fmt.Errorf("a mapping of %q", line)
	}
	start, end, _ := strings.Cut(fields[0], "-")
	for _, n := range []struct {
		text string
		to   *uint64
	}{{start, &m.Start}, {end, &m.End}, {fields[2], &m.Offset}} {
		if *n.to, err = strconv.ParseUint(n.text, 16, 64); err != nil {
			return Mapping{}, err
		}
	}
	m.IsCode = strings.Contains(fields[1], "x")
	if len(fields) == 6 {
		m.Path = strings.ReplaceAll(strings.TrimLeft(fields[5], " "), `\012`, "\n")
	}
	if strings.HasPrefix(m.Path, "/") {
		m.File = fields[3] + " " + fields[4] + " " + m.Path
	}
	return m, nil
}
