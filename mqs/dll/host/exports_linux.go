package host

import (
	"debug/elf"
	"slices"
	"strings"
)

// maxExports is how many of a DLL's names are told.
const maxExports = 1 << 10

// linkers are the names that linkers define in every library.
var linkers = []string{"_init", "_fini", "_edata", "_end", "_etext", "__bss_start"}

// exports are the names that a DLL's file defines for others, without those that
// begin as the interface's do.
func exports(path string) (names []string) {
	defer func() {
		if recover() != nil {
			names = nil // debug/elf on an odd file
		}
	}()
	f, err := elf.Open(path)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	for _, s := range f.Sections {
		if (s.Type == elf.SHT_DYNSYM || s.Type == elf.SHT_STRTAB) && s.Size > maxSection {
			return nil
		}
	}
	symbols, err := f.DynamicSymbols()
	if err != nil {
		return nil
	}
	for _, s := range symbols {
		binding, visibility := elf.ST_BIND(s.Info), elf.ST_VISIBILITY(s.Other)
		if s.Section == elf.SHN_UNDEF || binding != elf.STB_GLOBAL && binding != elf.STB_WEAK || visibility != elf.STV_DEFAULT ||
			strings.HasPrefix(s.Name, "mqs_") || slices.Contains(linkers, s.Name) {
			continue
		}
		if len(s.Name) <= maxIdentifierSize && len(names) < maxExports {
			names = append(names, s.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
