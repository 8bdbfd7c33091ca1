package jobs

import (
	"debug/elf"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
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

// coreOf writes what the kernel does of a process that runs a program: notes with where the headers of its segments and its files are,
// and the first page of the program. It returns the core file's path and size.
func coreOf(t *testing.T, program string) (path string, size int64) {
	t.Helper()
	const page, address = 4096, 0x555500000000
	text, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	order := binary.LittleEndian
	var notes []byte
	note := func(kind uint32, words []uint64, paths string) {
		desc, _ := binary.Append(nil, order, words)
		desc = append(desc, paths...)
		notes, _ = binary.Append(notes, order, []uint32{5, uint32(len(desc)), kind})
		notes = append(append(notes, "CORE\x00\x00\x00\x00"...), desc...)
		notes = append(notes, make([]byte, -len(notes)&3)...)
	}
	note(6, []uint64{3, address + 64, 0, 0}, "")
	note(0x46494c45, []uint64{1, page, address, address + page, 0}, "/path/that/ran\x00")
	header := elf.Header64{
		Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type:  uint16(elf.ET_CORE), Ehsize: 64, Phoff: 64, Phentsize: 56, Phnum: 2,
	}
	file, _ := binary.Append(nil, order, header)
	file, _ = binary.Append(file, order, []elf.Prog64{
		{Type: uint32(elf.PT_NOTE), Off: 64 + 2*56, Filesz: uint64(len(notes))},
		{Type: uint32(elf.PT_LOAD), Off: page, Vaddr: address, Filesz: page},
	})
	file = append(file, notes...)
	file = append(append(file, make([]byte, page-len(file))...), text[:page]...)
	path = filepath.Join(t.TempDir(), "core")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	return path, int64(len(file))
}

// TestCoreOfAnother checks that a core file is refused that another build of the program has left, and one that is compressed; and that
// it is said how much is missing of one that was cut off, which gdb may read all the same.
func TestCoreOfAnother(t *testing.T) {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 || ^uint(0)>>32 == 0 || runtime.GOOS != "linux" {
		t.Skip("the core file is one of Linux's, of 64 bits and little endian")
	}
	ran, err1 := exec.LookPath("sleep")
	other, err2 := exec.LookPath("sh")
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	core, size := coreOf(t, ran)
	if i := Core(ran, core); i.obstacle != nil || i.remark != "" {
		t.Errorf("%v, %q", i.obstacle, i.remark)
	}
	i := Core(other, core)
	if i.obstacle == nil || !strings.Contains(i.obstacle.Error(), "core does not belong to "+other+" (build id ") || !strings.Contains(i.obstacle.Error(), "): /path/that/ran (build id ") {
		t.Error(i.obstacle)
	}
	if err := os.Truncate(core, size-10); err != nil {
		t.Fatal(err)
	}
	if i := Core(ran, core); i.obstacle != nil || !strings.Contains(i.remark, "core is truncated: 10 of its 8192 bytes are missing") {
		t.Errorf("%v, %q", i.obstacle, i.remark)
	}
	for name, magic := range compressions {
		path := filepath.Join(t.TempDir(), "my core")
		if err := os.WriteFile(path, []byte(magic+"..."), 0o600); err != nil {
			t.Fatal(err)
		}
		i := Core(ran, path)
		if want := path + " is compressed: unpack it (" + name + " -dc '" + path + "' > FILE) and name FILE instead"; i.obstacle == nil || i.obstacle.Error() != want {
			t.Errorf("%v, want %s", i.obstacle, want)
		}
	}
}
