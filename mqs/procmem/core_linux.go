package procmem

import (
	"bytes"
	"debug/elf"
	"errors"
	"io"
	"strings"
)

const (
	// maxCoreHeaders bounds what is read of a core file's headers and notes, in bytes, and maxCoreNotes its notes.
	maxCoreHeaders, maxCoreNotes = 16 << 20, 4 << 20
)

// Core is what the headers of a core file say of it.
type Core struct {
	// Size is the file's size in bytes, Whole the size that its headers describe.
	Size, Whole uint64
	// BuildID is that of the program that ran, in hex, and Program its path; empty if they are not in the file.
	BuildID, Program string
	// Files are the build ids of all programs and libraries. After `ld.so PROGRAM', BuildID is the loader's, and the program's is here.
	Files []string
}

// ReadCore reads the headers of a core file. It fails if the file is no core file.
func ReadCore(path string) (*Core, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	e := &elfFile{file: &counted{ReaderAt: f, size: info.Size(), left: newBudget(maxCoreHeaders)}}
	header, err := e.readHeader()
	if err != nil {
		return nil, err
	}
	if elf.Type(header.Type) != elf.ET_CORE || int(header.Phentsize) != e.width(elf.Prog32{}, elf.Prog64{}) {
		return nil, errors.New("no core file")
	}
	out := &Core{Size: uint64(info.Size()), Whole: header.Phoff + uint64(header.Phnum)*uint64(header.Phentsize)}
	for i := range uint64(header.Phnum) {
		p, err := e.segment(header.Phoff + i*uint64(header.Phentsize))
		if err != nil {
			return out, nil //nolint:nilerr // it is cut off
		}
		if end := p.Off + p.Filesz; end >= p.Off {
			out.Whole = max(out.Whole, end)
		}
		switch p.Type {
		case elf.PT_LOAD:
			e.loads = append(e.loads, p)
		case elf.PT_NOTE:
			e.notes = append(e.notes, p)
		}
	}
	e.program(out)
	return out, nil
}

// program fills in what the core file has of its program: the kernel gave it the address of its segments' headers, which follow
// the file's header in memory.
func (f *elfFile) program(out *Core) {
	at := uint64(0)
	var files []byte
	f.eachCoreNote(func(kind uint32, text []byte) {
		const auxv, file, phdr = 6, 0x46494c45, 3 // NT_AUXV, NT_FILE, AT_PHDR (elf.h)
		words := f.words(text)
		switch kind {
		case auxv:
			for i := 0; i+1 < len(words) && at == 0; i += 2 {
				if words[i] == phdr {
					at = words[i+1]
				}
			}
		case file:
			files = bytes.Clone(text)
		}
	})
	for _, load := range f.loads {
		image := io.NewSectionReader(f.file, int64(load.Off), int64(load.Filesz))
		memory := &elfFile{file: &counted{ReaderAt: image, size: int64(load.Filesz), left: f.file.left}}
		if _, err := memory.readHeaders(); err != nil {
			continue
		}
		id := memory.noted()
		out.Files = append(out.Files, id)
		if at != 0 && load.Vaddr <= at && at-load.Vaddr < load.Filesz {
			out.BuildID, out.Program = id, f.mapped(files, load.Vaddr)
		}
	}
	if f.file.left.spend(0) != nil { // not all was read
		out.BuildID = ""
	}
}

// eachCoreNote calls use with the kinds and texts of a core file's own notes.
func (f *elfFile) eachCoreNote(use func(kind uint32, text []byte)) {
	for _, segment := range f.notes {
		if segment.Filesz > maxCoreNotes {
			continue
		}
		notes, err := f.file.bytes(segment.Off, int(segment.Filesz))
		if err != nil {
			return
		}
		notes = bytes.Clone(notes)
		for n := range f.eachNote(notes, 4) {
			if n.name == "CORE\x00" {
				use(n.kind, n.text)
			}
		}
	}
}

// words are the numbers of the width of a pointer in a text.
func (f *elfFile) words(text []byte) []uint64 {
	var out []uint64
	for ; len(text) >= f.pointerSize; text = text[f.pointerSize:] {
		if f.pointerSize == 8 {
			out = append(out, f.order.Uint64(text))
		} else {
			out = append(out, uint64(f.order.Uint32(text)))
		}
	}
	return out
}

// mapped returns the path of the file that is mapped at an address, by a note of type NT_FILE: the number of mappings and the page's size,
// three numbers for each mapping, and their paths.
func (f *elfFile) mapped(note []byte, addr uint64) string {
	words := f.words(note)
	if len(words) < 2 || words[0] > uint64(len(words)-2)/3 {
		return ""
	}
	n := int(words[0])
	paths := strings.Split(string(note[(2+3*n)*f.pointerSize:]), "\x00")
	for i := range min(n, len(paths)) {
		if words[2+3*i] == addr {
			return paths[i]
		}
	}
	return ""
}
