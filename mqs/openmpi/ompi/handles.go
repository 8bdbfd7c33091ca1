package ompi

import (
	"errors"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Resolve says what a handle of the program stands for. A handle of C is the address of an object, which its
// class proves before it is followed, one of Fortran the object's place in the array of its kind. q
// knows what requests of point-to-point operations are, and is nil if nobody does.
func (p *Process) Resolve(q Queues, v mqs.HandleValue) *mqs.Handle {
	h := &mqs.Handle{Kind: v.Kind, Value: v.Value}
	if v.Kind == mqs.StatusHandle {
		p.resolveStatus(h, v)
		return h
	}
	at := inferior.Addr(v.Value)
	if v.Fortran {
		at = p.ofFortran(h, int32(v.Value))
		if at == 0 {
			return h
		}
	} else if predefined, ok := p.abiConstant(v.Kind, v.Value); ok {
		at = predefined
	}
	switch v.Kind {
	case mqs.CommHandle:
		p.resolveComm(h, inferior.Ptr[Communicator](at))
	case mqs.DatatypeHandle:
		p.resolveDatatype(h, inferior.Ptr[Datatype](at))
	case mqs.RequestHandle:
		p.resolveRequest(q, h, at)
	case mqs.GroupHandle:
		p.resolveGroup(h, inferior.Ptr[Group](at))
	case mqs.WinHandle:
		p.resolveWin(h, inferior.Ptr[win](at))
	case mqs.OpHandle:
		p.resolveOp(h, inferior.Ptr[op](at))
	case mqs.ErrhandlerHandle:
		p.resolveErrhandler(h, inferior.Ptr[errhandler](at))
	case mqs.FileHandle:
		p.resolveFile(h, inferior.Ptr[file](at))
	case mqs.InfoHandle:
		p.resolveInfo(h, inferior.Ptr[info](at))
	case mqs.MessageHandle:
		p.resolveMessage(q, h, inferior.Ptr[Message](at))
	case mqs.SessionHandle:
		p.resolveSession(h, inferior.Ptr[instance](at))
	}
	return h
}

// readObject reads an object that a handle stands for, once its class has proved what it is. It returns false of
// what is no such object, which the handle then says. isFreed says whether one that has been freed has stood there,
// and is nil if that can't be told.
func readObject[T any](p *Process, h *mqs.Handle, s *inferior.Struct[T], at inferior.Ptr[T], isFreed func() bool) (T, bool) {
	var none T
	if !s.Bound() {
		h.Notes = append(h.Notes, "what it stands for is not known: "+errNotBound.Error())
		return none, false
	}
	name, err := p.classAt(inferior.Ptr[Object](at))
	switch {
	case errors.Is(err, errNoClass) && isFreed != nil && isFreed():
		h.State = mqs.FreedHandle
		return none, false
	case err != nil || name != s.Name():
		h.State = mqs.InvalidHandle
		return none, false
	}
	out, err := s.Read(p.R, at)
	if err != nil {
		h.State = mqs.InvalidHandle
		return none, false
	}
	return out, true
}

// predefined says that a handle stands for an object of MPI's own, if its place in the array of its kind is
// one of those that these have: the first ones. The first of names is that of the null handle.
func predefined(h *mqs.Handle, index int32, names ...string) bool {
	if !h.FortranHandle.Known || index < 0 || int(index) >= len(names) {
		return false
	}
	h.State, h.Name = mqs.PredefinedHandle, mqs.Known(names[index])
	if strings.HasSuffix(names[index], "_NULL") {
		h.State = mqs.NullHandle
	}
	return true
}

// commFreed is the flag of a communicator that the program has freed, and that stays until what is under way on
// it is over (ompi/communicator/communicator.h, 4.0 to 6.0).
const commFreed = 0x10

func (p *Process) resolveComm(h *mqs.Handle, at inferior.Ptr[Communicator]) {
	c, ok := readObject(p, h, &p.Communicator, at, func() bool {
		return isFreed(p, &p.Communicator, at.Addr(), func(c *Communicator) *inferior.Embedded[Object] { return &c.Lock })
	})
	if !ok || p.hasFortranIndex() && !p.enter(h, at.Addr(), c.FortranIndex) {
		return
	}
	if c.Flags&commFreed != 0 {
		h.State, h.FortranHandle = mqs.FreedHandle, mqs.Maybe[int32]{}
		return
	}
	h.State = mqs.LiveHandle
	if predefined(h, c.FortranIndex, "MPI_COMM_WORLD", "MPI_COMM_SELF", "MPI_COMM_NULL") && h.State == mqs.NullHandle {
		return
	}
	of := p.communicatorOf(at)
	switch {
	case of == nil:
		h.Notes = append(h.Notes, "it is not among the communicators of the process")
		return
	case of.Window.Known || of.File.Known: // no program is given one of these
		h.State, h.FortranHandle = mqs.FreedHandle, mqs.Maybe[int32]{}
		h.Notes = append(h.Notes, "the library has put a communicator of its own in its place, for "+of.Label())
		return
	case h.State == mqs.LiveHandle:
		h.Name = of.Name
	}
	h.Communicator = of
}

// communicatorOf is the communicator at an address as it is shown, nil if there is none.
func (p *Process) communicatorOf(at inferior.Ptr[Communicator]) *mqs.Communicator {
	if len(p.Comms) == 0 {
		for _, err := range p.Communicators() {
			_ = err // what can't be read is said where the queues are
		}
	}
	if c := p.CommAt(at); c != nil {
		out := *c.Model
		return &out
	}
	return nil
}

// Flags of a datatype (opal/datatype/opal_datatype.h and ompi/datatype/ompi_datatype.h). The upper ones were moved
// where there is room for more (6.0).
const (
	datatypeCommitted      = 0x4
	datatypePredefined     = 0x200
	datatypePredefinedWide = 0x40000
)

func (p *Process) resolveDatatype(h *mqs.Handle, at inferior.Ptr[Datatype]) {
	if !p.isDatatype(at) {
		h.State = mqs.InvalidHandle
		return
	}
	d, err := p.Datatype.Read(p.R, at)
	if err != nil {
		h.State = mqs.InvalidHandle
		return
	}
	if _, isThere := inferior.OffsetOf(&p.Datatype, func(d *Datatype) *int32 { return &d.FortranIndex }); isThere && !p.enter(h, at.Addr(), d.FortranIndex) {
		return
	}
	h.State = mqs.LiveHandle
	if predefined(h, d.FortranIndex, "MPI_DATATYPE_NULL") { // whose own name is another one
		return
	}
	predefinedFlag := map[int]uint32{2: datatypePredefined, 4: datatypePredefinedWide}[inferior.SizeOf(&p.Datatype, func(d *Datatype) *uint32 { return &d.Flags })]
	switch {
	case d.Flags&predefinedFlag != 0:
		h.State = mqs.PredefinedHandle
	case predefinedFlag != 0 && p.DatatypeArgs.Bound() && d.Args == 0: // all that MPI builds for programs keep how
		h.State = mqs.FreedHandle
		h.Notes = append(h.Notes, "the library has put a datatype of its own in its place")
		return
	}
	of := p.DatatypeInfo(at)
	h.Name = of.Name
	h.Datatype = &mqs.Datatype{Name: of.Name, Size: of.Size, Construction: p.Construction(at)}
	if predefinedFlag != 0 {
		h.Datatype.Committed = mqs.Known(d.Flags&(datatypeCommitted|predefinedFlag) != 0)
	}
	if _, isThere := inferior.OffsetOf(&p.Datatype, func(d *Datatype) *int64 { return &d.UpperBound }); isThere {
		h.Datatype.LowerBound, h.Datatype.Extent = mqs.Known(d.LowerBound), mqs.Known(d.UpperBound-d.LowerBound)
	}
}

func (p *Process) resolveGroup(h *mqs.Handle, at inferior.Ptr[Group]) {
	g, ok := readObject(p, h, &p.Group, at, nil)
	if !ok {
		return
	}
	if _, isThere := inferior.OffsetOf(&p.Group, func(g *Group) *int32 { return &g.FortranIndex }); isThere && !p.enter(h, at.Addr(), g.FortranIndex) {
		return
	}
	h.State = mqs.LiveHandle
	if predefined(h, g.FortranIndex, "MPI_GROUP_NULL", "MPI_GROUP_EMPTY") && h.State == mqs.NullHandle {
		return
	}
	h.Group = &mqs.ProcessGroup{}
	if g.ProcCount >= 0 && g.ProcCount <= MaxGroup {
		h.Group.Size = mqs.Known(g.ProcCount)
	}
	if g.MyRank >= 0 {
		h.Group.LocalRank = mqs.Known(g.MyRank)
	}
	members, err := p.groupOf(at)
	if err != nil {
		h.Notes = append(h.Notes, "its members can't be read: "+err.Error())
	} else if h.Group.Members = members; members == nil {
		h.Group.Members = []mqs.Maybe[int32]{}
	}
}

func (p *Process) resolveWin(h *mqs.Handle, at inferior.Ptr[win]) {
	w, ok := readObject(p, h, &p.Win, at, func() bool {
		return isFreed(p, &p.Win, at.Addr(), func(w *win) *inferior.Embedded[Object] { return &w.Lock })
	})
	if !ok || !p.enter(h, at.Addr(), w.FortranIndex) {
		return
	}
	h.State = mqs.LiveHandle
	if predefined(h, w.FortranIndex, "MPI_WIN_NULL") {
		return
	}
	windows, _ := p.allWindows()
	i := slices.IndexFunc(windows, func(w *window) bool { return w.at == at.Addr() })
	if i < 0 {
		h.State = mqs.FreedHandle
		return
	}
	h.Communicator = p.communicatorOf(windows[i].comm)
	h.Window = &p.Windows()[i]
	h.Name = h.Window.Name
}

func (p *Process) resolveFile(h *mqs.Handle, at inferior.Ptr[file]) {
	f, ok := readObject(p, h, &p.File, at, func() bool {
		return isFreed(p, &p.File, at.Addr(), func(f *file) *inferior.Embedded[Object] { return &f.Lock })
	})
	if !ok || !p.enter(h, at.Addr(), f.FortranIndex) {
		return
	}
	h.State = mqs.LiveHandle
	if predefined(h, f.FortranIndex, "MPI_FILE_NULL") {
		return
	}
	h.Communicator = p.communicatorOf(f.Comm)
	files, _ := p.allFiles()
	if i := slices.IndexFunc(files, func(f *openFile) bool { return f.model.Handle == at.Addr() }); i >= 0 {
		h.File = &p.Files()[i]
		h.Name = h.File.Name
	}
}

// Flags of an operation (ompi/op/op.h, 4.0 to 6.0).
const (
	opIntrinsic = 0x1
	opCommutes  = 0x40
)

const maxOpName = 64 // bytes; MPI_MAX_OBJECT_NAME

func (p *Process) resolveOp(h *mqs.Handle, at inferior.Ptr[op]) {
	o, ok := readObject(p, h, &p.Op, at, nil)
	if !ok || !p.enter(h, at.Addr(), o.FortranIndex) {
		return
	}
	h.State = mqs.LiveHandle
	if predefined(h, o.FortranIndex, "MPI_OP_NULL") { // whose own name is another one
		return
	}
	if o.Flags&opIntrinsic != 0 {
		h.State = mqs.PredefinedHandle
		if name, err := o.Name.Read(p.R, maxOpName); err == nil {
			h.Name = mqs.Known(name)
		}
	}
	h.Commutative = mqs.Known(o.Flags&opCommutes != 0)
}

func (p *Process) resolveErrhandler(h *mqs.Handle, at inferior.Ptr[errhandler]) {
	e, ok := readObject(p, h, &p.Errhandler, at, nil)
	if !ok || !p.enter(h, at.Addr(), e.FortranIndex) {
		return
	}
	h.State = mqs.LiveHandle
	// MPI's own alone have a name.
	name, err := e.Name.Read(p.R, maxOpName)
	switch {
	case err != nil || name == "":
	case name == "MPI_ERRHANDLER_NULL":
		h.State, h.Name = mqs.NullHandle, mqs.Known(name)
	default:
		h.State, h.Name = mqs.PredefinedHandle, mqs.Known(name)
	}
}

func (p *Process) resolveSession(h *mqs.Handle, at inferior.Ptr[instance]) {
	s, ok := readObject(p, h, &p.Instance, at, nil)
	if !ok || !p.enter(h, at.Addr(), s.FortranIndex) {
		return
	}
	h.State = mqs.LiveHandle
	if predefined(h, s.FortranIndex, "MPI_SESSION_NULL") {
		return
	}
	if name, err := s.Name.Read(p.R, maxOpName); err == nil && name != "" {
		h.Name = mqs.Known(name)
	}
}

// resolveStatus reads an MPI_Status out of its bytes or, if none were given, out of memory. Every value of each
// member is one that may be there.
func (p *Process) resolveStatus(h *mqs.Handle, v mqs.HandleValue) {
	if !p.Status.Bound() {
		h.Notes = append(h.Notes, "what it holds is not known: "+errNotBound.Error())
		return
	}
	data := v.Data
	if len(data) == 0 {
		b, err := p.R.Bytes(inferior.Addr(v.Value), p.Status.Size())
		if err != nil {
			h.State = mqs.InvalidHandle
			return
		}
		data = b
	}
	s, ok := inferior.Decode(&p.Status, p.R, data)
	if !ok {
		h.State = mqs.InvalidHandle
		return
	}
	h.State = mqs.LiveHandle
	h.Status = &mqs.MessageStatus{Source: mqs.Known(s.Source), Tag: mqs.Known(s.Tag), Error: mqs.Known(s.Error), Cancelled: mqs.Known(s.Cancelled)}
	if int64(s.Length) >= 0 {
		h.Status.Length = mqs.Known(int64(s.Length))
	}
}
