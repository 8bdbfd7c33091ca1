package render

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
)

// Part is a part of what a handle stands for: its name, and its value as text.
type Part struct{ Name, Text string }

// Handle writes what a handle stands for: a line, and one for each part.
func Handle(w io.Writer, h *mqs.Handle, style Style) error {
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, style.paint("1", cmp.Or(Summary(h), fmt.Sprintf("%s %#x: what it stands for is not known", typeName(h), h.Value))))
	t := newTable(2)
	for _, p := range Parts(h) {
		t.cell(p.Name)
		t.cell(p.Text)
	}
	t.write(b, "  ")
	for _, n := range h.Notes {
		fmt.Fprintf(b, "  Note: %s.\n", sentence(n))
	}
	return b.Flush()
}

// typeName is the handle's type in MPI's own terms, whatever the language: MPI_COMM.
func typeName(h *mqs.Handle) string { return strings.ToUpper(h.Kind.CType()) }

// Summary is what a handle stands for in one line, as MPI_COMM "halo exchange" (rank 2 of 8). It is
// empty if nothing is known.
func Summary(h *mqs.Handle) string {
	text := typeName(h)
	switch {
	case h.State == mqs.PredefinedHandle && h.Name.Value != "", h.State == mqs.NullHandle && h.Name.Value != "":
		text = printable.Line(h.Name.Value)
	case h.State == mqs.FreedHandle:
		return fmt.Sprintf("%s %#x (freed)", text, h.Value)
	case h.State == mqs.InvalidHandle:
		return fmt.Sprintf("%s %#x (not valid)", text, h.Value)
	case h.Name.Value != "":
		text += " " + strconv.Quote(printable.Line(h.Name.Value))
	}
	inner := summaryOf(h)
	switch {
	case inner != "":
		return text + " (" + inner + ")"
	case h.State == "" && h.Name.Value == "":
		return ""
	case text == typeName(h) && h.State == mqs.PredefinedHandle:
		return text + " (predefined)"
	}
	return text
}

// summaryOf says the most important of what a handle stands for.
func summaryOf(h *mqs.Handle) string {
	switch {
	case h.State == mqs.NullHandle:
		return ""
	case h.Operation != nil:
		return operationSummary(h)
	case h.Kind == mqs.CommHandle && h.Communicator != nil:
		return strings.TrimPrefix(rankOf(h.Communicator.LocalRank, h.Communicator.Size)+broken(h.Communicator), ", ")
	case h.Group != nil && h.Group.LocalRank.Known:
		return rankOf(h.Group.LocalRank, h.Group.Size)
	case h.Group != nil:
		return "of " + number(h.Group.Size) + ", not this process"
	case h.Window != nil:
		return rankOf(h.Window.LocalRank, h.Window.Size)
	case h.File != nil:
		return rankOf(h.File.LocalRank, h.File.Size)
	case h.Datatype != nil && h.State != mqs.PredefinedHandle:
		return datatypeSummary(h.Datatype)
	case h.Status != nil:
		return fmt.Sprintf("source %s, tag %s, %s bytes", number(h.Status.Source), number(h.Status.Tag), number(h.Status.Length))
	case h.Info != nil:
		return count(len(h.Info), "key")
	case h.Kind == mqs.OpHandle && h.State == mqs.LiveHandle && h.Commutative.Known:
		if h.Commutative.Value {
			return "commutative"
		}
		return "not commutative"
	}
	return ""
}

// rankOf is empty if neither is known.
func rankOf(rank, size mqs.Maybe[int32]) string {
	if !rank.Known && !size.Known {
		return ""
	}
	return "rank " + number(rank) + " of " + number(size)
}

func revoked(c *mqs.Communicator) string {
	if c.Revoked.Value {
		return ", revoked"
	}
	return ""
}

// failed names the members that have failed.
func failed(c *mqs.Communicator) string {
	switch len(c.Failed) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf(", rank %d failed", c.Failed[0])
	}
	return ", ranks " + someText(c.Failed, shownMembers) + " failed"
}

