package ompi

import (
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/callstack"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// looksAfterMessages are the functions in which waiting calls stand. opal_progress ends in
// sched_yield, which then has its frame.
var looksAfterMessages = map[string]bool{"opal_progress": true, "ompi_request_wait_completion": true, "ompi_sync_wait_mt": true, "sync_wait_st": true,
	"sched_yield": true, "__sched_yield": true, "__GI_sched_yield": true, "__GI___sched_yield": true}

// IsWaiting says whether a call is where it looks after messages until its request is complete:
// the library's function for that stands directly inside the one that waits.
func IsWaiting(c *callstack.Call) bool {
	_, is := waitsIn(c)
	return is
}

// waitsIn returns the functions inside of a waiting call's own in which it waits.
func waitsIn(c *callstack.Call) (inside []inferior.Frame, is bool) {
	const most = 2
	own := len(c.Frames) - 1
	for i, f := range slices.Backward(c.Frames) {
		if looksAfterMessages[f.Function] {
			return c.Frames[min(i+1, own):own], i < own && own-1-i <= most
		}
	}
	return nil, false
}

// argument returns the value of an argument of a call, or of a function inside of it that it calls
// itself: those inside of where it looks after messages belong to whatever else is on its way.
func argument(c *callstack.Call, name string) (int64, bool) {
	outer := callstack.Call{Frames: c.Frames}
	for i, f := range slices.Backward(c.Frames) {
		if looksAfterMessages[f.Function] {
			outer.Frames = c.Frames[i:]
			break
		}
	}
	return outer.Argument(name)
}

// agreesOnContext says whether a call that makes a communicator waits until its members have
// agreed on the context, by non-blocking collectives on the communicator that it was given
// (ompi/communicator/comm_cid.c, 4.0 to 6.0). From 5.0 on, a function of the library's own,
// which has no name there, waits for it.
func agreesOnContext(c *callstack.Call) bool {
	for i, f := range slices.Backward(c.Frames) {
		if looksAfterMessages[f.Function] {
			by := c.Frames[i+1:]
			if len(by) > 1 && by[0].Function == "" {
				by = by[1:]
			}
			return len(by) > 0 && by[0].Function == "ompi_comm_nextcid"
		}
	}
	return false
}

// Exchanged returns those requests of MPI_Sendrecv's own that it waits for, and whether they are all. of
// returns its send or its receive, none if it may be any of several. It posts its receive, waits for its
// send and then, by the function of MPI_Wait, for its receive (ompi/mpi/c/sendrecv.c, 4.0 to 6.0). It makes
// no request for MPI_PROC_NULL: while it waits for its send, only its argument tells whether it has a receive.
func Exchanged(c *callstack.Call, of func(class mqs.OpClass) []Waitable) (own []Waitable, all bool) {
	inside, _ := waitsIn(c)
	if slices.ContainsFunc(inside, func(f inferior.Frame) bool { return f.Function == "ompi_request_default_wait" }) {
		own = of(mqs.PendingReceives)
		return own, len(own) == 1
	}
	own = of(mqs.PendingSends)
	from, isKnown := c.CallArgument("source")
	if !isKnown || int32(from) < AnySource { // MPI_PROC_NULL, which has another value in the ABI
		return own, isKnown && len(own) == 1
	}
	own = append(own, of(mqs.PendingReceives)...)
	return own, len(own) == 2
}

// OwnWords are those of a call's own frame, in which MPI_Sendrecv has the handle of its receive,
// and of the part of it that compilers put aside (6.0): a function without a name.
func (p *Process) OwnWords(c *callstack.Call) map[inferior.Addr]bool {
	own := len(c.Frames) - 1
	for own > 0 && c.Frames[own-1].Function == "" {
		own--
	}
	frame := c.Frames[own].StackPointer
	words, err := p.R.Pointers(frame, int(c.Stack.Addr+inferior.Addr(c.Stack.Len)-frame)/p.R.Info().PointerSize)
	if err != nil {
		return nil
	}
	out := make(map[inferior.Addr]bool, len(words))
	for _, w := range words {
		out[w] = true
	}
	return out
}
