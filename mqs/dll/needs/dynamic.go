package needs

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// Bounds on what is read of a library, in bytes.
const (
	maxHeaders = 1 << 16
	maxDynamic = 1 << 20
	maxString  = 4096 // a path's length, as for the kernel
)

// dynamic is what a library tells the loader about other libraries.
type dynamic struct {
	needed         []string
	rpath, runpath []string // lists of folders, separated by colons
}

// errNoELF is the error for files that the loader refuses at once.
var errNoELF = errors.New("no ELF file")

// readDynamic reads what a library names. It does not use package debug/elf, which reads as much as the
// file claims to have.
func readDynamic(path string) (*dynamic, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	b := make([]byte, elf.EI_NIDENT)
	if _, err := f.ReadAt(b, 0); err != nil || !bytes.HasPrefix(b, []byte(elf.ELFMAG)) {
		return nil, errNoELF
	}
	l := loader{file: f, order: binary.LittleEndian, wide: elf.Class(b[elf.EI_CLASS]) == elf.ELFCLASS64}
	if elf.Data(b[elf.EI_DATA]) == elf.ELFDATA2MSB {
		l.order = binary.BigEndian
	}
	if err := l.segments(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	d, err := l.dynamic()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return d, nil
}

// platform is what a library is built for. The loader refuses a library of another platform than its program's.
type platform struct {
	class   elf.Class
	data    elf.Data
	machine elf.Machine
}

func (p platform) String() string { return fmt.Sprintf("%v (%v, %v)", p.machine, p.class, p.data) }

// platformOf reads a file's platform.
func platformOf(path string) (p platform, err error) {
	f, err := os.Open(path)
	if err != nil {
		return p, err
	}
	defer func() { _ = f.Close() }()
	var b [elf.EI_NIDENT + 4]byte // e_type and e_machine follow, in both classes
	if _, err := f.ReadAt(b[:], 0); err != nil || !bytes.HasPrefix(b[:], []byte(elf.ELFMAG)) {
		return p, errNoELF
	}
	p = platform{elf.Class(b[elf.EI_CLASS]), elf.Data(b[elf.EI_DATA]), elf.Machine(binary.LittleEndian.Uint16(b[elf.EI_NIDENT+2:]))}
	if p.data == elf.ELFDATA2MSB {
		p.machine = elf.Machine(binary.BigEndian.Uint16(b[elf.EI_NIDENT+2:]))
	}
	return p, nil
}

// loader reads a library as the loader does: by its program headers.
type loader struct {
	file  io.ReaderAt
	order binary.ByteOrder
	wide  bool
	loads []elf.Prog64
	list  *elf.Prog64 // of the dynamic entries, nil if it has none
}

// read reads a structure, or some of them, at an offset.
func (l *loader) read(at uint64, v any) error {
	return binary.Read(io.NewSectionReader(l.file, int64(at), int64(binary.Size(v))), l.order, v)
}

func (l *loader) segments() error {
	var offset uint64
	var count int
	if l.wide {
		var h elf.Header64
		if err := l.read(0, &h); err != nil {
			return err
		}
		offset, count = h.Phoff, int(h.Phnum)
	} else {
		var h elf.Header32
		if err := l.read(0, &h); err != nil {
			return err
		}
		offset, count = uint64(h.Phoff), int(h.Phnum)
	}
	if count*binary.Size(elf.Prog64{}) > maxHeaders {
		return errors.New("it has too many program headers")
	}
	headers := make([]elf.Prog64, count)
	if l.wide {
		if err := l.read(offset, headers); err != nil {
			return err
		}
	} else {
		narrow := make([]elf.Prog32, count)
		if err := l.read(offset, narrow); err != nil {
			return err
		}
		for i, p := range narrow {
			headers[i] = elf.Prog64{Type: p.Type, Off: uint64(p.Off), Vaddr: uint64(p.Vaddr), Filesz: uint64(p.Filesz)}
		}
	}
	for i, p := range headers {
		switch elf.ProgType(p.Type) {
		case elf.PT_LOAD:
			l.loads = append(l.loads, p)
		case elf.PT_DYNAMIC:
			l.list = &headers[i]
		}
	}
	return nil
}

func (l *loader) dynamic() (*dynamic, error) {
	out := &dynamic{}
	if l.list == nil {
		return out, nil
	}
	entries, err := l.entries()
	if err != nil {
		return nil, err
	}
	var table uint64
	for _, e := range entries {
		if elf.DynTag(e.Tag) == elf.DT_STRTAB {
			table = e.Val
		}
	}
	for _, e := range entries {
		var to *[]string
		switch elf.DynTag(e.Tag) {
		case elf.DT_NEEDED, elf.DT_AUXILIARY, elf.DT_FILTER:
			to = &out.needed
		case elf.DT_RPATH:
			to = &out.rpath
		case elf.DT_RUNPATH:
			to = &out.runpath
		default:
			continue
		}
		text, err := l.text(table + e.Val)
		if err != nil {
			return nil, err
		}
		*to = append(*to, text)
	}
	return out, nil
}

// entries returns the dynamic entries up to the one that ends them.
func (l *loader) entries() ([]elf.Dyn64, error) {
	size := binary.Size(elf.Dyn64{})
	if !l.wide {
		size = binary.Size(elf.Dyn32{})
	}
	if l.list.Filesz > maxDynamic {
		return nil, errors.New("it has too many dynamic entries")
	}
	entries := make([]elf.Dyn64, int(l.list.Filesz)/size)
	if l.wide {
		if err := l.read(l.list.Off, entries); err != nil {
			return nil, err
		}
	} else {
		narrow := make([]elf.Dyn32, len(entries))
		if err := l.read(l.list.Off, narrow); err != nil {
			return nil, err
		}
		for i, e := range narrow {
			entries[i] = elf.Dyn64{Tag: int64(e.Tag), Val: uint64(e.Val)}
		}
	}
	for i, e := range entries {
		if elf.DynTag(e.Tag) == elf.DT_NULL {
			return entries[:i], nil
		}
	}
	return entries, nil
}

// text returns the C string at an address in the library as linked.
func (l *loader) text(addr uint64) (string, error) {
	for _, p := range l.loads {
		if addr < p.Vaddr || addr-p.Vaddr >= p.Filesz {
			continue
		}
		b := make([]byte, min(maxString, p.Filesz-(addr-p.Vaddr)))
		n, err := l.file.ReadAt(b, int64(p.Off+addr-p.Vaddr))
		if end := bytes.IndexByte(b[:n], 0); end >= 0 {
			return string(b[:end]), nil
		}
		if err != nil {
			return "", err
		}
	}
	return "", fmt.Errorf("it has no name at %#x", addr)
}
