package procmem

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

const (
	maxMaps    = 8 << 20 // bytes of /proc/PID/maps that are read
	maxObjects = 1024    // files that are searched for symbols
)

// Process is a live process that is read through /proc. Whoever owns it has made
// its files and its memory: they can hold anything.
type Process struct {
	folder      string // /proc/PID
	memory      *os.File
	files       *Files
	symbols     map[string]symbol
	pointerSize int
	bigEndian   bool
}

// symbol is a variable or function in the process.
type symbol struct{ addr, size uint64 }

// mapping is a part of a file that a process has in its memory.
type mapping struct{ start, end, offset uint64 }

// object is a file of which a process has mappings.
type object struct {
	path     string
	mappings []mapping // in the order of their addresses
}

// Symbol is one of those that were looked for.
func (p *Process) Symbol(name string) (addr, size uint64, ok bool) {
	s, ok := p.symbols[name]
	return s.addr, s.size, ok
}

// Bytes reads memory.
func (p *Process) Bytes(addr uint64, n int) ([]byte, error) {
	b := make([]byte, n)
	if int64(addr) < 0 {
		return nil, fmt.Errorf("nothing can be read at %#x", addr)
	}
	if _, err := p.memory.ReadAt(b, int64(addr)); err != nil {
		return nil, fmt.Errorf("nothing can be read at %#x: %w", addr, err)
	}
	return b, nil
}

// PointerSize is 4 or 8.
func (p *Process) PointerSize() int { return p.pointerSize }

// BigEndian is true if the most significant byte comes first.
func (p *Process) BigEndian() bool { return p.bigEndian }

// Close ends the reading.
func (p *Process) Close() { _ = p.memory.Close() }

// Files are the programs and libraries of processes in which the same symbols are looked for.
// Each is read once, and of all together no more than so much. It may be used by several
// goroutines.
type Files struct {
	wanted []string // the symbols that are looked for
	budget *budget

	mu    sync.Mutex
	known map[identity]parsed
}

// NewFiles are the files of processes in which symbols are looked for.
func NewFiles(symbols ...string) *Files {
	return &Files{wanted: symbols, budget: newBudget(maxTables), known: map[identity]parsed{}}
}

// parsed is what a file is, or why it is no program and no library.
type parsed struct {
	file *elfFile
	err  error
}

// identity tells files apart, and what a file was from what it is.
type identity struct {
	device, inode uint64
	size          int64
	changed       syscall.Timespec
}

// Open looks for symbols in one process, as [Files.Open].
func Open(pid int, symbols ...string) (*Process, error) { return NewFiles(symbols...).Open(pid) }

// Open looks for the symbols in a process's program and libraries. That some of them,
// or all, are not there is no error.
func (f *Files) Open(pid int) (*Process, error) {
	p := &Process{folder: "/proc/" + strconv.Itoa(pid), files: f, symbols: map[string]symbol{}}
	memory, err := os.Open(p.folder + "/mem")
	if err != nil {
		return nil, err
	}
	p.memory = memory
	if err := p.search(); err != nil {
		_ = memory.Close()
		return nil, err
	}
	return p, nil
}

// search fills in the symbols. The program's come before those of its libraries,
// as for the loader: a variable of a library's that the program uses is copied
// into it, and the library's own place is then empty.
func (p *Process) search() error {
	objects, err := p.objects()
	if err != nil {
		return err
	}
	program, err := os.Readlink(p.folder + "/exe")
	if err != nil {
		return err
	}
	i := slices.IndexFunc(objects, func(o *object) bool { return o.path == program })
	if i < 0 {
		return fmt.Errorf("the program %s is not in its memory", program)
	}
	// Its symbols say how wide a pointer is. Without it nothing can be read.
	if err := p.searchFile(objects[i], p.folder+"/exe", true); err != nil {
		return fmt.Errorf("the program %s: %w", program, err)
	}
	for _, o := range slices.Delete(objects, i, i+1) {
		if len(p.symbols) == len(p.files.wanted) {
			break
		}
		// Data files are mapped too. What is no library has no symbols.
		_ = p.searchObject(o)
	}
	return nil
}