// broken says why a communicator is not good for all that it was made for.
func broken(c *mqs.Communicator) string { return revoked(c) + failed(c) }

func datatypeSummary(d *mqs.Datatype) string {
	text := number(d.Size) + " bytes"
	if d.Construction != "" {
		return printable.Line(d.Construction) + ", " + text
	}
	return text
}

// operationSummary says what a request or a message is.
func operationSummary(h *mqs.Handle) string {
	op := h.Operation
	var parts []string
	what := orUnknown(printable.Line(op.Kind))
	switch {
	case h.Kind == mqs.MessageHandle:
		what = "from " + rank(op.ActualLocalRank)
	case !hasEnvelope(op):
	case isReceive(op):
		what += " from " + rank(op.DesiredLocalRank)
	default:
		what += " to " + rank(op.DesiredLocalRank)
	}
	parts = append(parts, what)
	if !hasEnvelope(op) && len(op.ExtraText) > 0 {
		parts = append(parts, printable.Line(strings.Join(op.ExtraText, ", ")))
	}
	if op.DesiredTag.Known || op.TagWild.Value {
		parts = append(parts, "tag "+tag(op))
	}
	if op.DesiredLength.Known {
		parts = append(parts, number(op.DesiredLength)+" bytes")
	}
	if op.Status != "" && h.Kind == mqs.RequestHandle {
		parts = append(parts, string(op.Status))
	}
	if h.Communicator != nil {
		parts = append(parts, "on "+printable.Line(h.Communicator.Label()))
	}
	return strings.Join(parts, ", ")
}

// hasEnvelope says whether anything is known of a peer, a tag or a length, as nothing is of a collective's.
func hasEnvelope(op *mqs.PendingOperation) bool {
	return op.DesiredLocalRank.Known || op.TagWild.Known || op.DesiredTag.Known || op.DesiredLength.Known
}

// isReceive tells the operations that wait for a message from those that send one.
func isReceive(op *mqs.PendingOperation) bool {
	return strings.Contains(op.Kind, "recv") || strings.Contains(op.Kind, "probe")
}

// Parts are the parts of what a handle stands for.
func Parts(h *mqs.Handle) []Part {
	var out []Part
	add := func(name, text string) { out = append(out, Part{name, text}) }
	known := func(name string, isKnown bool, text string) {
		if isKnown {
			add(name, text)
		}
	}
	if c := h.Communicator; c != nil && h.Kind == mqs.CommHandle {
		out = append(out, communicatorParts(c)...)
	}
	if d := h.Datatype; d != nil {
		add("size", number(d.Size)+" bytes")
		known("lower bound", d.LowerBound.Known, number(d.LowerBound))
		known("extent", d.Extent.Known, number(d.Extent)+" bytes")
		known("built as", d.Construction != "", printable.Line(d.Construction))
		known("committed", d.Committed.Known, yesNo(d.Committed))
	}
	if op := h.Operation; op != nil {
		out = append(out, operationParts(h, op)...)
	}
	if g := h.Group; g != nil {
		known("local rank", g.LocalRank.Known, number(g.LocalRank))
		add("size", number(g.Size))
		add("members", "global ranks "+membersText(g.Members, 0))
	}
	if win := h.Window; win != nil {
		out = append(out, windowParts(win)...)
	}
	if f := h.File; f != nil {
		add("local rank", number(f.LocalRank))
		add("size", number(f.Size))
		known("access mode", f.AccessMode != nil, strings.Join(f.AccessMode, " | "))
	}
	if s := h.Status; s != nil {
		add("source", number(s.Source))
		add("tag", number(s.Tag))
		add("error", number(s.Error))
		add("length", number(s.Length)+" bytes")
		known("cancelled", s.Cancelled.Known, yesNo(s.Cancelled))
	}
	known("commutative", h.Commutative.Known, yesNo(h.Commutative))
	for _, e := range h.Info {
		add(printable.Line(e.Key), printable.Line(e.Value))
	}
	known("Fortran handle", h.FortranHandle.Known, number(h.FortranHandle))
	return out
}

