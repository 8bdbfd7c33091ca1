package jobs

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/mpi-queues/mpi-queues/mqs/procmem"
)

// Core asks for a core file and its program.
func Core(program, core string) Inquiry {
	i := Inquiry{program: program, core: core}
	if err := isELF(core, elf.ET_CORE); err != nil {
		i.obstacle = fmt.Errorf("%s is not a core file (%w): name the program and then the core file", core, err)
	} else if err := isELF(program, elf.ET_EXEC, elf.ET_DYN); err != nil {
		i.obstacle = fmt.Errorf("%s is not a program (%w): name the program and then the core file", program, err)
	} else if err := procmem.CheckFile(program); err != nil {
		i.obstacle = fmt.Errorf("%s is unsafe to debug: %w", program, err)
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

// isELF says why a file is not of one of these kinds. No more than the beginning of it is
// looked at: whoever made it may claim anything of the rest.
func isELF(path string, kinds ...elf.Type) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() { // asked before it is opened: a pipe may never be
		err = errors.New("it is no regular file")
	}
	var f *os.File
	if err == nil {
		f, err = os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	}
	if err != nil {
		var p *os.PathError
		if errors.As(err, &p) {
			return p.Err
		}
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
