package jobs

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/commandline"
	"github.com/mpi-queues/mpi-queues/mqs/procmem"
)

// Core asks for a core file and its program.
func Core(program, core string) Inquiry {
	i := Inquiry{program: program, core: core}
	if name := compression(core); name != "" {
		i.obstacle = fmt.Errorf("%s is compressed: unpack it (%s -dc %s > FILE) and name FILE instead", core, name, commandline.Quote(core))
	} else if err := isELF(core, elf.ET_CORE); err != nil {
		i.obstacle = fmt.Errorf("%s is not a core file (%w): name the program and then the core file", core, err)
	} else if err := isELF(program, elf.ET_EXEC, elf.ET_DYN); err != nil {
		i.obstacle = fmt.Errorf("%s is not a program (%w): name the program and then the core file", program, err)
	} else if err := procmem.CheckFile(program); err != nil {
		i.obstacle = fmt.Errorf("%s is unsafe to debug: %w", program, err)
	} else {
		i.remark, i.obstacle = checkCore(program, core)
	}
	// A path that begins with "-" would be an option to gdb.
	if path, err := filepath.Abs(program); err == nil {
		i.program = path
	}
	if path, err := filepath.Abs(core); err == nil {
		i.core = path
	}
	return i
}

// Cores asks for the core files of processes that had the same program.
func Cores(program string, cores []string) []Inquiry {
	asked := make([]Inquiry, len(cores))
	for k, core := range cores {
		asked[k] = Core(program, core)
	}
	return asked
}

// checkCore fails if a core file is not the program's, by their build ids. The remark says what is missing of it.
func checkCore(program, core string) (remark string, err error) {
	of, err := procmem.ReadCore(core)
	if err != nil {
		return "", nil //nolint:nilerr // gdb will say what is wrong
	}
	if id := procmem.BuildID(program); id != "" && of.BuildID != "" && !slices.Contains(of.Files, id) {
		return "", fmt.Errorf("%s does not belong to %s (build id %s): %s (build id %s) left it; name the program that ran",
			core, program, id, cmp.Or(of.Program, "another program"), of.BuildID)
	}
	if of.Size < of.Whole {
		remark = fmt.Sprintf("%s is truncated: %d of its %d bytes are missing: the disk may have been full, or the limit of core files (`ulimit -c') too low",
			core, of.Whole-of.Size, of.Whole)
	}
	return remark, nil
}

// compressions are how files begin that were compressed, by the names of the programs that unpack them.
var compressions = map[string]string{
	"zstd": "\x28\xb5\x2f\xfd", "lz4": "\x04\x22\x4d\x18", "gzip": "\x1f\x8b", "xz": "\xfd7zXZ\x00", "bzip2": "BZh",
}

// compression returns the name of the program that unpacks a file, empty if it is not compressed.
func compression(path string) string {
	f, err := openRegular(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	start := make([]byte, 8)
	n, _ := io.ReadFull(f, start)
	for name, magic := range compressions {
		if strings.HasPrefix(string(start[:n]), magic) {
			return name
		}
	}
	return ""
}

// openRegular opens a file, which must be a regular one.
func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() { // asked before it is opened: a pipe may never be
		err = errors.New("it is no regular file")
	}
	var f *os.File
	if err == nil {
		f, err = os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	}
	var p *os.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return f, err
}

// isELF says why a file is not of one of these kinds. No more than the beginning of it is
// looked at: whoever made it may claim anything of the rest.
func isELF(path string, kinds ...elf.Type) error {
	f, err := openRegular(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	var header [elf.EI_NIDENT + 2]byte // e_ident and e_type
	if _, err := io.ReadFull(f, header[:]); err != nil || string(header[:len(elf.ELFMAG)]) != elf.ELFMAG {
		return errors.New("it is no ELF file")
	}
	var order binary.ByteOrder = binary.LittleEndian
	if elf.Data(header[elf.EI_DATA]) == elf.ELFDATA2MSB {
		order = binary.BigEndian
	}
	if kind := elf.Type(order.Uint16(header[elf.EI_NIDENT:])); !slices.Contains(kinds, kind) {
		return fmt.Errorf("its ELF type is %s", kind)
	}
	return nil
}
