package ompi

import (
	"errors"
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Arrays of the objects that handles stand for, by the INTEGER of their Fortran handles. All of them are in
// .dynsym of stripped libraries too.
const (
	symWindows = "ompi_mpi_windows"
	symFiles   = "ompi_file_f_to_c_table"
)

// fortranTables are the arrays of all kinds. All hold an object from its creation until it is freed, but that
// of datatypes, of requests and of messages, which hold those whose Fortran handle has been asked for
// (ompi/mpi/c/type_c2f.c, request_c2f.c and message_c2f.c, 4.0 to 6.0).
var fortranTables = map[mqs.HandleKind]string{
	mqs.CommHandle:       "ompi_comm_f_to_c_table",
	mqs.DatatypeHandle:   "ompi_datatype_f_to_c_table",
	mqs.RequestHandle:    "ompi_request_f_to_c_table",
	mqs.GroupHandle:      "ompi_group_f_to_c_table",
	mqs.WinHandle:        symWindows,
	mqs.OpHandle:         "ompi_op_f_to_c_table",
	mqs.ErrhandlerHandle: "ompi_errhandler_f_to_c_table",
	mqs.FileHandle:       symFiles,
	mqs.InfoHandle:       "ompi_info_f_to_c_table",
	mqs.MessageHandle:    "ompi_message_f_to_c_table",
	mqs.SessionHandle:    "ompi_instance_f_to_c_table", // from 5.0
}

// maxObjects bounds the places of an array of objects.
const maxObjects = 1 << 20

// array reads where an array of objects stands, proved by its class. The symbol of that of operations is a
// pointer to it.
func (p *Process) array(symbol string) (pointerArray, error) {
	sym, ok := p.Symbols[symbol]
	if !ok {
		return pointerArray{}, fmt.Errorf("there is no symbol %s", symbol)
	}
	at := inferior.Ptr[pointerArray](sym.Addr)
	if ProveClass(p, &p.PointerArray, at) != nil {
		to, err := p.R.Pointers(sym.Addr, 1)
		if err != nil {
			return pointerArray{}, err
		}
		at = inferior.Ptr[pointerArray](to[0])
		if err := ProveClass(p, &p.PointerArray, at); err != nil {
			return pointerArray{}, fmt.Errorf("%s: %w", symbol, err)
		}
	}
	a, err := p.PointerArray.Read(p.R, at)
	if err == nil && (a.Size < 0 || a.Size > maxObjects) {
		err = fmt.Errorf("%s holds %d objects", symbol, a.Size)
	}
	return a, err
}

// all reads the places of an array of objects, 0 where there is none. An array that holds nothing but what the
// library has put into its first place, as most do, is not read.
func (p *Process) all(symbol string) ([]inferior.Addr, error) {
	a, err := p.array(symbol)
	if err != nil || a.Size == 0 || a.Addr == 0 {
		return nil, err
	}
	if _, isCounted := inferior.OffsetOf(&p.PointerArray, func(a *pointerArray) *int64 { return &a.Free }); isCounted && a.Free == a.Size-1 {
		return nil, nil
	}
	return p.R.Pointers(a.Addr, int(a.Size))
}

// at is the object that an array holds in one place, 0 if none.
func (p *Process) at(symbol string, index int32) (inferior.Addr, error) {
	a, err := p.array(symbol)
	if err != nil || index < 0 || int64(index) >= a.Size {
		return 0, err
	}
	to, err := p.R.Pointers(a.Addr+inferior.Addr(int(index)*p.R.Info().PointerSize), 1)
	if err != nil {
		return 0, err
	}
	return to[0], nil
}

// isFirst says whether an object is the first one in the array of its kind. What stands there is brought with the
// array.
func (p *Process) isFirst(kind mqs.HandleKind, object inferior.Addr) bool {
	a, err := p.array(fortranTables[kind])
	if err != nil || a.Size == 0 {
		return false
	}
	width := p.R.Info().PointerSize
	_ = p.R.Prefetch([]inferior.Range{{Addr: a.Addr, Len: width}, {Addr: object, Len: width}}) // what fails here fails again below
	first, err := p.R.Pointers(a.Addr, 1)
	return err == nil && first[0] == object
}

// isOf says whether an object of a class stands at an address.
func (p *Process) isOf(at inferior.Ptr[Object], class string) bool {
	name, err := p.classAt(at)
	return err == nil && name == class
}

// errNoObject means that what stands at an address points to nothing that could be a class.
var errNoObject = errors.New("it is no object of Open MPI's")

// errNoClass means that it points to no memory.
var errNoClass = fmt.Errorf("%w: it has no class", errNoObject)

// classAt is the name of the class of what stands at an address. It fails with an error that is an [errNoObject]
// if that is none. What is none costs three round trips at most: those of the word that should point to
// the class, of where it points to, and of what should be the name there.
func (p *Process) classAt(at inferior.Ptr[Object]) (string, error) {
	width := uint64(p.R.Info().PointerSize)
	if at == 0 || uint64(at)%width != 0 {
		return "", errNoObject
	}
	o, err := p.Object.Read(p.R, at)
	if err != nil {
		return "", errNoObject
	}
	if o.Class == 0 || uint64(o.Class)%width != 0 {
		return "", errNoClass
	}
	c, err := p.class(o.Class)
	if err != nil {
		return "", errNoClass
	}
	if c.SizeOf == 0 || c.SizeOf > maxClassSize {
		return "", errNoObject
	}
	name, err := c.Name.Read(p.R, maxClassName)
	if err != nil || name == "" {
		return "", errNoObject
	}
	return name, nil
}

// maxClassSize bounds the size of an object that is believed, in bytes.
const maxClassSize = 1 << 24

// errNotBound means that the library's types lack what is to be read.
var errNotBound = errors.New("the layout of its type is not known")

// mutexClass is the class of the lock that communicators, windows and files have.
const mutexClass = "opal_mutex_t"

// isFreed says whether an object that has a lock has stood at an address: what frees it overwrites its class,
// but leaves that of the lock. lock is the address of the field that takes the lock.
func isFreed[T any](p *Process, s *inferior.Struct[T], at inferior.Addr, lock func(*T) *inferior.Embedded[Object]) bool {
	offset, ok := inferior.OffsetOf(s, lock)
	return ok && p.isOf(inferior.Ptr[Object](at+offset), mutexClass)
}

// enter fills in what the array of a kind says of an object that was found at an address, by the index that
// the object has of itself. It returns false of one that has been freed, which it says.
func (p *Process) enter(h *mqs.Handle, at inferior.Addr, index int32) bool {
	if index < 0 {
		return true
	}
	there, err := p.at(fortranTables[h.Kind], index)
	if err != nil {
		h.Notes = append(h.Notes, fmt.Sprintf("whether it has been freed is not known: %v", err))
		return true
	}
	if there != at {
		h.State = mqs.FreedHandle
		return false
	}
	h.FortranHandle = mqs.Known(p.integer(h.Kind, index))
	return true
}

// ofFortran is the object that the INTEGER of a Fortran handle stands for, 0 if none, which the handle then says.
func (p *Process) ofFortran(h *mqs.Handle, integer int32) inferior.Addr {
	symbol, index := fortranTables[h.Kind], p.index(h.Kind, integer)
	a, err := p.array(symbol)
	switch {
	case err != nil:
		h.Notes = append(h.Notes, fmt.Sprintf("what it stands for is not known: %v", err))
		return 0
	case index < 0 || int64(index) >= a.Size:
		h.State = mqs.InvalidHandle
		return 0
	}
	places, err := p.R.Pointers(a.Addr, int(a.Size))
	if err != nil {
		h.Notes = append(h.Notes, fmt.Sprintf("what it stands for is not known: %v", err))
		return 0
	}
	if places[index] == 0 {
		h.State = mqs.InvalidHandle
		// The first empty place is taken first: what lies before one that is taken has been taken, too.
		for _, later := range places[index:] {
			if later != 0 {
				h.State = mqs.FreedHandle
			}
		}
	}
	return places[index]
}
