package main

import (
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"

	"golang.org/x/sync/errgroup"

	"github.com/mpi-queues/mpi-queues/cmd/mpi-queues/internal/tracee"
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// inquiry is one run of gdb, on a process or on a core file.
type inquiry struct {
	pid int
	// rank and size are the process's as its launcher says; host is the machine
	// it is on, empty for this one.
	rank, size mqs.Maybe[int32]
	host       string
	// before is what the process was like before gdb.
	before tracee.State
	// job is what all processes of the job that pid belongs to were like before
	// gdb, if it is to read them all; else nil.
	job []tracee.State
	// program and core are paths; of a process there is only its program, if that is known.
	program, core string
	// obstacle is why gdb need not be tried; phase is what is known then.
	obstacle error
	phase    mqs.Phase
	// options are those of gdb's command mpi-queues.
	options []string
}

func askProcess(pid int) inquiry {
	i := inquiry{pid: pid}
	if i.before, i.obstacle = tracee.Read(pid); i.obstacle == nil {
		i.obstacle = i.before.Obstacle()
	}
	i.program = i.before.Program
	return i
}

func askCore(program, core string) inquiry {
	i := inquiry{program: program, core: core}
	if err := isELF(core, elf.ET_CORE); err != nil {
		i.obstacle = fmt.Errorf("%s is not a core file (%w): name the program and then the core file", core, err)
	} else if err := isELF(program, elf.ET_EXEC, elf.ET_DYN); err != nil {
		i.obstacle = fmt.Errorf("%s is not a program (%w): name the program and then the core file", program, err)
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

// inspect reads what is asked for, several at once, and merges it in that
// order. What can't be read is in the snapshot with its reason. It fails only
// if ctx ends or the gdb is of no use. g may be nil if everything has an obstacle.
func inspect(ctx context.Context, g *gdb, asked []inquiry) (*mqs.Snapshot, error) {
	s := &mqs.Snapshot{Processes: make([]*mqs.Process, len(asked))}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.NumCPU())
	for k, i := range asked {
		group.Go(func() error {
			err := i.obstacle
			var p *mqs.Process
			if err == nil {
				p, err = g.read(ctx, i)
			}
			var useless *uselessError
			if errors.As(err, &useless) {
				return err
			}
			if err != nil {
				p = i.failed(err)
			}
			i.complete(p, k)
			s.Processes[k] = p
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return s, err
	}
	return read.Join(s.Processes), nil
}

// failed is a process that could not be read.
func (i *inquiry) failed(err error) *mqs.Process {
	p := &mqs.Process{PID: i.pid, Image: i.program, Phase: i.phase, Unavailable: i.explain(err).Error()}
	if i.core == "" && i.host == "" && tracee.HasEnded(i.pid) {
		p.Phase = mqs.Exited
	}
	return p
}

// complete gives a process its place in a report, and its rank if only the launcher knows it.
func (i *inquiry) complete(p *mqs.Process, place int) {
	p.Seat(i.rank, i.size)
	p.Inferior = place + 1
	if p.State == "" {
		p.State = mqs.RunStateOf(i.before.State)
	}
}

// explain adds to the error of one gdb what is known of the process.
func (i *inquiry) explain(err error) error {
	var refusal *attachError
	if errors.As(err, &refusal) {
		return tracee.Refused(i.pid, refusal.Reason)
	}
	return err
}
