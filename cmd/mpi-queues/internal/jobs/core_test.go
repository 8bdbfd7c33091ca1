package jobs

import (
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A pipe is no core file, and is not waited for.
func TestPipeIsNoCore(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "core")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := isELF(pipe, elf.ET_CORE); err == nil || err.Error() != "it is no regular file" {
		t.Error(err)
	}
}

// TestProgramOfCoreClaims checks that gdb is not given a program that claims to have 2^25 sections.
func TestProgramOfCoreClaims(t *testing.T) {
	header := elf.Header64{
		Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type:  uint16(elf.ET_CORE), Ehsize: 64, Phentsize: 56, Shoff: 64, Shentsize: 64, // Shnum is 0: the first section has it
	}
	write := func(kind elf.Type) string {
		header.Type = uint16(kind)
		file, err := binary.Append(nil, binary.LittleEndian, header)
		if err == nil {
			file, err = binary.Append(file, binary.LittleEndian, elf.Section64{Size: 1 << 25})
		}
		path := filepath.Join(t.TempDir(), "file")
		if err == nil {
			err = os.WriteFile(path, file, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	i := Core(write(elf.ET_EXEC), write(elf.ET_CORE))
	if i.obstacle == nil || !strings.Contains(i.obstacle.Error(), "is unsafe to debug: 33554432 sections can't be right") {
		t.Error(i.obstacle)
	}
}