func yesNo(m mqs.Maybe[bool]) string {
	switch {
	case !m.Known:
		return unknown
	case m.Value:
		return "yes"
	}
	return "no"
}

func communicatorParts(c *mqs.Communicator) []Part {
	out := []Part{{"local rank", number(c.LocalRank)}, {"size", number(c.Size)}}
	if c.Inter == mqs.Known(true) {
		out = append(out, Part{"remote size", remoteSize(c)})
	}
	out = append(out, Part{"kind", kindText(c)}, Part{"members", "global ranks " + membersText(c.Group, 0)})
	if c.Inter == mqs.Known(true) {
		out = append(out, Part{"remote group", "global ranks " + membersText(c.RemoteGroup, 0)})
	}
	if len(c.Failed) > 0 {
		out = append(out, Part{"failed", "local ranks " + listText(c.Failed)})
	}
	if c.Context != "" {
		out = append(out, Part{"context", printable.Line(c.Context)})
	}
	return out
}

func operationParts(h *mqs.Handle, op *mqs.PendingOperation) []Part {
	var out []Part
	if op.Kind != "" || h.Kind != mqs.MessageHandle {
		out = append(out, Part{"kind", orUnknown(printable.Line(op.Kind))})
	}
	out = append(out, Part{"status", orUnknown(string(op.Status))})
	if h.Communicator != nil {
		out = append(out, Part{"communicator", printable.Line(h.Communicator.Label())})
	}
	peer := "to"
	if isReceive(op) || h.Kind == mqs.MessageHandle {
		peer = "from"
	}
	if hasEnvelope(op) {
		out = append(out, Part{peer, rank(op.DesiredLocalRank)}, Part{"tag", tag(op)}, Part{"bytes", number(op.DesiredLength)})
	}
	if hasEnvelope(op) && h.Kind != mqs.MessageHandle {
		out = append(out, Part{"count", number(op.Count)}, Part{"datatype", datatype(op)}, Part{"buffer", buffer(op)})
	}
	class := mqs.PendingSends
	if isReceive(op) {
		class = mqs.PendingReceives
	}
	if text := remarks(class, op); text != "" {
		out = append(out, Part{"note", text})
	}
	return out
}

func windowParts(w *mqs.Window) []Part {
	out := []Part{{"local rank", number(w.LocalRank)}, {"size", number(w.Size)}, {"flavor", orUnknown(string(w.Flavor))}}
	if w.Base.Known {
		out = append(out, Part{"base", w.Base.Value.String()})
	}
	if w.Length.Known {
		out = append(out, Part{"length", number(w.Length) + " bytes"})
	}
	if w.DisplacementUnit.Known {
		out = append(out, Part{"displacement unit", number(w.DisplacementUnit)})
	}
	return append(out, Part{"epoch", epochsText(w)})
}

// epochsText says which epochs are open.
func epochsText(w *mqs.Window) string {
	if w.Epochs == nil {
		return unknown
	}
	if len(w.Epochs) == 0 {
		return "none"
	}
	var parts []string
	for _, e := range w.Epochs {
		text := strings.ReplaceAll(string(e.Kind), "_", " ")
		if e.Exclusive.Known {
			text = map[bool]string{true: "exclusive ", false: "shared "}[e.Exclusive.Value] + text
		}
		if e.Ranks != nil {
			preposition := map[mqs.EpochKind]string{mqs.LockEpoch: " of ", mqs.StartEpoch: " to ", mqs.PostEpoch: " for "}[e.Kind]
			text += preposition + listText(e.Ranks)
		}
		if e.Granted == mqs.Known(false) {
			text += ", asked for"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// listText names local ranks.
func listText(ranks []int32) string {
	return someText(ranks, 0)
}

// someText names ranks, about as many as limit characters can; 0: all.
func someText(ranks []int32, limit int) string {
	if len(ranks) == 0 {
		return "none"
	}
	known := make([]mqs.Maybe[int32], len(ranks))
	for i, r := range ranks {
		known[i] = mqs.Known(r)
	}
	return membersText(known, limit)
}

// count is a number of things: "3 keys".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
