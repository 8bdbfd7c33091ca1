package mpir

import (
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// given is the handle in MPICH's own form of one that the program has passed to a call; false if that is not known. In
// the ABI it is a constant, or the address of an object, whose number then leads back to it.
func (s *Source) given(kind mqs.HandleKind, value int64) (uint32, bool) {
	if !s.lib.isABI() {
		return uint32(value), true
	}
	if value >= 0 && value <= lastABIConstant {
		return s.ownOfConstant(kind, abiConstants[constant{kind, uint32(value)}])
	}
	number, err := s.lib.Reader.Uint(inferior.Addr(value), 4)
	if err != nil || IsBuiltin(uint32(number)) || s.place(kind, uint32(number)) != inferior.Addr(value) {
		return 0, false
	}
	return uint32(number), true
}

// ownOfConstant is MPICH's own handle for a constant of a name; false if it has none.
func (s *Source) ownOfConstant(kind mqs.HandleKind, name string) (uint32, bool) {
	if name == "" {
		return 0, false
	}
	for c, of := range constants {
		if c.kind == kind && of == name {
			return c.number, true
		}
	}
	if kind != mqs.DatatypeHandle {
		return 0, false
	}
	for i, of := range datatypeNames {
		if of == name {
			number, err := s.lib.Reader.Uint(s.lib.builtinDatatype(int(i)).Addr(), 4)
			return uint32(number), err == nil && IsBuiltin(uint32(number)) && IsHandle(uint32(number), ObjectDatatype)
		}
	}
	return 0, false
}

// datatypeGiven is what is known of a datatype that the program has passed to a call. One of the ABI has its name there
// even if MPICH has no such type.
func (s *Source) datatypeGiven(value int64) Datatype {
	var out Datatype
	if own, ok := s.given(mqs.DatatypeHandle, value); ok {
		out = s.lib.Datatype(own)
	}
	if name, ok := abiConstants[constant{mqs.DatatypeHandle, uint32(value)}]; ok && s.lib.isABI() && value >= 0 && value <= lastABIConstant {
		out.Name = mqs.Known(name)
	}
	return out
}

// operationGiven is the name of a reduction's operation that the program has passed to a call, empty of one that it has
// made.
func (s *Source) operationGiven(value int64) mqs.Maybe[string] {
	own, ok := s.given(mqs.OpHandle, value)
	if !ok {
		return mqs.Maybe[string]{}
	}
	return operationName(own)
}

// requestsGiven are the handles of an array of requests that the program has passed to a call, as far as they can be
// read: MPICH's own, or in the ABI pointers. A null one is [nullRequest].
func (s *Source) requestsGiven(at inferior.Addr, count int64) (out []uint32, isAll bool) {
	width := 4
	if s.lib.isABI() {
		width = s.lib.Reader.Info().PointerSize
	}
	for i := range count {
		h, err := s.lib.Reader.Uint(at+inferior.Addr(int64(width)*i), width)
		if err != nil {
			return out, false
		}
		own, _ := s.given(mqs.RequestHandle, int64(h)) // what is none of MPICH's has no handle either
		out = append(out, own)
	}
	return out, true
}

// commGiven is the communicator that the program has passed to a call by its handle, nil if that is not known.
func (s *Source) commGiven(value int64) *Communicator {
	own, isKnown := s.given(mqs.CommHandle, value)
	if !s.lib.isABI() {
		isKnown = value < 0 || value>>32 == 0
	}
	for _, there := range s.communicators().all {
		if there.At.Addr() == inferior.Addr(value) || isKnown && there.Handle == own {
			return there
		}
	}
	return nil
}