// searchObject finds the file of a library. Its path is that in the process's own
// view of the files; the kernel's link to it leads also to one that was deleted
// or replaced since, but is root's alone.
func (p *Process) searchObject(o *object) error {
	err := p.searchFile(o, filepath.Join(p.folder, "root", o.path), false)
	if err != nil {
		first := o.mappings[0]
		err = errors.Join(err, p.searchFile(o, fmt.Sprintf("%s/map_files/%x-%x", p.folder, first.start, first.end), false))
	}
	return err
}

// objects are the files in the process's memory.
func (p *Process) objects() ([]*object, error) {
	f, err := os.Open(p.folder + "/maps")
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var out []*object
	known := map[string]*object{}
	lines := bufio.NewScanner(io.LimitReader(f, maxMaps))
	for lines.Scan() && len(out) < maxObjects {
		m, file, path, err := parseMapping(lines.Text())
		if err != nil {
			return nil, err
		}
		if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "/dev/") {
			continue
		}
		o := known[file]
		if o == nil {
			o = &object{path: path}
			known[file] = o
			out = append(out, o)
		}
		o.mappings = append(o.mappings, m)
	}
	return out, lines.Err()
}

// parseMapping reads a line of maps. file tells files apart: two of them can have
// had a path in turn.
func parseMapping(line string) (m mapping, file, path string, err error) {
	// START-END RIGHTS OFFSET DEVICE INODE PATH
	fields := strings.SplitN(line, " ", 6)
	if len(fields) < 6 {
		return m, "", "", fmt.Errorf("a mapping of %q", line)
	}
	start, end, _ := strings.Cut(fields[0], "-")
	for _, n := range []struct {
		text string
		to   *uint64
	}{{start, &m.start}, {end, &m.end}, {fields[2], &m.offset}} {
		if *n.to, err = strconv.ParseUint(n.text, 16, 64); err != nil {
			return m, "", "", err
		}
	}
	path = strings.ReplaceAll(strings.TrimLeft(fields[5], " "), `\012`, "\n")
	return m, fields[3] + " " + fields[4] + " " + path, path, nil
}

// searchFile looks for symbols in a file that may be the object's.
func (p *Process) searchFile(o *object, path string, program bool) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	// Asked before it is opened: opening a device can do something.
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", path)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if err := p.same(o, f); err != nil {
		return err
	}
	file, err := p.files.parse(f)
	if err != nil {
		return err
	}
	if program {
		p.pointerSize, p.bigEndian = file.pointerSize, file.bigEndian
	}
	if file.pointerSize != p.pointerSize || file.bigEndian != p.bigEndian {
		return errors.New("it is of another architecture")
	}
	bias, err := file.bias(o.mappings)
	if err != nil {
		return err
	}
	for name, s := range file.symbols {
		if _, ok := p.symbols[name]; !ok {
			s.addr += bias
			if p.pointerSize == 4 {
				s.addr &= 1<<32 - 1
			}
			p.symbols[name] = s
		}
	}
	return nil
}

// parse reads a file that is open, unless it is known.
func (f *Files) parse(file *os.File) (*elfFile, error) {
	if err := f.budget.spend(fileCost); err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	stat := info.Sys().(*syscall.Stat_t)
	id := identity{stat.Dev, stat.Ino, stat.Size, stat.Ctim}
	f.mu.Lock()
	known, ok := f.known[id]
	f.mu.Unlock()
	if !ok {
		known.file, known.err = parse(file, info.Size(), f.wanted, f.budget)
		f.mu.Lock()
		f.known[id] = known
		f.mu.Unlock()
	}
	return known.file, known.err
}

// same fails if the file is not the one in memory but has come into its place.
func (p *Process) same(o *object, f *os.File) error {
	const header = 52 // the shorter one, of 32 bits
	i := slices.IndexFunc(o.mappings, func(m mapping) bool { return m.offset == 0 })
	if i < 0 {
		return errors.New("its beginning is not in memory")
	}
	now := make([]byte, header)
	if _, err := f.ReadAt(now, 0); err != nil {
		return err
	}
	then, err := p.Bytes(o.mappings[i].start, header)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, then) {
		return errors.New("the file has changed since")
	}
	return nil
}
