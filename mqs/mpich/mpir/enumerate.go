package mpir

import (
	"cmp"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// maxLooks bounds how many objects the requests are looked for among, each of them among all.
const maxLooks = 1 << 20

// Handles are the INTEGER of the objects of all pools, at most so many of each kind, of the predefined
// communicators and datatypes, and of the files that Fortran has (read.Enumerator).
func (s *Source) Handles(most int) []mqs.HandleValue {
	var out []mqs.HandleValue
	add := func(kind mqs.HandleKind, numbers []uint32) {
		for _, n := range numbers[:min(len(numbers), most)] {
			out = append(out, mqs.HandleValue{Kind: kind, Fortran: true, Value: uint64(n)})
		}
	}
	p := &s.lib.pools
	add(mqs.CommHandle, slices.Concat(constantsOf(mqs.CommHandle), handlesIn(p.comms)))
	add(mqs.DatatypeHandle, slices.Concat(s.lib.builtinDatatypes(), handlesIn(p.datatypes)))
	add(mqs.GroupHandle, handlesIn(p.groups))
	add(mqs.WinHandle, handlesIn(p.wins))
	add(mqs.OpHandle, handlesIn(p.ops))
	add(mqs.ErrhandlerHandle, handlesIn(p.errhandlers))
	add(mqs.InfoHandle, handlesIn(p.infos))
	add(mqs.SessionHandle, handlesIn(p.sessions))
	add(mqs.FileHandle, s.lib.fortranFiles(most))
	requests, messages := s.requestHandles()
	add(mqs.RequestHandle, requests)
	add(mqs.MessageHandle, messages)
	return out
}

// constantsOf are mpi.h's handles of a kind.
func constantsOf(kind mqs.HandleKind) []uint32 {
	var out []uint32
	for c := range constants {
		if c.kind == kind {
			out = append(out, c.number)
		}
	}
	slices.Sort(out)
	return out
}

// handlesIn are the handles of a pool's objects in use, as far as they can be read.
func handlesIn[T any](o *objects[T]) []uint32 {
	var out []uint32
	_ = o.each(func(at inferior.Ptr[T], _ *T) {
		if own, err := o.l.Reader.Uint(at.Addr(), 4); err == nil {
			out = append(out, uint32(own))
		}
	})
	return out
}

// builtinDatatypes are the handles of the predefined ones.
func (l *Library) builtinDatatypes() []uint32 {
	var out []uint32
	for i := range datatypeNames {
		if own, err := l.Reader.Uint(l.builtinDatatype(int(i)).Addr(), 4); err == nil && own != 0 { // which a build may lack
			out = append(out, uint32(own))
		}
	}
	slices.Sort(out)
	return out
}

// fortranFiles are the places of files in the table of those that Fortran has.
func (l *Library) fortranFiles(most int) []uint32 {
	last, ok := l.Symbols[symLastFortranFile]
	if !ok {
		return nil
	}
	n, err := l.Reader.Int(last.Addr, 4)
	if err != nil {
		return nil
	}
	var out []uint32
	for i := range min(n, int64(most)) {
		out = append(out, uint32(i)+1)
	}
	return out
}

// requestHandles are the handles of requests in use, and those of messages.
func (s *Source) requestHandles() (requests, messages []uint32) {
	all := s.requests().byAddr
	var inUse []*Operation
	for _, r := range all {
		inUse = append(inUse, r)
	}
	slices.SortFunc(inUse, func(a, b *Operation) int { return cmp.Compare(a.At, b.At) })
	for _, r := range inUse[:min(len(inUse), maxLooks/max(s.lib.requestObjects(), 1))] {
		own, err := s.lib.Reader.Uint(r.At.Addr(), 4)
		switch {
		case err != nil:
		case r.IsTaken():
			messages = append(messages, uint32(own))
		default:
			requests = append(requests, uint32(own))
		}
	}
	return requests, messages
}
