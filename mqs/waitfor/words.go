package waitfor

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// goalTo returns what a rank is held to wait for another with, nil if it does not.
func (j *job) goalTo(rank, other int32) (*wait, *goal) {
	for i := range j.ranks[rank].waits {
		w := &j.ranks[rank].waits[i]
		for k := range w.goals {
			g := &w.goals[k]
			if j.holds(g) && (g.rank == other || g.rank < 0 && rank != other && slices.Contains(g.group.ranks, other)) {
				return w, g
			}
		}
	}
	return nil, nil
}

// waitFor describes that a rank waits for another.
func (j *job) waitFor(rank, other int32) Wait {
	out := Wait{Rank: rank, For: other}
	w, g := j.goalTo(rank, other)
	if w == nil {
		return out
	}
	if g.op != nil {
		out.Class = mqs.Known(g.class)
	}
	out.Operation = j.operation(w, g)
	if t := w.thread; t != nil {
		out.Call, out.Function, out.File, out.Line = t.Call, t.Function, t.File, t.Line
	}
	return out
}

// operation says in words what a thread waits for.
func (j *job) operation(w *wait, g *goal) string {
	if g.op == nil {
		return w.thread.Call + " on " + j.commOf(g).label()
	}
	return operationWords(g.of, g.class, g.op)
}

// title is how a communicator is called by itself: a name needs no quotes there.
func (c *communicator) title() string {
	if c.name != "" {
		return c.name
	}
	return c.label()
}

// notLookedAt is where a rank is that no process was given of, as a part of a sentence.
const notLookedAt = "not among the processes that were looked at"

// commOf is the communicator that a goal is on. MPI_Finalize is of all ranks.
func (j *job) commOf(g *goal) *communicator {
	switch {
	case g.of != nil:
		return g.of.comm
	case g.group.comm != nil:
		return g.group.comm
	}
	return &communicator{name: world, known: true}
}

// operationWords describes an operation: "receive from rank 1, tag 7, on MPI_COMM_WORLD".
func operationWords(m *member, class mqs.OpClass, op *mqs.PendingOperation) string {
	var b strings.Builder
	if op.Internal {
		b.WriteString("the library's ")
	}
	switch {
	case class == mqs.PendingSends:
		b.WriteString("send to ")
	case isProbe(op):
		b.WriteString("probe for a message from ")
	default:
		b.WriteString("receive from ")
	}
	b.WriteString(peerWords(m, op.DesiredLocalRank))
	switch {
	case op.Internal:
	case op.TagWild.Known && op.TagWild.Value:
		b.WriteString(", any tag")
	case op.DesiredTag.Known:
		fmt.Fprintf(&b, ", tag %d", op.DesiredTag.Value)
	}
	b.WriteString(", on " + m.comm.label())
	return b.String()
}

// tagWords is a tag in a sentence.
func tagWords(tag mqs.Maybe[int32], isAny bool) string {
	switch {
	case isAny:
		return "any tag"
	case tag.Known:
		return fmt.Sprintf("tag %d", tag.Value)
	}
	return "a tag that is not known"
}

// peerWords names the peer of an operation by its global rank.
func peerWords(m *member, local mqs.Maybe[int32]) string {
	switch {
	case !local.Known:
		return "a rank that is not known"
	case local.Value == mqs.AnyRank:
		return "any rank"
	}
	if g := m.globalOf(local.Value); g >= 0 {
		return fmt.Sprintf("rank %d", g)
	}
	return fmt.Sprintf("rank %d of %s", local.Value, m.comm.label())
}

// thread is the thread that says most about what a rank does: one that can go
// on if the rank can for that reason, else one in a call that waits; nil if
// none is known.
func (r *rank) thread() *mqs.Thread {
	if r.process == nil || len(r.process.Threads) == 0 {
		return nil
	}
	threads := r.process.Threads
	says := func(t mqs.Thread) bool { return behaviours[t.Call] != goesOn }
	if r.mobility == free {
		says = func(t mqs.Thread) bool {
			return behaviours[t.Call] == goesOn && (t.Call != "" || t.Function != "" || t.File != "")
		}
	}
	return &threads[max(slices.IndexFunc(threads, says), 0)]
}

// at is where a thread is: "ring.c:42"; the function if the line is not known,
// and empty if that is not either.
func at(t *mqs.Thread) string {
	switch {
	case t.File != "" && t.Line > 0:
		return fmt.Sprintf("%s:%d", path.Base(t.File), t.Line)
	case t.File != "":
		return path.Base(t.File)
	}
	return t.Function
}

// callWords is a call and where it is: "MPI_Recv (ring.c:42)".
func callWords(t *mqs.Thread) string {
	if where := at(t); where != "" {
		return t.Call + " (" + where + ")"
	}
	return t.Call
}

// now says where a rank is, as the rest of a sentence: "is now in MPI_Waitall (ring.c:60)".
func (j *job) now(rank int32) string {
	r := &j.ranks[rank]
	switch {
	case r.process == nil:
		return "is " + notLookedAt
	case r.process.Phase == mqs.Finished:
		return "has finished MPI"
	case r.process.Phase == mqs.Exited:
		return "has exited"
	}
	t := r.thread()
	switch {
	case t == nil:
		return "is somewhere that is not known"
	case t.Call != "":
		return "is now in " + callWords(t)
	case at(t) != "":
		return "is now at " + at(t) + ", in no MPI call"
	}
	return "is in no MPI call now"
}
