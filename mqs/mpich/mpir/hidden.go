package mpir

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// A stripped library hides where its variables are. They stand in its writable data, in which the objects of MPICH name themselves: those
// that are predefined and those of pools start with their handles, and pools have the kind and the size of their objects. So the objects
// are searched for there by the layout, and each must be found exactly once. Only requests may have an array of pools.

const (
	maxImage  = 16 << 20 // bytes of data that are looked through: distributions' libraries have 300 to 600 KiB, those of wheels 4 MiB
	imageStep = 64 << 10
	imagePage = 4 << 10
	imageLead = 16 << 10 // how far before a symbol of the data that may begin
)

// Symbols of what MPI calls constants, which no library hides: one that stands in the data, and one that stands in
// constants before that.
const (
	symData      = "MPI_F08_STATUS_IGNORE"  // where the library has Fortran
	symConstants = "MPI_T_PVAR_ALL_HANDLES" // MPI_T_pvar_handle
)

// Image is the data of a library, as far as it has been read.
type Image struct {
	reader *inferior.Reader
	start  inferior.Addr
	bytes  []byte
	object string
	order  binary.ByteOrder
	word   int // bytes of a pointer
	// isWhole is true if there is no more of it.
	isWhole bool
}

// NewImage returns the data of a library, of which nothing is read yet; false if its symbols do not tell where it is.
func NewImage(r *inferior.Reader, symbols map[string]inferior.Symbol) (*Image, bool) {
	from, ok := symbols[symConstants]
	if !ok {
		return nil, false
	}
	// Asked for here, since few libraries are read this way.
	if data, err := r.Symbol(symData); err == nil && data != nil && data.Object == from.Object && data.Addr > from.Addr {
		from.Addr = max(from.Addr, data.Addr-imageLead)
	}
	m := &Image{reader: r, start: from.Addr &^ (imagePage - 1), object: from.Object, order: binary.LittleEndian, word: r.Info().PointerSize}
	if r.Info().BigEndian {
		m.order = binary.BigEndian
	}
	return m, true
}

// Grow doubles the part of the data that has been read; false if there is no more. It is not read all at once, since what is read goes into
// recordings.
func (m *Image) Grow() bool {
	if m.isWhole || len(m.bytes) >= maxImage {
		return false
	}
	before := len(m.bytes)
	step := max(imageStep, before)
	_ = m.reader.Prefetch([]inferior.Range{{Addr: m.start + inferior.Addr(before), Len: step}}) // what fails here fails again below
	for len(m.bytes) < before+step {
		page, err := m.reader.Bytes(m.start+inferior.Addr(len(m.bytes)), imagePage)
		if err != nil {
			m.isWhole = true
			break
		}
		m.bytes = append(m.bytes, page...)
	}
	return len(m.bytes) > before
}

// Has says whether an address is in the data.
func (m *Image) Has(a inferior.Addr) bool {
	return a >= m.start && a-m.start < inferior.Addr(len(m.bytes))
}

// Each calls f for each place at which an object of size bytes may stand, with its bytes.
func (m *Image) Each(size int, f func(at inferior.Addr, b []byte)) {
	for o := 0; o+size <= len(m.bytes); o += m.word {
		f(m.start+inferior.Addr(o), m.bytes[o:o+size])
	}
}

// Symbol is what the library calls what stands at an address.
func (m *Image) Symbol(a inferior.Addr) inferior.Symbol {
	return inferior.Symbol{Addr: a, Object: m.object}
}

// pointer is the address that some bytes are.
func (m *Image) pointer(b []byte) inferior.Addr {
	if m.word == 4 {
		return inferior.Addr(m.order.Uint32(b))
	}
	return inferior.Addr(m.order.Uint64(b))
}

// handleAt is the handle with which the object at an address begins, 0 if it is not in the data.
func (m *Image) handleAt(a inferior.Addr) uint32 {
	if !m.Has(a) || !m.Has(a+3) {
		return 0
	}
	return m.order.Uint32(m.bytes[a-m.start:])
}

// only is the one of several places, or an error that says what was looked for.
func only(found []inferior.Addr, what string) (inferior.Addr, error) {
	if len(found) != 1 {
		return 0, fmt.Errorf("the library's data has %s at %d places", what, len(found))
	}
	return found[0], nil
}

// Hidden finds the variables of a library whose symbols were stripped. The library has to prove itself after that,
// as any does ([Library.Prove]).
func (l *Library) Hidden(m *Image) error {
	l.image = m
	for _, find := range []func(*Image) error{l.hiddenComms, l.hiddenProcess, l.hiddenDatatypes, l.hiddenPools} {
		if err := find(m); err != nil {
			return err
		}
	}
	return nil
}

// hiddenComms finds the predefined communicators: MPI_COMM_WORLD, and behind it MPI_COMM_SELF.
func (l *Library) hiddenComms(m *Image) error {
	return l.hiddenArray(m, symBuiltinComms, l.c.Comm.Size(), 0, worldHandle, worldHandle+1)
}

// hiddenDatatypes finds the predefined datatypes by two that are neighbours: MPI_CHAR, MPI_UNSIGNED_CHAR.
func (l *Library) hiddenDatatypes(m *Image) error {
	const char, unsignedChar = 0x4c000101, 0x4c000102
	return l.hiddenArray(m, symDatatypes, l.c.Datatype.Size(), 1, char, unsignedChar)
}

