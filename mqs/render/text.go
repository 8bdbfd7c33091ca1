// Package render shows people snapshots, as text, and reports of jobs, as text, DOT, SVG and HTML.
package render

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
)

// unknown marks a value in a table that is not known.
const unknown = "?"

// Style says how text is marked up and what it shows.
type Style struct {
	// On marks the text up for a terminal.
	On bool
	// Members names the members of each communicator.
	Members bool
	// AllCommunicators keeps communicators without pending operations in the MPI library's order. Otherwise they are listed
	// by name, after the others.
	AllCommunicators bool
}

// queueStyles are the words and colours of the queues: the colours that other tools use.
var queueStyles = [...]struct{ title, color string }{
	mqs.PendingSends:       {"Pending sends", "32"},
	mqs.PendingReceives:    {"Pending receives", "34"},
	mqs.UnexpectedMessages: {"Unexpected messages", "31"},
}

func (s Style) paint(color, text string) string {
	if !s.On {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[m"
}

// buffers are for what is written: each write costs a call-back if it goes to a debugger, so they are large.
var buffers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, 1<<20) }}

// Text writes the snapshot as tables.
func Text(w io.Writer, s *mqs.Snapshot, style Style) error {
	b := buffers.Get().(*bufio.Writer)
	defer func() {
		b.Reset(nil)
		buffers.Put(b)
	}()
	b.Reset(w)
	for i, p := range s.Processes {
		if i > 0 {
			fmt.Fprintln(b)
		}
		processText(b, p, style)
	}
	return b.Flush()
}

func processText(w *bufio.Writer, p *mqs.Process, style Style) {
	fmt.Fprintln(w, style.paint("1", heading(p)))
	threadsText(w, p)
	signalText(w, p)
	if p.Unavailable != "" {
		fmt.Fprintf(w, "  %s.\n", sentence(p.Unavailable))
	}
	// Communicators share a sentence if there is only one thing to say of each.
	var sentences []string
	sharing := map[string][]string{}
	for _, c := range p.Communicators {
		s := sharedSentence(c)
		if s == "" || style.Members || style.AllCommunicators || len(collectivesOf(p, c)) > 0 {
			communicatorText(w, p, c, style)
			continue
		}
		if sharing[s] == nil {
			sentences = append(sentences, s)
		}
		label := printable.Line(c.Label())
		if text := broken(&c.Communicator); text != "" {
			label += " (" + strings.TrimPrefix(text, ", ") + ")"
		}
		sharing[s] = append(sharing[s], label)
	}
	for _, s := range sentences {
		fmt.Fprintf(w, "\n%s.\n", fmt.Sprintf(s, strings.Join(sharing[s], ", ")))
	}
	differencesText(w, p, style)
	for _, n := range p.Notes {
		fmt.Fprintf(w, "\nNote: %s.\n", sentence(n))
	}
}

// heading names the process, its rank, and how its queues were read.
func heading(p *mqs.Process) string {
	var b strings.Builder
	if p.GlobalRank.Known {
		fmt.Fprintf(&b, "Rank %d of %s", p.GlobalRank.Value, number(p.WorldSize))
		if p.LaunchedRank.Known {
			fmt.Fprintf(&b, " (launched as rank %d of %s)", p.LaunchedRank.Value, number(p.LaunchedSize))
		}
	} else {
		b.WriteString("Rank " + unknown)
	}
	if p.PID != 0 {
		fmt.Fprintf(&b, ", process %d", p.PID)
	}
	if p.Image != "" {
		fmt.Fprintf(&b, ", %s", filepath.Base(p.Image))
	}
	mpi := strings.TrimSpace(p.MPI + " " + p.MPIVersion)
	if mpi != "" {
		b.WriteString(": " + mpi)
	}
	switch {
	case p.Layout == "dwarf":
		b.WriteString(", read by its debug information")
	case p.Layout == "table" && p.LayoutName == mpi:
		b.WriteString(", read by the embedded table")
	case p.Layout == "table":
		fmt.Fprintf(&b, ", read by the table of %s", p.LayoutName)
	}
	b.WriteString(readByDLL(p))
	return printable.Line(b.String())
}

// nothingPending is the sentence on a communicator whose queues are empty.
const nothingPending = "Nothing pending on %s"

// sharedSentence returns the sentence on a communicator whose queues are all empty, or all not
// available, with %s in place of its name; else an empty string.
func sharedSentence(c *mqs.Queues) string {
	empty, reason, missing, shown := 0, "", 0, 0
	for _, q := range c.Queue {
		switch {
		case q == nil:
			continue
		case q.Unavailable != "":
			if missing++; missing == 1 {
				reason = q.Unavailable
			}
			if q.Unavailable != reason {
				return ""
			}
		case q.Total == 0:
			empty++
		}
		shown++
	}
	switch shown {
	case empty:
		return nothingPending
	case missing:
		return "Not available on %s: " + strings.ReplaceAll(sentence(reason), "%", "%%")
	}
	return ""
}

