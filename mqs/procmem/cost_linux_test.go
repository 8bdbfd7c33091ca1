package procmem

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mpi-queues/mpi-queues/mqs/internal/cost"
)

// sparse is a program of some kilobytes on disk that is two gigabytes long, with the
// headers of its sections behind its own bytes, so that they can be more.
func sparse(t *testing.T, program []byte, change func(header *elf.Header64, sections []elf.Section64)) *os.File {
	t.Helper()
	var header elf.Header64
	if _, err := binary.Decode(program, binary.LittleEndian, &header); err != nil {
		t.Fatal(err)
	}
	sections := make([]elf.Section64, header.Shnum)
	if _, err := binary.Decode(program[header.Shoff:], binary.LittleEndian, sections); err != nil {
		t.Fatal(err)
	}
	header.Shoff = uint64(len(program))
	change(&header, sections)
	out, err := binary.Append(nil, binary.LittleEndian, header)
	if err != nil {
		t.Fatal(err)
	}
	out, err = binary.Append(append(out, program[len(out):]...), binary.LittleEndian, sections)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "sparse"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	if _, err := f.Write(out); err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(2 << 30); err != nil {
		t.Fatal(err)
	}
	return f
}

// A file that says that it has more than anybody wants of it costs what is looked at of it.
func TestSparseFiles(t *testing.T) {
	cost.Large(t)
	program, err := os.ReadFile(compile(t))
	if err != nil {
		t.Fatal(err)
	}
	each := func(sections []elf.Section64, f func(s *elf.Section64)) {
		for i := range sections {
			switch elf.SectionType(sections[i].Type) {
			case elf.SHT_SYMTAB, elf.SHT_DYNSYM:
				f(&sections[i])
			}
		}
	}
	for name, c := range map[string]struct {
		change func(header *elf.Header64, sections []elf.Section64)
		says   string // nothing if the symbol is found
	}{
		"as it was":                          {func(*elf.Header64, []elf.Section64) {}, ""},
		"many sections":                      {manySections, "33554432 sections can't be right"},
		"all sections that a header can say": {func(header *elf.Header64, _ []elf.Section64) { header.Shnum = 0xfeff }, "it has 65279 sections"},
		"many segments":                      {func(header *elf.Header64, _ []elf.Section64) { header.Phnum = 0xffff }, "65535 segments"},
		"long tables of symbols": {func(_ *elf.Header64, sections []elf.Section64) {
			each(sections, func(s *elf.Section64) { s.Size = 256 << 20 })
		}, ""},
		"tables of symbols that are too long": {func(_ *elf.Header64, sections []elf.Section64) {
			each(sections, func(s *elf.Section64) { s.Size = 1 << 30 })
		}, "longer than can be right"},
		"a long table of names": {func(_ *elf.Header64, sections []elf.Section64) {
			each(sections, func(s *elf.Section64) { sections[s.Link].Size = 1 << 30 })
		}, "longer than can be right"},
		"a compressed table": {func(_ *elf.Header64, sections []elf.Section64) {
			each(sections, func(s *elf.Section64) { sections[s.Link].Flags |= uint64(elf.SHF_COMPRESSED) })
		}, "compressed"},
		"a table beyond the end": {func(_ *elf.Header64, sections []elf.Section64) {
			each(sections, func(s *elf.Section64) { s.Off = 1 << 62 })
		}, "can't be right"},
	} {
		t.Run(name, func(t *testing.T) {
			f := sparse(t, program, c.change)
			cost.AtMost(t, 8<<20, func() {
				budget := newBudget(maxTables)
				out, err := parse(f, 2<<30, []string{"peek_text"}, budget)
				switch {
				case c.says == "" && (err != nil || out.symbols["peek_text"].addr == 0):
					t.Errorf("the symbol is not found: %v", err)
				case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
					t.Errorf("%q is not said: %v", c.says, err)
				}
			})
		})
	}
}

// reads counts how often a file is read.
type reads struct {
	io.ReaderAt
	n int
}

func (r *reads) ReadAt(b []byte, at int64) (int, error) {
	r.n++
	return r.ReaderAt.ReadAt(b, at)
}

// All sections that a file may have take few reads: a process can have a thousand files.
func TestManySections(t *testing.T) {
	program, err := os.ReadFile(compile(t))
	if err != nil {
		t.Fatal(err)
	}
	f := &reads{ReaderAt: sparse(t, program, func(header *elf.Header64, sections []elf.Section64) {
		header.Shnum = maxSections
		for i := range sections {
			sections[i].Type = uint32(elf.SHT_NULL)
		}
	})}
	if _, err := parse(f, 2<<30, []string{"peek_text"}, newBudget(maxTables)); err != nil {
		t.Fatal(err)
	}
	if most := 4 * maxSections * 64 / atOnce; f.n > most {
		t.Errorf("%d sections take %d reads, where %d do", maxSections, f.n, most)
	}
}

// The files of one process after the other are read once, and cost all of them together no
// more than is allowed.
func TestFilesAreReadOnce(t *testing.T) {
	program := compile(t)
	files := NewFiles("peek_text", "no_such_symbol")
	var first int64
	for i := range 3 {
		cmd := exec.Command(program)
		stdin, err1 := cmd.StdinPipe()
		stdout, err2 := cmd.StdoutPipe()
		if err := errors.Join(err1, err2, cmd.Start()); err != nil {
			t.Fatal(err)
		}
		if _, err := stdout.Read(make([]byte, 1)); err != nil { // it has all its libraries
			t.Fatal(err)
		}
		before := files.budget.left.Load()
		p, err := files.Open(cmd.Process.Pid)
		cost := before - files.budget.left.Load()
		switch {
		case err != nil:
			t.Error(err)
		case i == 0:
			first = cost
		case cost > 16*fileCost || cost >= first:
			t.Errorf("the first process takes %d bytes, and process %d %d", first, i, cost)
		}
		if err == nil {
			if found, err := p.FindSymbols(t.Context(), []string{"peek_text"}); err != nil || found[0] == nil {
				t.Errorf("process %d has no such symbol", i)
			}
			p.Close()
		}
		files.budget.left.Store(min(files.budget.left.Load(), 100*fileCost))
		_, _ = stdin.Close(), cmd.Wait()
	}
	files.budget.left.Store(0)
	if _, err := files.Open(os.Getpid()); err == nil || !strings.Contains(err.Error(), "longer than can be right") {
		t.Errorf("nothing is left to be read, and it is: %v", err)
	}
}
