package ompi

import (
	"cmp"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// setObjects fills in on which window or file a call works.
func (p *Process) setObjects(c *callstack.Call, to *callstack.Wait) {
	file := c
	for file != nil && !callstack.HasFile(file.Function) {
		file = file.Outer
	}
	if file != nil {
		if f := p.fileOf(file); f != nil {
			to.File = mqs.Known(f.model.Handle)
			if !to.Comm.Known && len(to.Requests) == 0 {
				to.Comm = p.idOf(f.comm)
			}
		}
	}
	if !callstack.HasWindow(c.Function) {
		return
	}
	w := p.windowOf(c)
	if w == nil {
		return
	}
	to.Window = mqs.Known(w.at)
	to.Target = p.targetOf(c, w)
	if !to.Comm.Known && len(to.Requests) == 0 {
		to.Comm = p.idOf(w.comm)
	}
}

// windowOf is the window that a call works on, nil if that is not known: the one that it was given, or the only
// one of which it holds the handle or the component's part. Those that it has in registers come first.
func (p *Process) windowOf(c *callstack.Call) *window {
	windows, _ := p.allWindows()
	if given, isKnown := c.CallArgument("win"); isKnown {
		return onlyOne(windows, func(w *window) bool { return w.at == inferior.Addr(given) })
	}
	held := func(is func(inferior.Addr) bool) *window {
		return onlyOne(windows, func(w *window) bool { return is(w.at) || w.Module != 0 && is(w.Module) })
	}
	return cmp.Or(held(c.Keeps), held(func(a inferior.Addr) bool { return c.CandidatePointers[a] }))
}

// fileOf is the same of a file.
func (p *Process) fileOf(c *callstack.Call) *openFile {
	files, _ := p.allFiles()
	given, isKnown := c.CallArgument("fh")
	return onlyOne(files, func(f *openFile) bool {
		if isKnown {
			return f.model.Handle == inferior.Addr(given)
		}
		return c.CandidatePointers[f.model.Handle]
	})
}

// onlyOne is the only one of some objects of which something is true, nil if there are several.
func onlyOne[T any](objects []*T, is func(*T) bool) *T {
	var out *T
	for _, o := range objects {
		switch {
		case !is(o):
		case out != nil:
			return nil
		default:
			out = o
		}
	}
	return out
}

// targetOf is the local rank whose memory a call locks, unlocks or flushes: the one that it was given, or that of
// the only lock that can be the one that it asks for.
func (p *Process) targetOf(c *callstack.Call, w *window) mqs.Maybe[int32] {
	if !callstack.HasTarget(c.Function) || !w.model.Size.Known {
		return mqs.Maybe[int32]{}
	}
	isRank := func(rank int32) bool { return rank >= 0 && rank < w.model.Size.Value }
	if rank, ok := c.CallArgument("rank"); ok {
		return mqs.Maybe[int32]{Value: int32(rank), Known: isRank(int32(rank))}
	}
	if c.Function != "MPI_Win_lock" {
		return mqs.Maybe[int32]{}
	}
	if w.locksFirst {
		return onlyLock(w.model.Epochs)
	}
	if w.asked == nil || p.prefetchWords(c) != nil {
		return mqs.Maybe[int32]{}
	}
	out := mqs.Maybe[int32]{}
	for a := range c.CandidatePointers {
		switch target, ok := w.asked(a); {
		case c.OnStack(a) || !ok || !isRank(target):
		case out.Known && out.Value != target:
			return mqs.Maybe[int32]{}
		default:
			out = mqs.Known(target)
		}
	}
	return out
}

// onlyLock is the target of the only lock among some epochs.
func onlyLock(epochs []mqs.Epoch) mqs.Maybe[int32] {
	out := mqs.Maybe[int32]{}
	for _, e := range epochs {
		switch {
		case e.Kind != mqs.LockEpoch:
		case out.Known || len(e.Ranks) != 1:
			return mqs.Maybe[int32]{}
		default:
			out = mqs.Known(e.Ranks[0])
		}
	}
	return out
}
