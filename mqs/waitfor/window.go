package waitfor

import (
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// window is one window of the job.
type window struct {
	comm  *communicator // that the library has made for it
	parts []windowPart  // by local rank
	// locks are those that members have, or may have, by the local rank whose memory they lock; those of
	// all ranks are at everyRank.
	locks map[int32][]windowLock
}

// everyRank stands for all ranks of a window.
const everyRank = -1

// windowPart is one member's side of a window.
type windowPart struct {
	rank *rank // nil if it is not known
	// own is what its process has of the window; nil if that can't be read.
	own *mqs.Window
}

// isRead says whether it is known which epochs are open at a member.
func (p *windowPart) isRead() bool {
	return p.own != nil && (p.own.Epochs != nil || p.own.Idle == mqs.Known(true))
}

// windowLock is a lock that a member has or may have.
type windowLock struct {
	local     int32 // who has it
	exclusive mqs.Maybe[bool]
	// isSure is true if the member has it for certain: it has been granted, and no call is under way that asks
	// for it or releases it.
	isSure bool
}

// conflicts says whether a lock can't be had beside one of another kind, and whether that is certain.
func (l *windowLock) conflicts(exclusive mqs.Maybe[bool]) (may, must bool) {
	shared := mqs.Known(false)
	return l.exclusive != shared || exclusive != shared, l.exclusive == mqs.Known(true) || exclusive == mqs.Known(true)
}

// windowOf returns the window that a thread's call works on, and the rank's place in it; nil if that is not known.
func (j *job) windowOf(r *rank, t *mqs.Thread) (*window, int32) {
	if !t.Window.Known {
		return nil, -1
	}
	at := slices.IndexFunc(r.process.Windows, func(w mqs.Window) bool { return w.Handle == t.Window.Value })
	if at < 0 {
		return nil, -1
	}
	m := r.member(r.process.Windows[at].Comm)
	if m == nil || !m.comm.known || m.comm.inter || m.local < 0 {
		return nil, -1
	}
	if j.windows == nil {
		j.windows = map[*communicator]*window{}
	}
	w := j.windows[m.comm]
	if w == nil {
		w = j.newWindow(m.comm)
		j.windows[m.comm] = w
	}
	if int(m.local) >= len(w.parts) {
		return nil, -1
	}
	return w, m.local
}

// newWindow finds the parts of a window. It has none if they are more than the graph may have members.
func (j *job) newWindow(c *communicator) *window {
	w := &window{comm: c, locks: map[int32][]windowLock{}}
	group := c.sides[0].group
	if !j.affords(len(group)) {
		return w
	}
	w.parts = make([]windowPart, len(group))
	for i, global := range group {
		p := &w.parts[i]
		p.rank = j.at(global)
		m := c.sides[0].member(int32(i))
		if p.rank == nil || p.rank.process == nil || m == nil {
			continue
		}
		windows := p.rank.process.Windows
		if at := slices.IndexFunc(windows, func(w mqs.Window) bool { return w.Comm == mqs.Known(m.UniqueID) }); at >= 0 {
			p.own = &windows[at]
		}
		w.addLocks(int32(i))
	}
	return w
}

// addLocks adds the locks that a member has or may have.
func (w *window) addLocks(local int32) {
	p := &w.parts[local]
	if !p.isRead() {
		return
	}
	for _, e := range p.own.Epochs {
		switch {
		case e.Granted == mqs.Known(false):
		case e.Kind == mqs.LockAllEpoch && p.has(everyRank) != isAskedFor:
			w.locks[everyRank] = append(w.locks[everyRank], windowLock{local, mqs.Known(false), e.Granted.Known && p.has(everyRank) == isKept})
		case e.Kind == mqs.LockEpoch:
			for _, target := range e.Ranks {
				if has := p.has(target); has != isAskedFor {
					w.locks[target] = append(w.locks[target], windowLock{local, e.Exclusive, e.Granted.Known && has == isKept})
				}
			}
		}
	}
}

// keeping is what a member's calls do with a lock that its library has entered as its own.
type keeping int

const (
	isKept     keeping = iota
	isAskedFor         // a call is under way that asks for it
	isUnsure           // a call is under way that may ask for it, or releases it
)

// has says what a member's calls do with the lock of a target.
func (p *windowPart) has(target int32) keeping {
	out := isKept
	for i := range p.rank.process.Threads {
		t := &p.rank.process.Threads[i]
		if t.Window.Known && t.Window.Value != p.own.Handle {
			continue
		}
		switch t.Call {
		case "MPI_Win_lock":
			switch {
			case !t.Target.Known || !t.Window.Known:
				out = isUnsure
			case t.Target.Value == target:
				return isAskedFor
			}
		case "MPI_Win_lock_all":
			if t.Window.Known {
				return isAskedFor
			}
			out = isUnsure
		case "MPI_Win_unlock":
			if target == everyRank || t.Target.Known && t.Target.Value != target {
				continue
			}
			out = isUnsure
		case "MPI_Win_unlock_all":
			out = isUnsure
		}
	}
	return out
}

// isIn says whether a thread of a member is in a call on the window, or may be.
func (p *windowPart) isIn(calls ...string) bool {
	return slices.ContainsFunc(p.rank.process.Threads, func(t mqs.Thread) bool {
		return slices.Contains(calls, t.Call) && (!t.Window.Known || p.own == nil || t.Window.Value == p.own.Handle)
	})
}

// epoch returns the open epoch of a kind; nil if there is none.
func (p *windowPart) epoch(kind mqs.EpochKind) *mqs.Epoch {
	if p.own == nil {
		return nil
	}
	if at := slices.IndexFunc(p.own.Epochs, func(e mqs.Epoch) bool { return e.Kind == kind }); at >= 0 {
		return &p.own.Epochs[at]
	}
	return nil
}

// asked returns the targets of the locks that a member has asked for and does not have.
func (p *windowPart) asked() []int32 {
	var out []int32
	for _, e := range p.own.Epochs {
		if e.Granted == mqs.Known(false) && e.Kind == mqs.LockEpoch {
			out = append(out, e.Ranks...)
		}
	}
	return out
}

// kindOf says whether the lock of a target that a member has entered is exclusive.
func (p *windowPart) kindOf(target int32) mqs.Maybe[bool] {
	for _, e := range p.own.Epochs {
		if e.Kind == mqs.LockEpoch && slices.Contains(e.Ranks, target) {
			return e.Exclusive
		}
	}
	return mqs.Maybe[bool]{}
}

// locked returns the targets that a member has locked, if locks are its only access epochs, so that it can access nothing else. It is nil
// otherwise, or if that is unknown.
func (p *windowPart) locked() []int32 {
	var out []int32
	for _, e := range p.own.Epochs {
		switch {
		case e.Kind == mqs.PostEpoch:
		case e.Kind != mqs.LockEpoch || e.Ranks == nil || e.Granted != mqs.Known(true):
			return nil
		default:
			out = append(out, e.Ranks...)
		}
	}
	return out
}
