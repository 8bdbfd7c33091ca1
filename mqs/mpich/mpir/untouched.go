package mpir

import (
	"debug/elf"
	"errors"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// MPI_Init sets variables that start as zero, and MPI_Finalize leaves values in some of them. So a program has not called MPI_Init
// if the whole zero-initialized data of its MPI library is still zero. This needs neither symbols nor types of the library.

// symDebug is the dynamic linker's struct r_debug (link.h), which lists the files that it has loaded.
const symDebug = "_r_debug"

const (
	maxLoaded = 4096     // files that are looked at
	maxZeros  = 16 << 20 // bytes of data: libraries of distributions have 300 KiB, those of wheels 4 MiB
	minZeros  = 64 << 10 // a library with less does not keep MPICH's objects there
)

// OrNotStarted returns why a process can't be read: that it has not called MPI_Init if its data proves that, else err. of is a symbol
// of the library.
func OrNotStarted(r *inferior.Reader, of inferior.Symbol, err error) error {
	var u *read.UnreadableError
	if !errors.As(err, &u) || u.Phase != "" || !IsUntouched(r, of) {
		return err
	}
	return read.Nothing(u.MPI, mqs.Starting, "the program has not called MPI_Init yet, so it has no message queues")
}

// IsUntouched reports whether the zero-initialized data of the file that a symbol is in is known to be as it was when the file was
// loaded.
func IsUntouched(r *inferior.Reader, of inferior.Symbol) bool {
	start, size := zeros(r, of.Addr)
	if size < minZeros || size > maxZeros {
		return false
	}
	for n := inferior.Addr(0); n < size; n += imageStep {
		b, err := r.Bytes(start+n, int(min(imageStep, size-n)))
		if err != nil {
			return false
		}
		for _, c := range b {
			if c != 0 {
				return false
			}
		}
	}
	return true
}

// zeros returns the zero-initialized data of the loaded file that an address is in; no bytes if it is unknown.
func zeros(r *inferior.Reader, in inferior.Addr) (start, size inferior.Addr) {
	base, ok := loadedAt(r, in)
	if !ok {
		return 0, 0
	}
	word := r.Info().PointerSize
	var header struct{ entries, size, count int } // where an ELF header has them
	var file, memory, place int                   // where a program header has p_filesz, p_memsz and p_vaddr
	flags := 4
	if word == 8 {
		header.entries, header.size, header.count = 32, 54, 56
		place, file, memory = 16, 32, 40
	} else {
		header.entries, header.size, header.count = 28, 42, 44
		place, file, memory, flags = 8, 16, 20, 24
	}
	magic, err := r.Bytes(base, len(elf.ELFMAG))
	if err != nil || string(magic) != elf.ELFMAG {
		return 0, 0
	}
	read := func(at inferior.Addr, size int) inferior.Addr {
		n, e := r.Uint(at, size)
		if e != nil {
			err = e
		}
		return inferior.Addr(n)
	}
	at, each, count := base+read(base+inferior.Addr(header.entries), word), read(base+inferior.Addr(header.size), 2), read(base+inferior.Addr(header.count), 2)
	hasSymbol := false
	for ; count > 0 && err == nil; count, at = count-1, at+each {
		if elf.ProgType(read(at, 4)) != elf.PT_LOAD {
			continue
		}
		from, inFile, inMemory := base+read(at+inferior.Addr(place), word), read(at+inferior.Addr(file), word), read(at+inferior.Addr(memory), word)
		hasSymbol = hasSymbol || in >= from && in-from < inMemory
		if elf.ProgFlag(read(at+inferior.Addr(flags), 4))&elf.PF_W != 0 && inMemory > inFile {
			start, size = from+inFile, inMemory-inFile
		}
	}
	if err != nil || !hasSymbol {
		return 0, 0
	}
	return start, size
}

// loadedAt returns where the file that an address is in has been loaded.
func loadedAt(r *inferior.Reader, in inferior.Addr) (base inferior.Addr, ok bool) {
	found, err := r.Symbols(r.Told([]string{symDebug})...)
	debug, has := found[symDebug]
	if err != nil || !has {
		return 0, false
	}
	// struct r_debug begins with a version and, in the next word, the first struct link_map. This begins with the file's address,
	// and has the next one after its name and its dynamic section.
	word := inferior.Addr(r.Info().PointerSize)
	next, err := r.Pointers(debug.Addr+word, 1)
	for range maxLoaded {
		if err != nil || next[0] == 0 {
			break
		}
		var entry []inferior.Addr
		if entry, err = r.Pointers(next[0], 4); err == nil {
			if at := entry[0]; at <= in && at > base {
				base = at
			}
			next = entry[3:]
		}
	}
	return base, err == nil && base != 0
}
