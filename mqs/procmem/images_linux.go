package procmem

import (
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"
	"sync"

	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
)

const (
	// maxHeaders bounds what is read of the headers and notes of a file, in bytes.
	maxHeaders = 1 << 20
	// maxNotes bounds a segment of notes, in bytes, and maxBuildID a build id.
	maxNotes, maxBuildID = 64 << 10, 4 << 10
)

// headers reads the headers of a program or library.
func headers(path string) (*elfFile, *os.File, error) {
	f, err := open(path)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	e := &elfFile{}
	if err == nil {
		e.file = &counted{ReaderAt: f, size: info.Size(), left: newBudget(maxHeaders)}
		_, err = e.readHeaders()
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return e, f, nil
}

// BuildID returns the build id of a program or library, in hex; empty if it has none, or can't be read (elf(5),
// NT_GNU_BUILD_ID).
func BuildID(path string) string {
	e, f, err := headers(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	return e.noted()
}

// noted finds a build id in the file's notes.
func (f *elfFile) noted() string {
	for _, segment := range f.notes {
		if segment.Filesz > maxNotes {
			continue
		}
		notes, err := f.file.bytes(segment.Off, int(segment.Filesz))
		if err != nil {
			return ""
		}
		align := uint64(4)
		if segment.Align == 8 {
			align = 8
		}
		const isBuildID = 3
		for n := range f.eachNote(notes, align) {
			if n.kind == isBuildID && n.name == "GNU\x00" && len(n.text) <= maxBuildID {
				return hex.EncodeToString(n.text)
			}
		}
	}
	return ""
}

// note is an entry of a segment of notes.
type note struct {
	name string
	kind uint32
	text []byte
}

// eachNote yields notes, each of which has a header of 12 bytes, a name and a text that are aligned.
func (f *elfFile) eachNote(notes []byte, align uint64) iter.Seq[note] {
	const header = 12
	up := func(n uint64) uint64 { return (n + align - 1) / align * align }
	return func(yield func(note) bool) {
		for len(notes) >= header {
			nameSize, size := uint64(f.order.Uint32(notes)), uint64(f.order.Uint32(notes[4:]))
			at := up(header + nameSize)
			end := at + size
			if end > uint64(len(notes)) || !yield(note{string(notes[header : header+nameSize]), f.order.Uint32(notes[8:]), notes[at:end]}) {
				return
			}
			notes = notes[min(up(end), uint64(len(notes))):]
		}
	}
}

// Images are the files that processes execute code of. Each is looked at once. Several goroutines may use it.
type Images struct {
	mu    sync.Mutex
	known map[string]error // by procfs.Mapping.File
}

// Check returns an error if a debugger should not attach to the process, because the headers of its program or of a loaded library
// claim an impossible number of sections or segments, all of which a debugger would read, or because such a file is no longer a
// regular file. Files that can't be opened, or are not ELF programs or libraries, are left to the debugger.
func (i *Images) Check(pid int) error {
	program, _ := procfs.Host.Program(pid)
	seen := map[string]bool{}
	for m, err := range procfs.Host.Mappings(pid) {
		if err != nil {
			return nil // it has ended, or debuggers can't read it either
		}
		if !m.IsCode || m.File == "" || seen[m.File] || strings.HasPrefix(m.Path, "/dev/") {
			continue
		}
		seen[m.File] = true
		path := procfs.Host.Path(pid, "root", m.Path)
		if m.Path == program {
			path = procfs.Host.Path(pid, "exe")
		}
		if err := i.check(m.File, path); err != nil {
			return fmt.Errorf("its file %s is unsafe to debug: %w", m.Path, err)
		}
	}
	return nil
}

func (i *Images) check(file, path string) error {
	i.mu.Lock()
	err, isKnown := i.known[file]
	i.mu.Unlock()
	if isKnown {
		return err
	}
	err = CheckFile(path)
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.known == nil {
		i.known = map[string]error{}
	}
	i.known[file] = err
	return err
}

// CheckFile is [Images.Check] for a file.
func CheckFile(path string) error {
	_, f, err := headers(path)
	var claim *ClaimError
	switch {
	case err == nil:
		_ = f.Close()
	case errors.As(err, &claim), errors.Is(err, errIrregular):
		return err
	}
	return nil
}