// worldHandle is MPI_COMM_WORLD's.
const worldHandle = 0x44000000

// hiddenArray finds an array of predefined objects by the handles of two that follow each other, the first of which
// stands at a place of the array.
func (l *Library) hiddenArray(m *Image, name string, size, place int, first, second uint32) error {
	var found []inferior.Addr
	m.Each(size+4, func(at inferior.Addr, b []byte) {
		if m.order.Uint32(b) == first && m.order.Uint32(b[size:]) == second {
			found = append(found, at-inferior.Addr(place*size))
		}
	})
	at, err := only(found, name)
	l.Symbols[name] = m.Symbol(at)
	return err
}

// hiddenProcess finds MPIR_Process, which points to MPI_COMM_WORLD and has its rank and size.
func (l *Library) hiddenProcess(m *Image) error {
	builtin := l.Symbols[symBuiltinComms].Addr
	world, err := l.c.Comm.Read(l.Reader, inferior.Ptr[Comm](builtin))
	if err != nil {
		return err
	}
	var found []inferior.Addr
	m.Each(l.c.Process.Size(), func(at inferior.Addr, b []byte) {
		if p, ok := inferior.Decode(&l.c.Process, l.Reader, b); ok && p.World.Addr() == builtin && p.State == stateInitialized && p.Rank == world.Rank && p.Size == world.LocalSize {
			found = append(found, at)
		}
	})
	at, err := only(found, symProcess)
	l.Symbols[symProcess] = m.Symbol(at)
	return err
}

// hiddenPool is a pool in the data, and where.
type hiddenPool struct {
	pool
	at    inferior.Addr
	first uint32 // the handle with which its first object begins
}

// hiddenPools finds pools by the kind and the size of their objects. Those of requests and of communicators and the one of
// datatypes must be there, others need not.
func (l *Library) hiddenPools(m *Image) error {
	wanted := []struct {
		name   string
		size   int
		kind   uint32
		isMust bool
	}{
		{SymRequestPools, l.c.Request.Size(), ObjectRequest, true}, {symCommPool, l.c.Comm.Size(), ObjectComm, true},
		{symDatatypePool, l.c.Datatype.Size(), ObjectDatatype, true},
		{symGroupPool, l.o.group.Group.Size(), objectGroup, false}, {symWinPool, l.o.win.Win.Size(), objectWin, false},
		{symInfoPool, l.o.info.Info.Size(), objectInfo, false}, {symSessionPool, l.o.session.Session.Size(), objectSession, false},
		{symOpPool, l.o.op.Op.Size(), objectOp, false}, {symErrhandlerPool, l.o.errhandler.Errhandler.Size(), objectErrhandler, false},
	}
	var sizes [objectKindMask + 1]uint32
	for _, w := range wanted {
		sizes[w.kind] = uint32(w.size)
	}
	atKind, isTold := inferior.OffsetOf(&l.c.Pool, func(p *pool) *uint32 { return &p.Kind })
	if !isTold {
		return errors.New("the layout does not say what kind of objects a pool has")
	}
	atSize, _ := inferior.OffsetOf(&l.c.Pool, func(p *pool) *int32 { return &p.Size })
	all := map[uint32][]hiddenPool{}
	m.Each(l.c.Pool.Size(), func(at inferior.Addr, b []byte) {
		kind := m.order.Uint32(b[atKind:])
		if kind > objectKindMask || sizes[kind] == 0 || m.order.Uint32(b[atSize:]) != sizes[kind] {
			return
		}
		p, ok := inferior.Decode(&l.c.Pool, l.Reader, b)
		if ok && p.DirectSize >= 0 && p.DirectSize <= maxPerBlock && (p.DirectSize == 0 && p.Direct == 0 ||
			m.Has(p.Direct) && m.Has(p.Direct+inferior.Addr(int(p.DirectSize)*int(p.Size))-1)) {
			all[kind] = append(all[kind], hiddenPool{p, at, m.handleAt(p.Direct)})
		}
	})
	for _, w := range wanted {
		found := poolsOf(all[w.kind], w.kind)
		if w.kind == ObjectRequest {
			found = m.firstOf(found, l.c.Pool.Size())
		}
		at, err := only(found, w.name)
		switch {
		case err == nil:
			l.Symbols[w.name] = m.Symbol(at)
		case w.isMust:
			return err
		}
	}
	return nil
}

// firstOf returns the first place if the places are those of consecutive elements of an array, else all of them.
func (m *Image) firstOf(found []inferior.Addr, size int) []inferior.Addr {
	for i, at := range found {
		if at != found[0]+inferior.Addr(i*size) {
			return found
		}
	}
	return found[:min(1, len(found))]
}

// poolsOf returns the pools in use whose first object has a kind, or that have no first block. If there are none, it returns
// those that were never used.
func poolsOf(all []hiddenPool, kind uint32) []inferior.Addr {
	var used, unused []inferior.Addr
	for _, p := range all {
		switch {
		case p.Initialized == 0 && p.Avail == 0 && p.Allocated == 0 && p.first == 0:
			unused = append(unused, p.at)
		case p.Initialized == 1 && (p.Direct == 0 || proveHandle(p.first, handleDirect, kind, "") == nil):
			used = append(used, p.at)
		}
	}
	if len(used) > 0 {
		return used
	}
	return unused
}
