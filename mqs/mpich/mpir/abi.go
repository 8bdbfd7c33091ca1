package mpir

import (
	"encoding/binary"
	"path/filepath"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// abiLibrary begins the name of MPICH's library for programs of MPI 5.0's ABI, to which distributions add more.
const abiLibrary = "libmpi_abi"

// ABIWorld is MPI_COMM_WORLD in the ABI.
const ABIWorld = 0x101

// lastABIConstant is the last handle of the ABI that may be a constant.
const lastABIConstant = 0xfff

// IsABI says whether the handles of a library are those of the ABI: constants of its own, or addresses of objects.
func IsABI(library string) bool { return strings.HasPrefix(filepath.Base(library), abiLibrary) }

// abiBits says what a handle's own bits tell in the ABI, as [Bits] does.
func abiBits(v mqs.HandleValue) *mqs.Handle {
	h := &mqs.Handle{Kind: v.Kind, Value: v.Value}
	if v.Value > lastABIConstant || v.Kind == mqs.StatusHandle {
		return h
	}
	name, ok := abiConstants[constant{v.Kind, uint32(v.Value)}]
	if !ok {
		h.State = mqs.InvalidHandle
		return h
	}
	h.State, h.Name, h.FortranHandle = mqs.PredefinedHandle, mqs.Known(name), mqs.Known(int32(v.Value))
	if strings.HasSuffix(name, "_NULL") {
		h.State = mqs.NullHandle
	}
	return h
}

// resolveABI says what a handle of the ABI stands for.
func (s *Source) resolveABI(v mqs.HandleValue) *mqs.Handle {
	h := abiBits(v)
	switch {
	case v.Kind == mqs.StatusHandle:
		readABIStatus(s.lib.Reader, h, v)
		return h
	case h.State == mqs.PredefinedHandle:
		s.fillPredefined(h)
		return h
	case h.State != "":
		return h
	case v.Fortran || v.Kind == mqs.FileHandle:
		return s.resolveNumber(v)
	}
	// Every object starts with its handle in MPICH's own form.
	own, err := s.lib.Reader.Uint(inferior.Addr(v.Value), 4)
	if err != nil || IsBuiltin(uint32(own)) {
		h.State = mqs.InvalidHandle
		return h
	}
	out := s.resolveNumber(mqs.HandleValue{Kind: v.Kind, Value: own})
	out.Value = v.Value
	if out.State == mqs.NullHandle || out.State != "" && s.place(v.Kind, uint32(own)) != inferior.Addr(v.Value) {
		h.State = mqs.InvalidHandle
		return h
	}
	return out
}

// fillPredefined says what a predefined handle stands for, as far as MPICH has one of the same name.
func (s *Source) fillPredefined(h *mqs.Handle) {
	fill := func(number uint32) {
		of := s.resolveNumber(mqs.HandleValue{Kind: h.Kind, Value: uint64(number)})
		h.Communicator, h.Datatype, h.Group, h.Commutative, h.Notes = of.Communicator, of.Datatype, of.Group, of.Commutative, of.Notes
	}
	for c, name := range constants {
		if c.kind == h.Kind && name == h.Name.Value {
			fill(c.number)
			return
		}
	}
	for i, name := range datatypeNames {
		if h.Kind != mqs.DatatypeHandle || name != h.Name.Value {
			continue
		}
		if number, err := s.lib.Reader.Uint(s.lib.builtinDatatype(int(i)).Addr(), 4); err == nil {
			fill(uint32(number))
		}
		return
	}
}

// place is where the object of a handle is that is not predefined, 0 if there is none.
func (s *Source) place(kind mqs.HandleKind, number uint32) inferior.Addr {
	p := &s.lib.pools
	switch kind {
	case mqs.CommHandle:
		return placeOf(p.comms, number)
	case mqs.GroupHandle:
		return placeOf(p.groups, number)
	case mqs.DatatypeHandle:
		return placeOf(p.datatypes, number)
	case mqs.ErrhandlerHandle:
		return placeOf(p.errhandlers, number)
	case mqs.OpHandle:
		return placeOf(p.ops, number)
	case mqs.InfoHandle:
		return placeOf(p.infos, number)
	case mqs.WinHandle:
		return placeOf(p.wins, number)
	case mqs.SessionHandle:
		return placeOf(p.sessions, number)
	case mqs.RequestHandle, mqs.MessageHandle:
		at, _, _ := s.lib.findRequest(number)
		return at.Addr()
	}
	return 0
}

func placeOf[T any](o *objects[T], number uint32) inferior.Addr {
	at, _, _, _ := o.find(number)
	return at.Addr()
}

// readABIStatus reads what an MPI_Status of the ABI holds: three members, and some that are the library's.
func readABIStatus(r *inferior.Reader, h *mqs.Handle, v mqs.HandleValue) {
	data, ok := statusBytes(r, h, v, 3*4)
	if !ok {
		return
	}
	order := byteOrder(r)
	at := func(i int) mqs.Maybe[int32] { return mqs.Known(int32(order.Uint32(data[4*i:]))) }
	h.State, h.Status = mqs.LiveHandle, &mqs.MessageStatus{Source: at(0), Tag: at(1), Error: at(2)}
}

// byteOrder is the process's.
func byteOrder(r *inferior.Reader) binary.ByteOrder {
	if r.Info().BigEndian {
		return binary.BigEndian
	}
	return binary.LittleEndian
}
