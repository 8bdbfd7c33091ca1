package host

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// compiled compiles a library and returns its path.
func compiled(t *testing.T, source string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lib.so")
	gcc := exec.Command("gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", path)
	gcc.Stdin = strings.NewReader(source)
	if out, err := gcc.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

func TestSymbols(t *testing.T) {
	long := strings.Repeat("x", maxIdentifierSize+1)
	path := compiled(t, `int poll(void); __attribute__((weak)) int strdup(void); static int hidden(void) { return poll() + strdup(); }
		int mine(void) { return hidden(); } int mqs_own(void) { return mine(); } int `+long+`;`)
	exports, imports, err := symbols(path)
	if err != nil || !slices.Equal(exports, []string{"mine"}) || !slices.Contains(imports, "poll") || !slices.Contains(imports, "strdup") ||
		slices.Contains(imports, "mine") {
		t.Errorf("exports %q, imports %q, %v", exports, imports, err)
	}
	if _, _, err := symbols("/dev/null"); err == nil {
		t.Error("an empty file has symbols")
	}
}

// TestSymbolsOfOddFiles checks that no claim in the section headers or in the table of symbols makes reading the symbols fail
// other than with an error, and that a table which claims to be huge is refused.
func TestSymbolsOfOddFiles(t *testing.T) {
	path := compiled(t, "int mine(void) { return 0; }")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := elf.NewFile(bytes.NewReader(whole))
	if err != nil || file.Class != elf.ELFCLASS64 {
		t.Skip("the test knows headers of 64 bits")
	}
	const header, sizeField = 64, 32 // sizeof(Elf64_Shdr), and the offset of sh_size
	start := int(file.ByteOrder.Uint64(whole[0x28:]))
	table := file.SectionByType(elf.SHT_DYNSYM)
	tableSize := start + slices.Index(file.Sections, table)*header + sizeField
	claim := func(at int) error {
		odd := bytes.Clone(whole)
		copy(odd[at:], "\xff\xff\xff\xff")
		if err := os.WriteFile(path, odd, 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := symbols(path)
		return err
	}
	for at := start; at < start+len(file.Sections)*header; at += 4 {
		if err := claim(at); at == tableSize && err == nil {
			t.Error("a table of 4 GiB is read")
		}
	}
	for at := table.Offset; at < table.Offset+table.Size; at += 4 {
		_ = claim(int(at))
	}
}
