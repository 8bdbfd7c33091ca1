package launch

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
)

// madeUp is a process that is not there.
type madeUp struct {
	pid, parent int
	name        string
	state       string // R if empty
	env         string // with spaces between the variables
	program     string
	isMPI       bool
	table       []entry
	denied      bool
	uid         int
	namespace   string
	ids         string // its process ids, from the outermost namespace; the pid if empty
}

// chain are the processes 20 to 59, each the child of the one before it.
func chain() []madeUp {
	var processes []madeUp
	for pid := 20; pid < 60; pid++ {
		processes = append(processes, madeUp{pid: pid, parent: pid - 1, name: "sh"})
	}
	processes[0].parent = 1
	return processes
}

// machine makes a /proc with some processes, whose numbers are in the order of
// their ages, below the first of all.
func machine(t *testing.T, processes ...madeUp) *system {
	t.Helper()
	root := t.TempDir()
	memories := map[int]*fake{}
	write := func(pid int, name, text string, mode os.FileMode) {
		if err := os.WriteFile(filepath.Join(root, strconv.Itoa(pid), name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range append([]madeUp{{pid: 1, name: "init"}}, processes...) {
		folder := filepath.Join(root, strconv.Itoa(p.pid))
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if p.state == "" {
			p.state = "R"
		}
		write(p.pid, "stat", fmt.Sprintf("%d (%s) %s %d%s %d 0\n", p.pid, p.name, p.state, p.parent, strings.Repeat(" 0", 17), p.pid), 0o644)
		if p.ids == "" {
			p.ids = strconv.Itoa(p.pid)
		}
		write(p.pid, "status", fmt.Sprintf("Name:\t%s\nUid:\t%d\t%d\t%d\t%d\nNSpid:\t%s\n", p.name, p.uid, p.uid, p.uid, p.uid, p.ids), 0o644)
		if err := os.Mkdir(filepath.Join(folder, "ns"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("pid:["+p.namespace+"]", filepath.Join(folder, "ns", "pid")); err != nil {
			t.Fatal(err)
		}
		write(p.pid, "environ", strings.ReplaceAll(p.env, " ", "\x00")+"\x00", 0o644)
		if p.program != "" {
			if err := os.Symlink(p.program, filepath.Join(folder, "exe")); err != nil {
				t.Fatal(err)
			}
		}
		m := newFake(8, false)
		if p.table != nil {
			m.putTable(p.table)
		}
		if p.isMPI {
			m.symbols[initSymbol] = 1
		}
		if !p.denied {
			memories[p.pid] = m
		}
	}
	s, err := look(procfs.FS(root), func(pid int) (memory, error) {
		if m := memories[pid]; m != nil {
			return m, nil
		}
		return nil, &os.PathError{Op: "open", Path: "mem", Err: os.ErrPermission}
	})
	if err != nil {
		t.Fatal(err)
	}
	s.isHere = func(host string) bool { return host == "here" }
	for _, p := range processes {
		if p.denied {
			s.processes[p.pid].environment = &environment{err: &os.PathError{Op: "open", Path: "environ", Err: os.ErrPermission}}
		}
	}
	return s
}

// fake is the memory of a made-up process, in pages.
type fake struct {
	inferior.Inferior // nothing else is asked for
	width             int
	big               bool
	symbols           map[string]uint64
	pages             map[uint64][]byte
	// fetches counts what was read; before is called ahead of each, with its address and length.
	fetches int
	before  func(addr uint64, n int)
}

func newFake(width int, big bool) *fake {
	return &fake{width: width, big: big, symbols: map[string]uint64{}, pages: map[uint64][]byte{}, before: func(uint64, int) {}}
}

func (f *fake) Close()      {}
func (f *fake) Keep() int64 { return 64 << 10 }

func (f *fake) Info() inferior.Info { return inferior.Info{PointerSize: f.width, BigEndian: f.big} }

func (f *fake) FindSymbols(_ context.Context, names []string) ([]*inferior.Symbol, error) {
	out := make([]*inferior.Symbol, len(names))
	for i, name := range names {
		if at, ok := f.symbols[name]; ok {
			out[i] = &inferior.Symbol{Addr: inferior.Addr(at)}
		}
	}
	return out, nil
}

const page = 4096

func (f *fake) ReadMemory(_ context.Context, ranges []inferior.Range) ([][]byte, error) {
	out := make([][]byte, len(ranges))
	for i, r := range ranges {
		f.before(uint64(r.Addr), r.Len)
		f.fetches++
		if r.Len > piece+page {
			return nil, errors.New("too much at once")
		}
		for len(out[i]) < r.Len {
			at := uint64(r.Addr) + uint64(len(out[i]))
			p := f.pages[at/page]
			if p == nil {
				break
			}
			out[i] = append(out[i], p[at%page:][:min(r.Len-len(out[i]), int(page-at%page))]...)
		}
	}
	return out, nil
}

func (f *fake) put(at uint64, b []byte) {
	for i := range b {
		a := at + uint64(i)
		if f.pages[a/page] == nil {
			f.pages[a/page] = make([]byte, page)
		}
		f.pages[a/page][a%page] = b[i]
	}
}

func (f *fake) order() interface {
	binary.ByteOrder
	binary.AppendByteOrder
} {
	if f.big {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// pointer is a pointer's bytes.
func (f *fake) pointer(v uint64) []byte {
	if f.width == 4 {
		return f.order().AppendUint32(nil, uint32(v))
	}
	return f.order().AppendUint64(nil, v)
}

const (
	sizeAt    = 0x10000
	pointerAt = 0x10100
	tableAt   = 0x20ff8 // across pages
	textsAt   = 0x800ff0
)

// putTable puts a launcher's table, with its names.
func (f *fake) putTable(table []entry) {
	f.symbols[sizeSymbol], f.symbols[tableSymbol] = sizeAt, pointerAt
	f.put(sizeAt, f.order().AppendUint32(nil, uint32(len(table))))
	f.put(pointerAt, f.pointer(tableAt))
	at, next := uint64(tableAt), uint64(textsAt)
	text := func(s string) []byte {
		if s == "" {
			return f.pointer(0)
		}
		f.put(next, append([]byte(s), 0))
		next += uint64(len(s)) + 1
		return f.pointer(next - uint64(len(s)) - 1)
	}
	for _, e := range table {
		b := append(text(e.host), text(e.executable)...)
		b = f.order().AppendUint32(b, uint32(e.pid))
		f.put(at, append(b, make([]byte, f.width-4)...))
		at += uint64(3 * f.width)
	}
}
