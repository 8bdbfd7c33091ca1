package waitfor

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// dependencyOn returns a wait of a rank and its dependency on another rank; nil if there is none.
func (j *job) dependencyOn(rank, other int32) (*wait, *dependency) {
	for i := range j.ranks[rank].waits {
		w := &j.ranks[rank].waits[i]
		for k := range w.deps {
			g := &w.deps[k]
			if j.holds(g) && (g.rank == other || g.rank < 0 && rank != other && slices.Contains(g.set.ranks, other)) {
				return w, g
			}
		}
	}
	return nil, nil
}

// waitFor describes the wait of a rank for another.
func (j *job) waitFor(rank, other int32) Wait {
	out := Wait{Rank: rank, For: other}
	w, g := j.dependencyOn(rank, other)
	if w == nil {
		return out
	}
	if g.op != nil {
		out.Class = mqs.Known(g.class)
	}
	out.Operation = j.operation(w, g) + j.hasEntered(g, other)
	if t := w.thread; t != nil {
		out.Call, out.Function, out.File, out.Line, out.Callers = t.Call, t.Function, t.File, t.Line, t.Callers
	}
	return out
}

// operation describes what a thread waits for.
func (j *job) operation(w *wait, g *dependency) string {
	switch {
	case w.what != "":
		return w.what
	case g.words != "":
		return g.words
	case g.request != nil:
		return numbered(g.request.Sequence.Value) + " on " + g.member.comm.label()
	case g.op == nil:
		return w.thread.Call + " on " + j.commOf(g).label()
	}
	text := operationWords(g.member, g.class, g.op)
	if w.someOf {
		text += ", or another one"
	}
	return text
}

// title is the name of a communicator where it stands by itself, without quotes.
func (c *communicator) title() string {
	if c.serves == "" && c.name != "" {
		return c.name
	}
	return c.label()
}

// notLookedAt says where a rank is of which there is no process, as a part of a sentence.
const notLookedAt = "not among the processes that were looked at"

// commOf returns the communicator of a dependency. That of MPI_Finalize is of all ranks.
func (j *job) commOf(g *dependency) *communicator {
	switch {
	case g.member != nil:
		return g.member.comm
	case g.set.comm != nil:
		return g.set.comm
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

// tagWords names a tag in a sentence.
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

// thread returns the thread that says most about what a rank does: one that can go on if the rank
// can move, else one in a waiting call; nil if no thread is known.
func (r *rank) thread() *mqs.Thread {
	if r.process == nil || len(r.process.Threads) == 0 {
		return nil
	}
	if r.held != nil {
		return r.held
	}
	threads := r.process.Threads
	says := func(t mqs.Thread) bool { return behaviourOf(&t) != goesOn }
	if r.mobility == mobile {
		says = func(t mqs.Thread) bool {
			return behaviourOf(&t) == goesOn && (t.Call != "" || t.Function != "" || t.File != "")
		}
	}
	return &threads[max(slices.IndexFunc(threads, says), 0)]
}

// functionAt says in which function a thread is, and where in it: "solve (ring.c:42)". It is empty if neither is known.
func functionAt(t *mqs.Thread) string {
	where := at(t)
	if where == "" || t.Function == "" || where == t.Function {
		return where
	}
	return fmt.Sprintf("%s (%s)", t.Function, where)
}

// at says where a thread is: "ring.c:42", or the function if the line is not known. It is empty if
// neither is. Where a wrapper has made a call, it says the same of each of the functions that lead there from
// the program: "H5Fclose from io.c:12".
func at(t *mqs.Thread) string {
	if len(t.Callers) == 0 {
		return place(t.Function, t.File, t.Line)
	}
	var places []string
	for _, c := range t.Callers {
		places = append(places, place(c.Function, c.File, c.Line))
	}
	return strings.Join(places, " from ")
}

func place(function, file string, line int) string {
	switch {
	case file != "" && line > 0:
		return path.Base(file) + ":" + strconv.Itoa(line)
	case file != "":
		return path.Base(file)
	}
	return function
}

// callWords names a call and its place: "MPI_Recv (ring.c:42)".
func callWords(t *mqs.Thread) string {
	if where := at(t); where != "" {
		return t.Call + " (" + where + ")"
	}
	return t.Call
}

// now says where a rank is now, as the rest of a sentence: "is now in MPI_Waitall (ring.c:60)".
func (j *job) now(rank int32) string {
	r := &j.ranks[rank]
	switch {
	case r.process == nil:
		return "is " + notLookedAt
	case r.process.Phase == mqs.Finished:
		return "has finished MPI"
	case r.process.Phase == mqs.Exited:
		return exitWords(r.process)
	case r.process.HasCrashed():
		return "has crashed: " + signalWords(r.process)
	case r.isUnstoppable():
		return "is " + r.holdWords()
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
