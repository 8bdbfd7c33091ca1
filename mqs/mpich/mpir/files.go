package mpir

import (
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Files of ROMIO (src/mpi/romio/adio/include/adio.h and adioi.h, 4.0 to 5.0).
const (
	fileCookie    = 2487376 // ADIOI_FILE_COOKIE, which every open file begins with
	noFortranFile = -1
	nullFile      = "MPI_FILE_NULL"
)

// accessModes are the bits of MPI_MODE_RDONLY and its like (src/mpi/romio/include/mpio.h.in).
var accessModes = []struct {
	bit  int32
	name string
}{
	{1, "MPI_MODE_CREATE"}, {2, "MPI_MODE_RDONLY"}, {4, "MPI_MODE_WRONLY"}, {8, "MPI_MODE_RDWR"}, {16, "MPI_MODE_DELETE_ON_CLOSE"},
	{32, "MPI_MODE_UNIQUE_OPEN"}, {64, "MPI_MODE_EXCL"}, {128, "MPI_MODE_APPEND"}, {256, "MPI_MODE_SEQUENTIAL"},
}

// Files are not known: ROMIO has no list of them (read.Lister).
func (s *Source) Files() []mqs.File { return nil }

// resolveFile finds out what an MPI_File is: in C a pointer, in Fortran a place in a table.
func (s *Source) resolveFile(h *mqs.Handle, v mqs.HandleValue) {
	if v.Value == 0 {
		h.State, h.Name = mqs.NullHandle, mqs.Known(nullFile)
		return
	}
	l := s.lib
	if !l.o.file.File.Bound() {
		h.Notes = append(h.Notes, "what it stands for can't be told: this library's types do not tell what a file is")
		return
	}
	at := inferior.Ptr[file](v.Value)
	if v.Fortran {
		var ok bool
		if at, ok = l.fortranFile(v); !ok {
			h.State = mqs.InvalidHandle
			return
		}
	}
	f, ok := l.fileAt(at)
	if !ok {
		h.State = mqs.InvalidHandle
		return
	}
	h.State, h.File = mqs.LiveHandle, &mqs.File{Handle: at.Addr(), Name: s.nameOf(f.Name), AccessMode: []string{}}
	for _, mode := range accessModes {
		if f.Mode&mode.bit != 0 {
			h.File.AccessMode = append(h.File.AccessMode, mode.name)
		}
	}
	h.Name = h.File.Name
	if f.Fortran != noFortranFile {
		h.File.FortranHandle = mqs.Known(f.Fortran)
		h.FortranHandle = h.File.FortranHandle
	}
	for _, c := range s.communicators().all {
		if c.Handle == f.Comm {
			h.Communicator = communicatorOf(c)
			h.Communicator.File = h.Name
			h.File.Comm, h.File.LocalRank, h.File.Size = mqs.Known(c.Model.UniqueID), c.Model.LocalRank, c.Model.Size
		}
	}
}

// fileAt is the file at an address; false if there is none.
func (l *Library) fileAt(at inferior.Ptr[file]) (f file, ok bool) {
	f, err := l.o.file.File.Read(l.Reader, at)
	return f, err == nil && f.Cookie == fileCookie
}

// fortranFile is the file of a Fortran handle; false if there is none.
func (l *Library) fortranFile(v mqs.HandleValue) (inferior.Ptr[file], bool) {
	table, ok1 := l.Symbols[symFortranFiles]
	last, ok2 := l.Symbols[symLastFortranFile]
	number, ok3 := Number(v)
	if !ok1 || !ok2 || !ok3 {
		return 0, false
	}
	n, err := l.Reader.Int(last.Addr, 4)
	if err != nil || int32(number) < 0 || int64(number) > n {
		return 0, false
	}
	first, err := l.Reader.Pointers(table.Addr, 1)
	if err != nil {
		return 0, false
	}
	width := inferior.Addr(l.Reader.Info().PointerSize)
	at, err := l.Reader.Pointers(first[0]+inferior.Addr(number)*width, 1)
	if err != nil || at[0] == 0 {
		return 0, false
	}
	return inferior.Ptr[file](at[0]), true
}
