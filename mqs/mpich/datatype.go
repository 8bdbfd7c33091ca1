package mpich

import (
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

const (
	maxName     = 256        // bytes; MPI_MAX_OBJECT_NAME is 128
	packed      = 0x4c00010f // MPI_PACKED (src/include/mpi.h.in, 4.0 to 5.0)
	maxTypeSize = 1 << 48    // bytes
)

// datatypeInfo is what is shown of a datatype.
type datatypeInfo struct {
	name mqs.Maybe[string] // empty of a type that has none
	size mqs.Maybe[int64]  // bytes of data in one element
}

// datatypeOf reads a datatype by its handle, once. What can't be read is unknown.
func (s *source) datatypeOf(handle uint32) datatypeInfo {
	if d, ok := s.datatypes[handle]; ok {
		return d
	}
	var info datatypeInfo
	switch storage(handle) {
	case handleBuiltin:
		// Its size is a part of the handle, its number the last byte.
		info.size = mqs.Known(int64(handle >> 8 & 0xff))
		at := s.symbols[symDatatypes].Addr + inferior.Addr(handle&0xff)*inferior.Addr(s.Datatype.Size())
		// From 5.0 requests hold the library's own type of that size instead of the program's.
		if name := s.datatypeAt(at, handle).name; strings.HasPrefix(name.Value, "MPI_") {
			info.name = name
		}
	case handleDirect, handleIndirect:
		if p := s.datatypePool(); p != nil {
			info = s.datatypeAt(p.object(handle), handle)
		}
	}
	s.datatypes[handle] = info
	return info
}

// datatypeAt reads the datatype at a, if that is the one of the handle and has not been freed.
func (s *source) datatypeAt(a inferior.Addr, handle uint32) datatypeInfo {
	d, err := s.Datatype.ReadAt(s.r, a)
	if err != nil || d.Handle != handle || d.Size < 0 || d.Size > maxTypeSize || d.RefCount <= 0 && storage(handle) != handleBuiltin {
		return datatypeInfo{}
	}
	info := datatypeInfo{size: mqs.Known(d.Size)}
	if name, err := d.Name.Read(s.r, maxName); err == nil {
		info.name = mqs.Known(name)
	}
	return info
}

func (s *source) datatypePool() *openPool {
	if !s.poolOfTypesRead {
		s.poolOfTypesRead = true
		p, err := s.openPool(s.symbols[symDatatypePool].Addr, symDatatypePool, s.Datatype.Size())
		if err != nil {
			s.notef("derived datatypes are not known: %v", err)
		}
		s.poolOfTypes = p
	}
	return s.poolOfTypes
}
