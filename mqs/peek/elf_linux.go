package peek

import (
	"bytes"
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// maxTables bounds the symbol tables and names of all files of a process. The
// largest programs with all symbols have some ten megabytes.
const maxTables = 512 << 20

// elfFile is what is used of a program or library.
type elfFile struct {
	pointerSize int
	bigEndian   bool
	loads       []elf.ProgHeader  // what is loaded, by address
	symbols     map[string]symbol // at the addresses that the file was linked for
}

// wanted are the names of symbols to look for.
type wanted struct {
	names map[string][]byte // each with the null byte behind it
	first [256]bool         // the letters that they begin with
}

func want(names []string) *wanted {
	w := &wanted{names: map[string][]byte{}}
	for _, name := range names {
		w.names[name] = append([]byte(name), 0)
		w.first[w.names[name][0]] = true
	}
	return w
}

// parse reads a file that can be anything: whoever owns the process made it.
// Of budget, the bytes that may be read, it takes what it uses.
func parse(f io.ReaderAt, size int64, w *wanted, budget *int64) (out *elfFile, err error) {
	defer func() {
		// debug/elf does not promise that no file makes it panic.
		if r := recover(); r != nil {
			err = fmt.Errorf("no sound ELF file: %v", r)
		}
	}()
	e, err := elf.NewFile(f)
	if err != nil {
		return nil, err
	}
	out = &elfFile{pointerSize: 4, bigEndian: e.Data == elf.ELFDATA2MSB, symbols: map[string]symbol{}}
	if e.Class == elf.ELFCLASS64 {
		out.pointerSize = 8
	}
	if e.Type != elf.ET_EXEC && e.Type != elf.ET_DYN {
		return nil, fmt.Errorf("a file of type %s is no program or library", e.Type)
	}
	for _, p := range e.Progs {
		if p.Type == elf.PT_LOAD {
			out.loads = append(out.loads, p.ProgHeader)
		}
	}
	if len(out.loads) == 0 {
		return nil, errors.New("nothing of it is loaded")
	}
	slices.SortFunc(out.loads, func(a, b elf.ProgHeader) int {
		return cmp.Compare(a.Vaddr, b.Vaddr)
	})
	// The first has all, and the second is left when a file is stripped.
	for _, kind := range []elf.SectionType{elf.SHT_SYMTAB, elf.SHT_DYNSYM} {
		if s := e.SectionByType(kind); s != nil {
			if err := out.readTable(e, s, size, w, budget); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// readTable takes the symbols that are looked for out of a table. It does not
// make an object of each, as debug/elf does: there are millions.
func (f *elfFile) readTable(e *elf.File, s *elf.Section, size int64, w *wanted, budget *int64) error {
	if int(s.Link) >= len(e.Sections) {
		return errors.New("a symbol table without names")
	}
	table, err := contents(s, size, budget)
	if err != nil {
		return err
	}
	names, err := contents(e.Sections[s.Link], size, budget)
	if err != nil {
		return err
	}
	step := elf.Sym32Size
	if f.pointerSize == 8 {
		step = elf.Sym64Size
	}
	for ; len(table) >= step; table = table[step:] {
		sym := f.entry(e, table)
		if uint64(sym.Name) >= uint64(len(names)) || !w.first[names[sym.Name]] {
			continue // for most symbols, the end of it
		}
		for name, text := range w.names {
			_, known := f.symbols[name]
			if !known && usable(sym) && bytes.HasPrefix(names[sym.Name:], text) {
				f.symbols[name] = symbol{sym.Value, sym.Size}
			}
		}
	}
	return nil
}

// entry reads one symbol.
func (f *elfFile) entry(e *elf.File, b []byte) elf.Sym64 {
	o := e.ByteOrder
	if f.pointerSize == 8 {
		return elf.Sym64{Name: o.Uint32(b), Info: b[4], Shndx: o.Uint16(b[6:]), Value: o.Uint64(b[8:]), Size: o.Uint64(b[16:])}
	}
	return elf.Sym64{Name: o.Uint32(b), Info: b[12], Shndx: o.Uint16(b[14:]),
		Value: uint64(o.Uint32(b[4:])), Size: uint64(o.Uint32(b[8:]))}
}

// usable is true if a symbol is one that others can see, and is here.
func usable(s elf.Sym64) bool {
	kind, bind := elf.ST_TYPE(s.Info), elf.ST_BIND(s.Info)
	return elf.SectionIndex(s.Shndx) != elf.SHN_UNDEF && s.Value != 0 &&
		bind != elf.STB_LOCAL && kind != elf.STT_TLS && kind != elf.STT_SECTION && kind != elf.STT_FILE
}

// contents are a section's bytes. A file can say that it has more than it is long.
func contents(s *elf.Section, size int64, budget *int64) ([]byte, error) {
	if s.Type == elf.SHT_NOBITS || s.Flags&elf.SHF_COMPRESSED != 0 || s.FileSize > uint64(min(size, *budget)) {
		return nil, fmt.Errorf("section %s of %d bytes can't be right", s.Name, s.FileSize)
	}
	*budget -= int64(s.FileSize)
	b := make([]byte, s.FileSize)
	_, err := s.ReadAt(b, 0)
	return b, err
}

// bias is how far from where it was linked for a file is loaded.
func (f *elfFile) bias(mappings []mapping) (uint64, error) {
	page := uint64(os.Getpagesize())
	down := func(v uint64) uint64 { return v - v%page }
	first := f.loads[0]
	for _, m := range mappings {
		if m.offset != down(first.Off) {
			continue
		}
		// A file can be mapped more than once, to be read. Where it is loaded all of it is.
		bias := m.start - down(first.Vaddr)
		if !slices.ContainsFunc(f.loads, func(l elf.ProgHeader) bool {
			return l.Filesz > 0 && !slices.ContainsFunc(mappings, func(m mapping) bool {
				at := bias + l.Vaddr
				return m.start <= at && at < m.end
			})
		}) {
			return bias, nil
		}
	}
	return 0, errors.New("where it is loaded can't be told")
}
