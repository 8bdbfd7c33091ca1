package mpir

import (
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// handleKinds are the kinds of objects that handles of each kind stand for. An MPI_Message is a request, an MPI_File
// a pointer.
var handleKinds = map[mqs.HandleKind]uint32{
	mqs.CommHandle: ObjectComm, mqs.GroupHandle: objectGroup, mqs.DatatypeHandle: ObjectDatatype, mqs.ErrhandlerHandle: objectErrhandler,
	mqs.OpHandle: objectOp, mqs.InfoHandle: objectInfo, mqs.WinHandle: objectWin, mqs.RequestHandle: ObjectRequest,
	mqs.MessageHandle: ObjectRequest, mqs.SessionHandle: objectSession,
}

// Number is the 32 bits of a handle that is a number in C and Fortran; false if it has more.
func Number(v mqs.HandleValue) (uint32, bool) {
	const negative = 0xffff_ffff_8000_0000 // a debugger may extend the sign
	return uint32(v.Value), v.Value <= 0xffff_ffff || v.Value >= negative
}

// Bits says what a handle's own bits tell: whether it is a null handle, a predefined one of those that mpi.h has as
// constants, or none of its kind. The state is empty if an object has to be looked for. Files and statuses have no
// such bits.
func Bits(v mqs.HandleValue) *mqs.Handle {
	h := &mqs.Handle{Kind: v.Kind, Value: v.Value}
	number, ok := Number(v)
	kind, isNumber := handleKinds[v.Kind]
	if !isNumber {
		return h
	}
	if !ok || !IsHandle(number, kind) {
		h.State = mqs.InvalidHandle
		return h
	}
	h.FortranHandle = mqs.Known(int32(number))
	name, isConstant := constants[constant{v.Kind, number}]
	switch {
	case isConstant:
		h.State, h.Name = mqs.PredefinedHandle, mqs.Known(name)
		if !IsStored(number) {
			h.State = mqs.NullHandle
		}
	case !IsStored(number):
		h.State = mqs.InvalidHandle
	}
	return h
}

// Resolve says what a handle stands for (read.Resolver).
func (s *Source) Resolve(v mqs.HandleValue) *mqs.Handle {
	if s.lib.isABI() {
		return s.resolveABI(v)
	}
	return s.resolveNumber(v)
}

// resolveNumber says what a handle of MPICH's own stands for, which is a number, or of files a pointer.
func (s *Source) resolveNumber(v mqs.HandleValue) *mqs.Handle {
	h := Bits(v)
	switch v.Kind {
	case mqs.StatusHandle:
		readStatus(s.lib.Reader, h, v)
		return h
	case mqs.FileHandle:
		s.resolveFile(h, v)
		return h
	}
	if h.State == mqs.NullHandle || h.State == mqs.InvalidHandle {
		return h
	}
	number, _ := Number(v)
	switch v.Kind {
	case mqs.CommHandle:
		s.resolveComm(h, number)
	case mqs.DatatypeHandle:
		s.resolveDatatype(h, number)
	case mqs.GroupHandle:
		s.resolveGroup(h, number)
	case mqs.OpHandle:
		s.resolveOp(h, number)
	case mqs.InfoHandle:
		s.resolveInfo(h, number)
	case mqs.WinHandle:
		s.resolveWin(h, number)
	case mqs.RequestHandle, mqs.MessageHandle:
		s.resolveRequest(h, number)
	case mqs.ErrhandlerHandle:
		look(h, s.lib.pools.errhandlers, number)
	case mqs.SessionHandle:
		look(h, s.lib.pools.sessions, number)
	}
	return h
}

// look looks for the object of a handle that is none of mpi.h's constants, and sets its state; false if there is
// nothing to read.
func look[T any](h *mqs.Handle, objects *objects[T], number uint32) (at inferior.Ptr[T], out T, ok bool) {
	if h.State == mqs.PredefinedHandle {
		return 0, out, false
	}
	at, out, state, err := objects.find(number)
	if h.State = state; err != nil {
		unknown(h, err)
	}
	return at, out, state == mqs.LiveHandle
}

// unknown says why it can't be told what a handle stands for.
func unknown(h *mqs.Handle, err error) {
	h.Notes = append(h.Notes, "what it stands for can't be told: "+err.Error())
}

// communicatorOf is a communicator as a handle has it.
func communicatorOf(c *Communicator) *mqs.Communicator {
	copied := *c.Model
	return &copied
}

func (s *Source) resolveComm(h *mqs.Handle, number uint32) {
	switch {
	case !IsBuiltin(number):
		if _, _, ok := look(h, s.lib.pools.comms, number); !ok {
			return
		}
	case number&handleIndex >= maxBuiltinComms:
		h.State = mqs.InvalidHandle
		return
	}
	there := s.communicators()
	for _, c := range there.all {
		if c.Handle != number {
			continue
		}
		if IsBuiltin(number) {
			h.State = mqs.PredefinedHandle
		}
		h.Communicator, h.Name = communicatorOf(c), c.Model.Name
		return
	}
	switch {
	case h.State == mqs.PredefinedHandle: // a program with sessions alone
		h.Notes = append(h.Notes, "this process does not have it")
	case there.err != nil:
		h.State = ""
		unknown(h, there.err)
	case IsBuiltin(number):
		h.State = mqs.InvalidHandle
	default:
		h.State = ""
		h.Notes = append(h.Notes, "it is being made or taken apart")
	}
}

func (s *Source) resolveDatatype(h *mqs.Handle, number uint32) {
	l := s.lib
	var d datatype
	var err error
	if IsBuiltin(number) {
		h.State = mqs.InvalidHandle
		d, err = l.c.Datatype.Read(l.Reader, l.builtinDatatype(int(number&0xff)))
		if err != nil || d.Handle != number || !hasSize(&d) {
			return
		}
		h.State = mqs.PredefinedHandle
	} else {
		var ok bool
		if _, d, ok = look(h, l.pools.datatypes, number); !ok {
			return
		}
		if !hasSize(&d) {
			h.State = mqs.InvalidHandle
			return
		}
	}
	out := &mqs.Datatype{Size: mqs.Known(d.Size), Name: l.shown(&d).Name, Construction: l.Construction(number)}
	if hasMember(&l.c.Datatype, func(d *datatype) *int64 { return &d.Extent }) && hasMember(&l.c.Datatype, func(d *datatype) *int64 { return &d.LB }) {
		out.LowerBound, out.Extent = mqs.Known(d.LB), mqs.Known(d.Extent)
	}
	hasContents := hasMember(&l.c.Datatype, func(d *datatype) *inferior.Ptr[contents] { return &d.Contents })
	switch {
	case hasContents && d.Contents == 0, h.State == mqs.PredefinedHandle:
		// Those of a value and an index, as MPI_FLOAT_INT, are in the pool.
		h.State, out.Committed = mqs.PredefinedHandle, mqs.Known(true)
	case hasMember(&l.c.Datatype, func(d *datatype) *int32 { return &d.Committed }):
		out.Committed = mqs.Known(d.Committed != 0)
	}
	h.Datatype, h.Name = out, out.Name
}

// hasMember says whether a type has a member.
func hasMember[T, F any](of *inferior.Struct[T], field func(*T) *F) bool {
	return inferior.SizeOf(of, field) > 0
}

// emptyGroup is MPI_GROUP_EMPTY.
func emptyGroup() *mqs.ProcessGroup {
	return &mqs.ProcessGroup{Size: mqs.Known[int32](0), Members: []mqs.Maybe[int32]{}}
}

func (s *Source) resolveGroup(h *mqs.Handle, number uint32) {
	if h.State == mqs.PredefinedHandle {
		h.Group = emptyGroup()
		return
	}
	_, g, ok := look(h, s.lib.pools.groups, number)
	if !ok {
		return
	}
	h.Group = &mqs.ProcessGroup{}
	if g.Size >= 0 && g.Size <= MaxMembers {
		h.Group.Size = mqs.Known(g.Size)
		if g.Rank >= 0 && g.Rank < g.Size {
			h.Group.LocalRank = mqs.Known(g.Rank)
		}
	}
	var err error
	if h.Group.Members, err = s.lib.membersOf(&g); err != nil {
		h.Notes = append(h.Notes, "its members can't be read: "+err.Error())
	}
}

// Kinds of reduction operations (MPIR_Op_kind in src/include/mpir_op.h, 4.0 to 4.2).
const (
	opNoncommutative      = 32
	opLargeNoncommutative = 34
)

// commutes says whether the operands of a predefined operation may change places: those of reductions may.
func commutes(number uint32) mqs.Maybe[bool] {
	return mqs.Maybe[bool]{Value: number <= lastReduction, Known: number <= lastReduction}
}

func (s *Source) resolveOp(h *mqs.Handle, number uint32) {
	if h.State == mqs.PredefinedHandle {
		h.Commutative = commutes(number)
		return
	}
	_, o, ok := look(h, s.lib.pools.ops, number)
	if !ok {
		return
	}
	h.Commutative = mqs.Known(o.Kind != opNoncommutative && o.Kind != opLargeNoncommutative)
	if hasMember(&s.lib.o.op.Op, func(o *op) *bool { return &o.Commutes }) {
		h.Commutative = mqs.Known(o.Commutes)
	}
}

func (s *Source) resolveWin(h *mqs.Handle, number uint32) {
	if _, _, ok := look(h, s.lib.pools.wins, number); !ok {
		return
	}
	for _, w := range s.communicators().windows {
		if w.Handle == number {
			window := s.window(w)
			h.Window, h.Name, h.Communicator = &window, window.Name, communicatorOf(w.On)
			return
		}
	}
	h.State = ""
	h.Notes = append(h.Notes, "it is being made or taken apart")
}
