package procmem

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync/atomic"

	"github.com/mpi-queues/mpi-queues/mqs/launch/procfs"
)

// What may be read of all files together, and of one of them.
const (
	// maxTables bounds the bytes of all files together. The largest programs with all
	// symbols have some ten megabytes of tables.
	maxTables = 512 << 20
	// fileCost counts for each file of each process, and atOnce are the bytes that are read
	// where fewer are asked for: what takes long is how often something is read.
	fileCost = 1 << 10
	atOnce   = 4 << 10
	// maxSections bounds the sections of a file, and maxSegments what is loaded of it. A debugger is given files with more
	// sections, but not with more than the header can say (elf(5), e_shnum): no program has as many.
	maxSections = 1 << 12
	maxClaim    = 0xfeff
	maxSegments = 1 << 10
	// maxPlaces bounds how often the names that are looked for stand in a table of names.
	maxPlaces = 1 << 12
	// window is how much of a table is in memory at a time.
	window = 256 << 10
)

// elfFile is what is used of a program or library.
type elfFile struct {
	pointerSize int
	bigEndian   bool
	loads       []elf.ProgHeader  // what is loaded, by address
	notes       []elf.ProgHeader  // in the file's order
	symbols     map[string]symbol // at the addresses that the file was linked for

	file  *counted // until it is parsed
	order binary.ByteOrder
}

// ClaimError means that a file claims to have more than any program or library has.
type ClaimError struct{ reason string }

func (e *ClaimError) Error() string { return e.reason }

// counted is a file of which so many bytes may still be read.
type counted struct {
	io.ReaderAt
	size int64
	left *budget
	// buffer is what was read last, and where it stands.
	buffer []byte
	at     uint64
}

// budget is how many bytes may still be read. Who reads a file that never answers may be
// left behind, and then reads beside others.
type budget struct{ left atomic.Int64 }

func newBudget(bytes int64) *budget {
	b := &budget{}
	b.left.Store(bytes)
	return b
}

func (b *budget) spend(n int) error {
	if b.left.Add(-int64(n)) < 0 {
		return errors.New("its tables are longer than can be right")
	}
	return nil
}

// bytes are n bytes of the file, all of them or an error. They are there until the next call.
func (f *counted) bytes(at uint64, n int) ([]byte, error) {
	if at > uint64(f.size) || uint64(n) > uint64(f.size)-at {
		return nil, fmt.Errorf("%d bytes at %d of a file of %d can't be right", n, at, f.size)
	}
	if at < f.at || at-f.at+uint64(n) > uint64(len(f.buffer)) {
		take := int(min(int64(max(n, atOnce)), f.size-int64(at)))
		f.buffer, f.at = slices.Grow(f.buffer[:0], take)[:take], at
		err := f.left.spend(take)
		if err == nil {
			_, err = f.ReadAt(f.buffer, int64(at))
		}
		if err != nil {
			f.buffer = f.buffer[:0]
			return nil, err
		}
	}
	return f.buffer[at-f.at:][:n], nil
}

// parse reads a file that can be anything: whoever owns the process made it. It may be
// sparse, and far longer than what there is of it: nothing of it is in memory but what is
// looked at.
func parse(f io.ReaderAt, size int64, names []string, left *budget) (*elfFile, error) {
	out := &elfFile{symbols: map[string]symbol{}, file: &counted{ReaderAt: f, size: size, left: left}}
	sections, err := out.readHeaders()
	if err != nil {
		return nil, err
	}
	// The first has all, and the second is left when a file is stripped.
	for _, kind := range []elf.SectionType{elf.SHT_SYMTAB, elf.SHT_DYNSYM} {
		if err := out.readTable(sections, kind, names); err != nil {
			return nil, err
		}
	}
	out.file = nil // with its buffer
	return out, nil
}

// sectionTable is where the headers of the sections are.
type sectionTable struct {
	at, n uint64
	each  int // bytes
}

// readHeaders reads the file's header and those of what is loaded.
func (f *elfFile) readHeaders() (sections sectionTable, err error) {
	header, err := f.readHeader()
	if err != nil {
		return sections, err
	}
	if kind := elf.Type(header.Type); kind != elf.ET_EXEC && kind != elf.ET_DYN {
		return sections, fmt.Errorf("a file of type %s is no program or library", kind)
	}
	if sections, err = f.sectionTable(&header); err == nil {
		err = f.readLoads(&header)
	}
	return sections, err
}

