package procmem

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
)

const maxObjects = 1024 // files that are searched for symbols

// Process is a live process that is read through /proc. Whoever owns it has made
// its files and its memory: they can hold anything.
type Process struct {
	info    inferior.Info
	memory  *os.File // /proc/PID/mem
	files   *Files
	symbols map[string]symbol
}

// symbol is a variable or function in the process.
type symbol struct{ addr, size uint64 }

// object is a file of which a process has mappings.
type object struct {
	path     string
	mappings []procfs.Mapping // in the order of their addresses
}

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

// Open looks for the symbols in a process's program and libraries. That some of them,
// or all, are not there is no error.
func (f *Files) Open(pid int) (*Process, error) {
	p := &Process{info: inferior.Info{PID: pid, Kind: "live"}, files: f, symbols: map[string]symbol{}}
	memory, err := os.Open(p.path("mem"))
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

// path is that of one of the process's files in /proc.
func (p *Process) path(names ...string) string { return procfs.Host.Path(p.info.PID, names...) }

// search fills in the symbols. The program's come before those of its libraries,
// as for the loader: a variable of a library's that the program uses is copied
// into it, and the library's own place is then empty.
func (p *Process) search() error {
	objects, err := p.objects()
	if err != nil {
		return err
	}
	program, err := procfs.Host.Program(p.info.PID)
	if err != nil {
		return err
	}
	p.info.Executable = program
	i := slices.IndexFunc(objects, func(o *object) bool { return o.path == program })
	if i < 0 {
		return fmt.Errorf("the program %s is not in its memory", program)
	}
	// Its symbols say how wide a pointer is. Without it nothing can be read.
	if err := p.searchFile(objects[i], p.path("exe"), true); err != nil {
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
	err := p.searchFile(o, p.path("root", o.path), false)
	if err != nil {
		first := o.mappings[0]
		err = errors.Join(err, p.searchFile(o, p.path("map_files", fmt.Sprintf("%x-%x", first.Start, first.End)), false))
	}
	return err
}

// objects are the files in the process's memory.
func (p *Process) objects() ([]*object, error) {
	var out []*object
	known := map[string]*object{}
	for m, err := range procfs.Host.Mappings(p.info.PID) {
		if errors.Is(err, procfs.ErrManyMappings) {
			break // libraries are among the first ones as a rule
		}
		if err != nil {
			return nil, err
		}
		if len(out) == maxObjects {
			break
		}
		if m.File == "" || strings.HasPrefix(m.Path, "/dev/") {
			continue
		}
		o := known[m.File]
		if o == nil {
			o = &object{path: m.Path}
			known[m.File] = o
			out = append(out, o)
		}
		o.mappings = append(o.mappings, m)
	}
	return out, nil
}

// searchFile looks for symbols in a file that may be the object's.
func (p *Process) searchFile(o *object, path string, program bool) error {
	f, err := open(path)
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
		p.info.PointerSize, p.info.BigEndian = file.pointerSize, file.bigEndian
	}
	if file.pointerSize != p.info.PointerSize || file.bigEndian != p.info.BigEndian {
		return errors.New("it is of another architecture")
	}
	bias, err := file.bias(o.mappings)
	if err != nil {
		return err
	}
	for name, s := range file.symbols {
		if _, ok := p.symbols[name]; !ok {
			s.addr += bias
			s.addr &= uint64(p.info.LastAddr())
			p.symbols[name] = s
		}
	}
	return nil
}

// open opens a regular file, and waits for nobody.
func open(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	// Asked before it is opened: opening a device can do something.
	if !info.Mode().IsRegular() {
		return nil, errIrregular
	}
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

var errIrregular = errors.New("it is not a regular file")

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
	i := slices.IndexFunc(o.mappings, func(m procfs.Mapping) bool { return m.Offset == 0 })
	if i < 0 {
		return errors.New("its beginning is not in memory")
	}
	now := make([]byte, header)
	if _, err := f.ReadAt(now, 0); err != nil {
		return err
	}
	then := make([]byte, header)
	if _, err := p.memory.ReadAt(then, int64(o.mappings[i].Start)); err != nil {
		return err
	}
	if !bytes.Equal(now, then) {
		return errors.New("the file has changed since")
	}
	return nil
}
