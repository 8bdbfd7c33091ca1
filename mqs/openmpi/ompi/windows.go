package ompi

import (
	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// Keys of a window's attributes (ompi/include/mpi.h.in, 4.0 to 6.0). Every window has them, whatever component
// carries it (ompi/win/win.c).
const (
	attributeBase             = 7
	attributeLength           = 8
	attributeDisplacementUnit = 9
)

// flavors are the values of MPI_WIN_CREATE_FLAVOR.
var flavors = map[uint16]mqs.Flavor{1: mqs.CreatedWindow, 2: mqs.AllocatedWindow, 3: mqs.DynamicWindow, 4: mqs.SharedWindow}

const (
	maxWindowName = 1 << 10 // bytes; MPI_MAX_OBJECT_NAME is 64
	winFreed      = 0x1     // a flag of a window (ompi/win/win.h)
)

// window is a window that has been read.
type window struct {
	at inferior.Addr
	win
	model mqs.Window
	// comm is the communicator that its component has made for it, 0 if not known.
	comm inferior.Ptr[Communicator]
	// asked is the lock that an object is of, as its component has it that makes one for each lock, and ok is
	// true if it is one of this window's that has not been granted; nil with other components.
	asked func(at inferior.Addr) (target int32, ok bool)
	// locksFirst is true if its component enters a lock before it has been granted.
	locksFirst bool
}

// Windows are those of the process, in the order of their Fortran handles; nil if they are not known.
func (p *Process) Windows() []mqs.Window {
	windows, isKnown := p.allWindows()
	if !isKnown {
		return nil
	}
	out := make([]mqs.Window, len(windows))
	for i, w := range windows {
		out[i] = w.model
		if c := p.CommAt(w.comm); c != nil {
			out[i].Comm = mqs.Known(c.Model.UniqueID)
		}
	}
	return out
}

// allWindows reads the windows, once, and says whether they are known.
func (p *Process) allWindows() ([]*window, bool) {
	if !p.windowsRead {
		p.windows, p.windowsKnown = p.readWindows()
		p.windowsRead = true
	}
	return p.windows, p.windowsKnown
}

func (p *Process) readWindows() (out []*window, isKnown bool) {
	if !p.Win.Bound() {
		return nil, false
	}
	places, err := p.all(symWindows)
	if err != nil {
		return nil, false
	}
	var ranges []inferior.Range
	for _, at := range places {
		if at != 0 {
			ranges = append(ranges, inferior.Range{Addr: at, Len: p.Win.Size()})
		}
	}
	if len(ranges) == 0 {
		return nil, true
	}
	_ = p.R.Prefetch(ranges) // what fails here fails again below
	for i, at := range places {
		if at == 0 || i == 0 { // MPI_WIN_NULL
			continue
		}
		if err := ProveClass(p, &p.Win, inferior.Ptr[win](at)); err != nil {
			p.Notef("window %d is left out: %v", i, err)
			continue
		}
		w, err := p.Win.Read(p.R, inferior.Ptr[win](at))
		if err != nil {
			p.Notef("window %d is left out: %v", i, err)
			continue
		}
		if w.Flags&winFreed == 0 {
			out = append(out, &window{at: at, win: w})
		}
	}
	p.prefetchWindows(out)
	for _, w := range out {
		p.describeWindow(w)
	}
	return out, true
}

// prefetchWindows brings what windows point to, for all of them at once.
func (p *Process) prefetchWindows(windows []*window) {
	var ranges []inferior.Range
	for _, w := range windows {
		ranges = append(ranges, inferior.Range{Addr: w.Group.Addr(), Len: p.Group.Size()},
			inferior.Range{Addr: w.Attributes.Addr(), Len: p.HashTable.Size()},
			inferior.Range{Addr: w.Module, Len: max(p.OSCRDMA.Size(), p.OSCSM.Size(), p.OSCPt2pt.Size())})
	}
	_ = p.R.Prefetch(ranges)
	ranges = nil
	for _, w := range windows {
		if t, err := p.HashTable.Read(p.R, w.Attributes); p.HashTable.Bound() && err == nil && t.Capacity <= maxHashTable {
			ranges = append(ranges, inferior.RangeOf(&p.HashElement, t.Elements, int(t.Capacity)))
		}
	}
	_ = p.R.Prefetch(ranges)
}

// describeWindow fills in what is known of a window.
func (p *Process) describeWindow(w *window) {
	w.model = mqs.Window{Handle: w.at, Flavor: flavors[w.Flavor]}
	if w.FortranIndex >= 0 {
		w.model.FortranHandle = mqs.Known(p.integer(mqs.WinHandle, w.FortranIndex))
	}
	if name, err := w.Name.Read(p.R, maxWindowName); err == nil {
		w.model.Name = mqs.Known(name)
	}
	if g, err := p.Group.Read(p.R, w.Group); err == nil && g.ProcCount >= 0 && g.ProcCount <= MaxGroup {
		w.model.Size = mqs.Known(g.ProcCount)
		if g.MyRank >= 0 {
			w.model.LocalRank = mqs.Known(g.MyRank)
		}
	}
	p.readAttributes(w)
	p.readModule(w)
}

// readAttributes fills in the attributes that every window has.
func (p *Process) readAttributes(w *window) {
	if w.Attributes == 0 {
		return
	}
	held, err := p.hashed(w.Attributes)
	if err != nil {
		return
	}
	if a, ok := p.attribute(held[attributeBase]); ok && a.Address != 0 {
		w.model.Base = mqs.Known(a.Address)
	}
	if a, ok := p.attribute(held[attributeLength]); ok && a.Length >= 0 {
		w.model.Length = mqs.Known(a.Length)
	}
	if a, ok := p.attribute(held[attributeDisplacementUnit]); ok {
		w.model.DisplacementUnit = mqs.Known(a.Integer)
	}
}

// attribute reads an attribute's value, whose class says which of the two types it has. It returns false for an attribute
// that is missing or of another layout.
func (p *Process) attribute(at inferior.Addr) (attribute, bool) {
	if now := inferior.Ptr[attribute](at); p.Attribute.Bound() && ProveClass(p, &p.Attribute, now) == nil {
		a, err := p.Attribute.Read(p.R, now)
		return a, err == nil
	}
	if old := inferior.Ptr[oldAttr](at); p.OldAttribute.Bound() && ProveClass(p, &p.OldAttribute, old) == nil {
		a, err := p.OldAttribute.Read(p.R, old)
		return attribute{Integer: int32(a.Value), Address: inferior.Addr(a.Value), Length: a.Value}, err == nil
	}
	return attribute{}, false
}
