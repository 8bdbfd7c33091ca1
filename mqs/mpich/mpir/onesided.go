package mpir

import (
	"cmp"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// setObjects fills in on which window or file a call works.
func (s *Source) setObjects(c *callstack.Call, to *callstack.Wait) {
	if of := fileCall(c); of != nil {
		if at, f, ok := s.lib.fileOf(of); ok {
			to.File = mqs.Known(at.Addr())
			for _, on := range s.communicators().all {
				if on.Handle == f.Comm && !to.Comm.Known && len(to.Requests) == 0 {
					to.Comm = mqs.Known(on.Model.UniqueID)
				}
			}
		}
	}
	if !callstack.HasWindow(c.Function) {
		return
	}
	w := s.windowOf(c)
	if w == nil {
		return
	}
	to.Window = mqs.Known(inferior.Addr(w.Handle))
	if !to.Comm.Known && len(to.Requests) == 0 {
		to.Comm = mqs.Known(w.On.Model.UniqueID)
	}
	rank, isKnown := c.CallArgument("rank")
	if size := w.On.Model.Size; callstack.HasTarget(c.Function) && isKnown && rank >= 0 && size.Known && rank < int64(size.Value) {
		to.Target = mqs.Known(int32(rank))
	} else if target := s.device.LockTarget(w); c.Function == "MPI_Win_lock" && !isKnown && looksForMessages(c) && size.Known &&
		target.Value >= 0 && target.Value < size.Value {
		to.Target = target
	}
}

// looksForMessages reports whether a call has UCX look for messages, as one that waits does. Before, it may wait for the library's mutex.
func looksForMessages(c *callstack.Call) bool {
	return slices.ContainsFunc(c.Frames, func(f inferior.Frame) bool { return f.Function == "ucp_worker_progress" })
}

// windowOf is the window that a call works on, nil if that is not known: the one that it was given, or the only
// one whose object it holds. Those that it has in registers come first.
func (s *Source) windowOf(c *callstack.Call) *Window {
	if given, isKnown := c.Argument("win", "win_ptr"); isKnown {
		return s.onlyWindow(func(w *Window) bool {
			return w.At.Addr() == inferior.Addr(given) || w.Handle == uint32(given) && (given < 0 || given>>32 == 0)
		})
	}
	return cmp.Or(
		s.onlyWindow(func(w *Window) bool { return c.Keeps(w.At.Addr()) }),
		s.onlyWindow(func(w *Window) bool { return c.CandidatePointers[w.At.Addr()] }),
	)
}

// onlyWindow is the only window of which something is true, nil if there are several.
func (s *Source) onlyWindow(is func(*Window) bool) *Window {
	var out *Window
	for _, w := range s.communicators().windows {
		switch {
		case !is(w):
		case out != nil:
			return nil
		default:
			out = w
		}
	}
	return out
}

// startOf is the access epoch that a call is about to open on a window, of a device that enters it later; nil if
// there is none, or its ranks are not known.
func (s *Source) startOf(w *Window) *mqs.Epoch {
	calls, err := s.calls()
	if err != nil {
		return nil
	}
	for i := range calls {
		c := &calls[i]
		if c.Function != "MPI_Win_start" || s.windowOf(c) != w {
			continue
		}
		given, isKnown := c.Argument("group_ptr", "group")
		if !isKnown {
			continue
		}
		at := inferior.Ptr[GroupObject](given)
		if given>>32 == 0 || given < 0 { // a handle
			var state mqs.HandleState
			if at, _, state, err = s.lib.pools.groups.find(uint32(given)); err != nil || state != mqs.LiveHandle {
				continue
			}
		}
		if ranks := s.lib.LocalRanks(w, at); ranks != nil {
			return &mqs.Epoch{Kind: mqs.StartEpoch, Ranks: ranks, Granted: mqs.Maybe[bool]{Known: !s.device.CountsPosts()}}
		}
	}
	return nil
}

// fileOf is the file that a call works on, and where it is; false if that is not known. ROMIO keeps no list of files:
// what the call was given, or the only thing that it holds, proves to be one.
func (l *Library) fileOf(c *callstack.Call) (at inferior.Ptr[file], f file, ok bool) {
	if !l.o.file.File.Bound() {
		return 0, f, false
	}
	if given, isKnown := c.Argument("fh", "adio_fh", "fd"); isKnown {
		at = inferior.Ptr[file](given)
		f, ok = l.fileAt(at)
		return at, f, ok
	}
	var ranges []inferior.Range
	for a := range c.CandidatePointers {
		ranges = append(ranges, inferior.Range{Addr: a, Len: l.o.file.File.Size()})
	}
	_ = l.Reader.Prefetch(ranges) // what fails here fails again below
	for a := range c.CandidatePointers {
		if other, is := l.fileAt(inferior.Ptr[file](a)); is {
			if ok {
				return 0, f, false
			}
			at, f, ok = inferior.Ptr[file](a), other, true
		}
	}
	return at, f, ok
}

// fileCall is the call for files that a call is, or is made by; nil if it is neither.
func fileCall(c *callstack.Call) *callstack.Call {
	for c != nil && !callstack.HasFile(c.Function) {
		c = c.Outer
	}
	return c
}

// serveFiles tells communicators for which files they were made that calls work on.
func (s *Source) serveFiles(to *communicators) {
	calls, err := s.calls()
	if err != nil {
		return
	}
	for i := range calls {
		c := fileCall(&calls[i])
		if c == nil {
			continue
		}
		if _, f, ok := s.lib.fileOf(c); ok {
			for _, on := range to.all {
				if on.Handle == f.Comm {
					on.Model.File = s.nameOf(f.Name)
				}
			}
		}
	}
}
