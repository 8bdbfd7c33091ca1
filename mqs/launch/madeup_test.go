package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/inferior/inferiortest"
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
	channel     string // the kernel's function in which it sleeps
	unlisted    bool   // it has been started since the processes were listed
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
		if p.channel != "" {
			write(p.pid, "wchan", p.channel, 0o644)
		}
		var children []string
		for _, c := range processes {
			if c.parent == p.pid {
				children = append(children, strconv.Itoa(c.pid))
			}
		}
		if children != nil {
			task := filepath.Join("task", strconv.Itoa(p.pid))
			if err := os.MkdirAll(filepath.Join(folder, task), 0o755); err != nil {
				t.Fatal(err)
			}
			write(p.pid, filepath.Join(task, "children"), strings.Join(children, " "), 0o644)
		}
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
			m.variable(initSymbol, 1)
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
		if p.unlisted {
			delete(s.processes, p.pid)
		}
		if p.denied {
			s.processes[p.pid].environment = &environment{err: &os.PathError{Op: "open", Path: "environ", Err: os.ErrPermission}}
		}
	}
	return s
}

// fake is a made-up process whose reading can be watched.
type fake struct {
	*inferiortest.Process
	// before is called ahead of each range that is read.
	before func(r inferior.Range)
}

func newFake(width int, big bool) *fake {
	f := &fake{inferiortest.New(), func(inferior.Range) {}}
	f.Identity = inferior.Info{PointerSize: width, BigEndian: big}
	return f
}

func (f *fake) Close()      {}
func (f *fake) Keep() int64 { return 64 << 10 }

func (f *fake) ReadMemory(ctx context.Context, ranges []inferior.Range) ([][]byte, error) {
	for _, r := range ranges {
		f.before(r)
		if r.Len > piece+inferiortest.Page {
			return nil, errors.New("too much at once")
		}
	}
	return f.Process.ReadMemory(ctx, ranges)
}

// variable is a symbol at an address.
func (f *fake) variable(name string, at inferior.Addr) { f.Symbols[name] = &inferior.Symbol{Addr: at} }

const (
	sizeAt    = 0x10000
	pointerAt = 0x10100
	tableAt   = 0x20ff8 // across pages
	textsAt   = 0x800ff0
)

// putTable puts a launcher's table, with its names.
func (f *fake) putTable(table []entry) {
	f.variable(sizeSymbol, sizeAt)
	f.variable(tableSymbol, pointerAt)
	f.Put(sizeAt, f.Order().AppendUint32(nil, uint32(len(table))))
	f.Put(pointerAt, f.Pointer(tableAt))
	at, next := inferior.Addr(tableAt), inferior.Addr(textsAt)
	text := func(s string) []byte {
		if s == "" {
			return f.Pointer(0)
		}
		f.Put(next, append([]byte(s), 0))
		next += inferior.Addr(len(s)) + 1
		return f.Pointer(next - inferior.Addr(len(s)) - 1)
	}
	for _, e := range table {
		b := append(text(e.host), text(e.executable)...)
		b = f.Order().AppendUint32(b, uint32(e.pid))
		f.Put(at, append(b, make([]byte, f.Identity.PointerSize-4)...))
		at += inferior.Addr(3 * f.Identity.PointerSize)
	}
}
