package host

import (
	"bytes"
	"debug/elf"
	"slices"
)

// Bounds on the names that are taken out of a DLL's file.
const (
	maxIdentifiers    = 1 << 10
	maxIdentifierSize = 128
	maxSection        = 16 << 20
)

// identifiers are the C identifiers among the constant strings of a DLL: the
// names that it may ask for stand in its file, so that the types and members
// among them can be asked for at once. It is nil if there are too many to ask.
func identifiers(path string) (names []string) {
	err := readELF(path, func(f *elf.File) error {
		for _, s := range f.Sections {
			if s.Type != elf.SHT_PROGBITS || s.Flags&elf.SHF_ALLOC == 0 || s.Flags&elf.SHF_EXECINSTR != 0 || s.Size > maxSection {
				continue
			}
			data, err := s.Data()
			if err != nil {
				continue
			}
			for word := range bytes.SplitSeq(data, []byte{0}) {
				if isIdentifier(word) {
					names = append(names, string(word))
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil // the names are then asked for one by one
	}
	slices.Sort(names)
	if names = slices.Compact(names); len(names) > maxIdentifiers {
		return nil
	}
	return names
}

func isIdentifier(word []byte) bool {
	if len(word) < 2 || len(word) > maxIdentifierSize {
		return false
	}
	for i, c := range word {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return true
}
