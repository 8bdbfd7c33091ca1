package host

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// Bounds on what is read of a DLL's file.
const (
	maxFile    = 256 << 20 // bytes
	maxSymbols = 1 << 14
)

// linkers are the names that linkers define in every library.
var linkers = []string{"_init", "_fini", "_edata", "_end", "_etext", "__bss_start"}

// readELF opens a DLL's file for read. Package debug/elf allocates what a file claims to have, and panics on some files.
func readELF(path string, read func(*elf.File) error) (err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("%v", panicked)
		}
	}()
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	file, err := elf.NewFile(io.NewSectionReader(f, 0, maxFile))
	if err != nil {
		return err
	}
	return read(file)
}

// symbols returns the names that a DLL's file defines for other libraries and those that it takes from them. Both lists are
// sorted. The interface's own names are left out.
func symbols(path string) (exports, imports []string, err error) {
	err = readELF(path, func(f *elf.File) error {
		return eachSymbol(f, func(name string, s elf.Sym64) {
			binding, visibility := elf.ST_BIND(s.Info), elf.ST_VISIBILITY(s.Other)
			switch {
			case binding != elf.STB_GLOBAL && binding != elf.STB_WEAK || strings.HasPrefix(name, "mqs_"):
			case elf.SectionIndex(s.Shndx) == elf.SHN_UNDEF:
				imports = append(imports, name)
			case visibility == elf.STV_DEFAULT && !slices.Contains(linkers, name):
				exports = append(exports, name)
			}
		})
	})
	slices.Sort(exports)
	slices.Sort(imports)
	return slices.Compact(exports), slices.Compact(imports), err
}

// eachSymbol calls f for the dynamic symbols of a file. Names longer than maxIdentifierSize are skipped.
// [elf.File.DynamicSymbols] would copy each name in whole, however long the file claims it to be.
func eachSymbol(file *elf.File, f func(name string, s elf.Sym64)) error {
	table := file.SectionByType(elf.SHT_DYNSYM)
	if table == nil || uint64(table.Link) >= uint64(len(file.Sections)) {
		return errors.New("no table of dynamic symbols")
	}
	size := uint64(elf.Sym64Size)
	if file.Class == elf.ELFCLASS32 {
		size = elf.Sym32Size
	}
	text := file.Sections[table.Link]
	if table.Size > maxSymbols*size || text.Size > maxSection {
		return fmt.Errorf("more than %d dynamic symbols, or more than %d MiB of names", maxSymbols, maxSection>>20)
	}
	names, err := text.Data()
	if err != nil {
		return err
	}
	for entries, left := table.Open(), table.Size/size; left > 0; left-- {
		var s elf.Sym64
		if file.Class == elf.ELFCLASS32 {
			var narrow elf.Sym32
			err = binary.Read(entries, file.ByteOrder, &narrow)
			s = elf.Sym64{Name: narrow.Name, Info: narrow.Info, Other: narrow.Other, Shndx: narrow.Shndx}
		} else {
			err = binary.Read(entries, file.ByteOrder, &s)
		}
		if err != nil {
			return err
		}
		name := names[min(uint64(s.Name), uint64(len(names))):]
		if end := bytes.IndexByte(name[:min(len(name), maxIdentifierSize+1)], 0); end > 0 {
			f(string(name[:end]), s)
		}
	}
	return nil
}