// readHeader reads the file's header.
func (f *elfFile) readHeader() (header elf.Header64, err error) {
	ident, err := f.file.bytes(0, elf.EI_NIDENT)
	if err != nil {
		return header, err
	}
	if string(ident[:4]) != elf.ELFMAG {
		return header, errors.New("no ELF file")
	}
	f.order = binary.LittleEndian
	switch elf.Data(ident[elf.EI_DATA]) {
	case elf.ELFDATA2LSB:
	case elf.ELFDATA2MSB:
		f.order, f.bigEndian = binary.BigEndian, true
	default:
		return header, errors.New("an ELF file in no known order of bytes")
	}
	switch elf.Class(ident[elf.EI_CLASS]) {
	case elf.ELFCLASS64:
		f.pointerSize = 8
		err = f.read(0, &header)
	case elf.ELFCLASS32:
		f.pointerSize = 4
		var narrow elf.Header32
		err = f.read(0, &narrow)
		header = elf.Header64{Type: narrow.Type, Phoff: uint64(narrow.Phoff), Phentsize: narrow.Phentsize, Phnum: narrow.Phnum,
			Shoff: uint64(narrow.Shoff), Shentsize: narrow.Shentsize, Shnum: narrow.Shnum}
	default:
		err = errors.New("an ELF file of no known width")
	}
	return header, err
}

// sectionTable returns where the headers of the sections are, by the file's header.
func (f *elfFile) sectionTable(header *elf.Header64) (sectionTable, error) {
	sections := sectionTable{header.Shoff, uint64(header.Shnum), f.width(elf.Section32{}, elf.Section64{})}
	if header.Shoff == 0 {
		return sectionTable{}, nil
	}
	if int(header.Shentsize) != sections.each {
		return sections, fmt.Errorf("section headers of %d bytes", header.Shentsize)
	}
	if sections.n == 0 { // more than the header can say: the first section does
		first, err := f.section(sectionTable{header.Shoff, 1, sections.each}, 0)
		if err != nil {
			return sections, err
		}
		sections.n = first.Size
	}
	if sections.n > maxClaim {
		return sections, &ClaimError{fmt.Sprintf("%d sections can't be right: no file has more than %d", sections.n, maxClaim)}
	}
	if sections.n > maxSections {
		return sections, fmt.Errorf("it has %d sections, more than the %d that can be read", sections.n, maxSections)
	}
	return sections, nil
}

// width is the size of one of two structures, by the file's class.
func (f *elfFile) width(narrow, wide any) int {
	if f.pointerSize == 8 {
		return binary.Size(wide)
	}
	return binary.Size(narrow)
}

// read reads a structure at a place in the file.
func (f *elfFile) read(at uint64, into any) error {
	b, err := f.file.bytes(at, binary.Size(into))
	if err != nil {
		return err
	}
	_, err = binary.Decode(b, f.order, into)
	return err
}

// readLoads reads the headers of what is loaded.
func (f *elfFile) readLoads(header *elf.Header64) error {
	each := f.width(elf.Prog32{}, elf.Prog64{})
	if int(header.Phentsize) != each || header.Phnum > maxSegments {
		return &ClaimError{fmt.Sprintf("%d segments with headers of %d bytes can't be right: want at most %d, with headers of %d bytes",
			header.Phnum, header.Phentsize, maxSegments, each)}
	}
	for i := range uint64(header.Phnum) {
		segment, err := f.segment(header.Phoff + i*uint64(each))
		if err != nil {
			return err
		}
		switch segment.Type {
		case elf.PT_LOAD:
			f.loads = append(f.loads, segment)
		case elf.PT_NOTE:
			f.notes = append(f.notes, segment)
		}
	}
	if len(f.loads) == 0 {
		return errors.New("nothing of it is loaded")
	}
	slices.SortFunc(f.loads, func(a, b elf.ProgHeader) int {
		return cmp.Compare(a.Vaddr, b.Vaddr)
	})
	return nil
}

// segment reads the header of a segment.
func (f *elfFile) segment(at uint64) (elf.ProgHeader, error) {
	var p elf.Prog64
	var err error
	if f.pointerSize == 8 {
		err = f.read(at, &p)
	} else {
		var narrow elf.Prog32
		err = f.read(at, &narrow)
		p = elf.Prog64{Type: narrow.Type, Off: uint64(narrow.Off), Vaddr: uint64(narrow.Vaddr), Filesz: uint64(narrow.Filesz), Align: uint64(narrow.Align)}
	}
	return elf.ProgHeader{Type: elf.ProgType(p.Type), Off: p.Off, Vaddr: p.Vaddr, Filesz: p.Filesz, Align: p.Align}, err
}