func communicatorText(w *bufio.Writer, p *mqs.Process, c *mqs.Queues, style Style) {
	fmt.Fprint(w, "\n", style.paint("1", printable.Line(c.Label())))
	if c.Name.Value != "" {
		fmt.Fprintf(w, " (%s)", c.UniqueID)
	}
	fmt.Fprintf(w, ": rank %s of %s", number(c.LocalRank), number(c.Size))
	if c.Inter == mqs.Known(true) {
		remote := unknown
		if c.RemoteGroup != nil {
			remote = strconv.Itoa(len(c.RemoteGroup))
		}
		fmt.Fprintf(w, ", an intercommunicator with a remote group of %s", remote)
	}
	if c.Internal {
		fmt.Fprint(w, ", internal to the library")
	}
	fmt.Fprint(w, broken(&c.Communicator))
	fmt.Fprintln(w)
	if style.Members {
		groupsText(w, c)
	}
	if sharedSentence(c) == nothingPending && len(collectivesOf(p, c)) == 0 {
		fmt.Fprintln(w, "  Nothing pending.")
	}
	for _, class := range mqs.OpClasses {
		q, heading := c.Queue[class], queueStyles[class]
		switch {
		case q == nil, q.Total == 0 && q.Unavailable == "":
		case q.Unavailable != "":
			fmt.Fprintf(w, "  %s: not available: %s.\n", style.paint(heading.color, heading.title), sentence(q.Unavailable))
		default:
			fmt.Fprintf(w, "  %s\n", style.paint(heading.color, heading.title))
			queueText(w, p, c, class, q)
		}
	}
	collectivesText(w, collectivesOf(p, c), style)
}

// column is a column of a queue's table.
type column struct {
	title string
	cell  func(op *mqs.PendingOperation) string
}

// columns returns the columns of a queue's table. The global ranks of peers have a column if they
// differ from the local ranks. What the interface of DLLs has no field for has none if a DLL has read
// the queue.
func columns(p *mqs.Process, c *mqs.Queues, class mqs.OpClass) []column {
	peer := "from"
	if class == mqs.PendingSends {
		peer = "to"
	}
	cols := []column{
		{"status", func(op *mqs.PendingOperation) string { return orUnknown(printable.Line(string(op.Status))) }},
		{peer, func(op *mqs.PendingOperation) string { return rank(op.DesiredLocalRank) }},
	}
	if !worldRanks(c) || slices.ContainsFunc(c.Queue[class].Operations, globalDiffers) {
		cols = append(cols, column{"global", func(op *mqs.PendingOperation) string { return rank(op.DesiredGlobalRank) }})
	}
	cols = append(cols,
		column{"tag", tag},
		column{"bytes", func(op *mqs.PendingOperation) string { return number(op.DesiredLength) }})
	if class != mqs.UnexpectedMessages && (p.Source != sourceDLL || !onlyInterface(c.Queue[class])) {
		cols = append(cols,
			column{"count", func(op *mqs.PendingOperation) string { return number(op.Count) }},
			column{"datatype", datatype},
			column{"kind", func(op *mqs.PendingOperation) string { return orUnknown(printable.Line(op.Kind)) }})
	}
	return append(cols, column{"buffer", buffer}, column{"note", func(op *mqs.PendingOperation) string { return remarks(class, op) }})
}

func queueText(w *bufio.Writer, p *mqs.Process, c *mqs.Queues, class mqs.OpClass, q *mqs.Queue) {
	cols := columns(p, c, class)
	t := newTable(len(cols))
	t.grow(1 + len(q.Operations))
	for _, col := range cols {
		t.cell(col.title)
	}
	for i := range q.Operations {
		for _, col := range cols {
			t.cell(col.cell(&q.Operations[i]))
		}
	}
	t.write(w, "    ")
	more := q.Total - len(q.Operations)
	switch {
	case more > 0 && q.Incomplete:
		fmt.Fprintf(w, "    ... and %d more of %d or more (-limit)\n", more, q.Total)
	case more > 0:
		fmt.Fprintf(w, "    ... and %d more of %d (-limit)\n", more, q.Total)
	case q.Incomplete:
		fmt.Fprintln(w, "    ... and perhaps more, which could not be read")
	}
}

// globalDiffers says whether a peer's global rank is known to differ from its local rank.
func globalDiffers(op mqs.PendingOperation) bool {
	return op.DesiredGlobalRank.Known && op.DesiredGlobalRank != op.DesiredLocalRank
}

// worldRanks says whether the peers have the same ranks here as in MPI_COMM_WORLD.
func worldRanks(c *mqs.Queues) bool {
	for i, r := range c.Peers() {
		if !r.Known || int(r.Value) != i {
			return false
		}
	}
	return true
}

func number[T int | int32 | int64](m mqs.Maybe[T]) string {
	if !m.Known {
		return unknown
	}
	return strconv.FormatInt(int64(m.Value), 10)
}

func rank(m mqs.Maybe[int32]) string {
	if m.Known && m.Value == mqs.AnyRank {
		return "ANY"
	}
	return number(m)
}

func tag(op *mqs.PendingOperation) string {
	if op.TagWild.Known && op.TagWild.Value {
		return "ANY"
	}
	return number(op.DesiredTag)
}

func buffer(op *mqs.PendingOperation) string {
	if !op.Buffer.Known {
		return unknown
	}
	if op.SystemBuffer.Known && op.SystemBuffer.Value {
		return op.Buffer.Value.String() + " (system)"
	}
	return op.Buffer.Value.String()
}

// unnamed marks a datatype that has no name.
const unnamed = "unnamed"

func datatype(op *mqs.PendingOperation) string {
	switch {
	case !op.Datatype.Known:
		return unknown
	case op.Datatype.Value == "":
		return cmp.Or(printable.Line(op.DatatypeConstruction), unnamed)
	}
	return printable.Line(op.Datatype.Value)
}

func orUnknown(s string) string {
	if s == "" {
		return unknown
	}
	return s
}

// sentence makes a sentence safe for a terminal and removes its full stop. It may quote names from a
// foreign process.
func sentence(s string) string {
	return strings.ReplaceAll(printable.Text(strings.TrimSuffix(s, ".")), "\n", "\n    ")
}
