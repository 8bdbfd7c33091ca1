package mpir

import (
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// MaxName is how many bytes of a name are read; MPI_MAX_OBJECT_NAME is 128.
const MaxName = 256

const (
	packed      = 0x4c00010f // MPI_PACKED (src/include/mpi.h.in, 4.0 to 5.0)
	maxTypeSize = 1 << 48    // bytes
)

// Datatype is what is shown of a datatype.
type Datatype struct {
	Name mqs.Maybe[string] // empty of a type that has none
	Size mqs.Maybe[int64]  // bytes of data in one element
}

// datatypes are those that have been read.
type datatypes struct {
	byHandle map[uint32]Datatype
	pool     *openPool[datatype] // of derived ones, nil if it has not been read or can't be
	isRead   bool                // whether it has been tried
}

// Datatype reads a datatype by its handle, once. What can't be read is unknown.
func (l *Library) Datatype(handle uint32) Datatype {
	if d, ok := l.datatypes.byHandle[handle]; ok {
		return d
	}
	var out Datatype
	switch storage(handle) {
	case handleBuiltin:
		// Its size is a part of the handle, its number the last byte.
		out.Size = mqs.Known(int64(handle >> 8 & 0xff))
		// From 5.0 requests hold the library's own type of that size instead of the program's.
		if name := l.datatypeAt(l.builtinDatatype(int(handle&0xff)), handle).Name; strings.HasPrefix(name.Value, "MPI_") {
			out.Name = name
		}
	case handleDirect, handleIndirect:
		if p := l.datatypePool(); p != nil {
			out = l.datatypeAt(p.object(handle), handle)
		}
	}
	if l.datatypes.byHandle == nil {
		l.datatypes.byHandle = map[uint32]Datatype{}
	}
	l.datatypes.byHandle[handle] = out
	return out
}

// builtinDatatype is where the i-th predefined datatype is.
func (l *Library) builtinDatatype(i int) inferior.Ptr[datatype] {
	return l.c.Datatype.Index(inferior.Ptr[datatype](l.Symbols[symDatatypes].Addr), i)
}

// datatypeAt reads the datatype at a, if that is the one of the handle and has not been freed.
func (l *Library) datatypeAt(a inferior.Ptr[datatype], handle uint32) Datatype {
	d, err := l.c.Datatype.Read(l.Reader, a)
	if err != nil || d.Handle != handle || d.Size < 0 || d.Size > maxTypeSize || d.RefCount <= 0 && !IsBuiltin(handle) {
		return Datatype{}
	}
	out := Datatype{Size: mqs.Known(d.Size)}
	if name, err := d.Name.Read(l.Reader, MaxName); err == nil {
		out.Name = mqs.Known(name)
	}
	return out
}

func (l *Library) datatypePool() *openPool[datatype] {
	if !l.datatypes.isRead {
		l.datatypes.isRead = true
		p, err := readPool(l, inferior.Ptr[pool](l.Symbols[symDatatypePool].Addr), symDatatypePool, &l.c.Datatype)
		if err != nil {
			l.Remarks.Notef("derived datatypes are not known: %v", err)
		}
		l.datatypes.pool = p
	}
	return l.datatypes.pool
}