// section reads the header of a section.
func (f *elfFile) section(t sectionTable, i uint64) (s elf.Section64, err error) {
	if i >= t.n {
		return s, fmt.Errorf("there is no section %d", i)
	}
	at := t.at + i*uint64(t.each)
	if f.pointerSize == 8 {
		return s, f.read(at, &s)
	}
	var narrow elf.Section32
	err = f.read(at, &narrow)
	return elf.Section64{Type: narrow.Type, Flags: uint64(narrow.Flags), Off: uint64(narrow.Off), Size: uint64(narrow.Size), Link: narrow.Link}, err
}

// readTable takes the symbols that are looked for out of the first table of a kind, if
// there is one. It does not make an object of each, as debug/elf does: there are millions.
func (f *elfFile) readTable(sections sectionTable, kind elf.SectionType, wanted []string) error {
	for i := range sections.n {
		s, err := f.section(sections, i)
		if err != nil {
			return err
		}
		if elf.SectionType(s.Type) != kind {
			continue
		}
		names, err := f.section(sections, uint64(s.Link))
		if err != nil {
			return fmt.Errorf("a symbol table without names: %w", err)
		}
		if (s.Flags|names.Flags)&uint64(elf.SHF_COMPRESSED) != 0 {
			return errors.New("a symbol table is compressed, which can't be right")
		}
		places, err := f.places(names, wanted)
		if err != nil || len(places) == 0 {
			return err
		}
		return f.eachSymbol(s, func(sym elf.Sym64) {
			if name, ok := places[sym.Name]; ok && usable(sym) {
				if _, known := f.symbols[name]; !known {
					f.symbols[name] = symbol{sym.Value, sym.Size}
				}
			}
		})
	}
	return nil
}

// places finds the names that are looked for in a table of names: by where they begin,
// which may be within others that end as they do.
func (f *elfFile) places(names elf.Section64, wanted []string) (map[uint32]string, error) {
	longest := 0
	for _, name := range wanted {
		longest = max(longest, len(name)+1)
	}
	out := map[uint32]string{}
	for at := uint64(0); at < names.Size; at += window {
		// With what follows: a name may begin at the window's end.
		b, err := f.file.bytes(names.Off+at, int(min(names.Size-at, uint64(window+longest))))
		if err != nil {
			return nil, err
		}
		for _, name := range wanted {
			text := append([]byte(name), 0)
			for from := 0; ; from++ {
				i := bytes.Index(b[from:], text)
				if i < 0 || from+i >= window {
					break
				}
				from += i
				if out[uint32(at)+uint32(from)] = name; len(out) > maxPlaces {
					return nil, fmt.Errorf("%s stands in its table of names more often than can be right", name)
				}
			}
		}
	}
	return out, nil
}

// eachSymbol calls f with the symbols of a table.
func (f *elfFile) eachSymbol(s elf.Section64, use func(elf.Sym64)) error {
	each := elf.Sym32Size
	if f.pointerSize == 8 {
		each = elf.Sym64Size
	}
	piece := uint64(window / each * each)
	for at := uint64(0); at+uint64(each) <= s.Size; at += piece {
		b, err := f.file.bytes(s.Off+at, int(min(s.Size-at, piece)))
		if err != nil {
			return err
		}
		for ; len(b) >= each; b = b[each:] {
			use(f.entry(b))
		}
	}
	return nil
}

// entry reads one symbol.
func (f *elfFile) entry(b []byte) elf.Sym64 {
	o := f.order
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

// bias is how far from where it was linked for a file is loaded.
func (f *elfFile) bias(mappings []procfs.Mapping) (uint64, error) {
	page := uint64(os.Getpagesize())
	down := func(v uint64) uint64 { return v - v%page }
	first := f.loads[0]
	for _, m := range mappings {
		if m.Offset != down(first.Off) {
			continue
		}
		// A file can be mapped more than once, to be read. Where it is loaded all of it is.
		bias := m.Start - down(first.Vaddr)
		if !slices.ContainsFunc(f.loads, func(l elf.ProgHeader) bool {
			return l.Filesz > 0 && !slices.ContainsFunc(mappings, func(m procfs.Mapping) bool {
				at := bias + l.Vaddr
				return m.Start <= at && at < m.End
			})
		}) {
			return bias, nil
		}
	}
	return 0, errors.New("where it is loaded can't be told")
}
