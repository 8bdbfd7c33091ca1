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
	byteType    = 0x4c00010d // MPI_BYTE
	maxTypeSize = 1 << 48    // bytes
)

// Datatype is what is shown of a datatype.
type Datatype struct {
	Name mqs.Maybe[string] // empty of a type that has none
	Size mqs.Maybe[int64]  // bytes of data in one element
}

// datatypes are those that have been read.
type datatypes struct {
	byHandle      map[uint32]Datatype
	constructions map[nested]string
	isRemarked    bool // that derived ones can't be read
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
		program, _ := programsDatatype(handle)
		if name := l.datatypeAt(l.builtinDatatype(int(program&handleNumber)), program).Name; strings.HasPrefix(name.Value, "MPI_") {
			out.Name = name
		}
	case handleDirect, handleIndirect:
		if d, ok := l.derived(handle); ok {
			out = l.shown(&d)
		}
	}
	if l.datatypes.byHandle == nil {
		l.datatypes.byHandle = map[uint32]Datatype{}
	}
	l.datatypes.byHandle[handle] = out
	return out
}

// Bits of a predefined datatype's handle: from 5.0 on requests hold the library's own type of that size instead of the
// program's, with the number of this, or 0 if it is of none (src/include/mpir_datatype.h).
const (
	handleNumber   = 0x0000_00ff
	handleOwnTypes = 0x00ff_0000
	handleIsOwn    = 0x0080_0000
)

// programsDatatype is the program's predefined datatype of a request's, and whether that is one of the library's own.
func programsDatatype(handle uint32) (uint32, bool) {
	if !IsBuiltin(handle) || handle&handleIsOwn == 0 {
		return handle, false
	}
	return handle &^ handleOwnTypes, true
}

// builtinDatatype is where the i-th predefined datatype is.
func (l *Library) builtinDatatype(i int) inferior.Ptr[datatype] {
	return inferior.At(&l.c.Datatype, inferior.Ptr[datatype](l.Symbols[symDatatypes].Addr), i)
}

// datatypeAt reads the predefined datatype at a, if that is the one of the handle.
func (l *Library) datatypeAt(a inferior.Ptr[datatype], handle uint32) Datatype {
	d, err := l.c.Datatype.Read(l.Reader, a)
	if err != nil || d.Handle != handle || !hasSize(&d) {
		return Datatype{}
	}
	return l.shown(&d)
}

// hasSize says whether the size of a datatype can be right.
func hasSize(d *datatype) bool { return d.Size >= 0 && d.Size <= maxTypeSize }

// shown is what is shown of a datatype wherever it is.
func (l *Library) shown(d *datatype) Datatype {
	out := Datatype{Size: mqs.Known(d.Size)}
	if name, err := d.Name.Read(l.Reader, MaxName); err == nil {
		out.Name = mqs.Known(name)
	}
	return out
}

// derived reads the derived datatype of a handle, if it is in use.
func (l *Library) derived(handle uint32) (datatype, bool) {
	_, d, state, err := l.pools.datatypes.find(handle)
	if err != nil && !l.datatypes.isRemarked {
		l.datatypes.isRemarked = true
		l.Remarks.Notef("derived datatypes are not known: %v", err)
	}
	return d, state == mqs.LiveHandle && hasSize(&d)
}
