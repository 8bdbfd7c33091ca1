package mpir

import (
	"cmp"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// flavors are MPICH's numbers for how a window came to its memory (src/include/mpi.h.in, 4.0 to 5.0).
var flavors = map[int32]mqs.Flavor{1: mqs.CreatedWindow, 2: mqs.AllocatedWindow, 3: mqs.DynamicWindow, 4: mqs.SharedWindow}

// Window is a window, and its communicator.
type Window struct {
	At inferior.Ptr[Win]
	Win
	On *Communicator
}

// readWindows reads those that exist, in the order of their handles; nil if they are not known. One
// without a communicator is being made or taken apart.
func (l *Library) readWindows(comms map[inferior.Addr]*Communicator) []*Window {
	out := []*Window{}
	err := l.pools.wins.each(func(at inferior.Ptr[Win], w *Win) {
		if c := comms[w.Comm.Addr()]; c != nil {
			out = append(out, &Window{At: at, Win: *w, On: c})
		}
	})
	if err != nil {
		return nil
	}
	slices.SortStableFunc(out, func(a, b *Window) int { return cmp.Compare(a.Handle, b.Handle) })
	return out
}

// Windows are those of the process (read.Lister).
func (s *Source) Windows() []mqs.Window {
	windows := s.communicators().windows
	if windows == nil {
		return nil
	}
	out := []mqs.Window{}
	for _, w := range windows {
		out = append(out, s.window(w))
	}
	return out
}

// window describes a window.
func (s *Source) window(w *Window) mqs.Window {
	out := mqs.Window{
		Handle:           inferior.Addr(w.Handle),
		FortranHandle:    mqs.Known(int32(w.Handle)),
		Name:             s.nameOf(w.Name),
		Flavor:           flavors[w.Flavor],
		Base:             mqs.Known(w.Base),
		DisplacementUnit: mqs.Known(w.Unit),
	}
	if w.Size >= 0 {
		out.Length = mqs.Known(w.Size)
	}
	out.Comm, out.LocalRank, out.Size = mqs.Known(w.On.Model.UniqueID), w.On.Model.LocalRank, w.On.Model.Size
	out.Epochs, out.LockWaiters = s.device.Epochs(w), s.device.LockWaiters(w)
	if e := s.startOf(w); e != nil && !slices.ContainsFunc(out.Epochs, func(e mqs.Epoch) bool { return e.Kind == mqs.StartEpoch }) && out.Epochs != nil {
		out.Epochs = append(out.Epochs, *e)
	}
	return out
}

// nameOf reads a name.
func (s *Source) nameOf(t inferior.Text) mqs.Maybe[string] {
	name, err := t.Read(s.lib.Reader, MaxName)
	if err != nil {
		return mqs.Maybe[string]{}
	}
	return mqs.Known(name)
}

// serveWindows tells communicators which windows they were made for.
func (s *Source) serveWindows(c *communicators) {
	c.windows = s.lib.readWindows(c.byID)
	for _, w := range c.windows {
		w.On.Model.Window = s.nameOf(w.Name)
	}
}

// LocalRanks are the ranks in a window of the members of a group, which is one of a part of its processes; nil if
// they can't be told.
func (l *Library) LocalRanks(w *Window, at inferior.Ptr[GroupObject]) []int32 {
	if at == 0 || !l.o.group.Group.Bound() {
		return nil
	}
	g, err := l.o.group.Group.Read(l.Reader, at)
	if err != nil || !IsHandle(g.Handle, objectGroup) || g.RefCount <= 0 {
		return nil
	}
	members, err := l.membersOf(&g)
	if err != nil {
		return nil
	}
	places := map[int32]int32{}
	for i, m := range w.On.Model.Group {
		if m.Known {
			places[m.Value] = int32(i)
		}
	}
	out := []int32{}
	for _, m := range members {
		place, ok := places[m.Value]
		if !m.Known || !ok {
			return nil
		}
		out = append(out, place)
	}
	return out
}
