package render

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
)

// View is what is shown of processes.
type View string

// The views.
const (
	Queues        View = "queues"
	Communicators View = "communicators"
	Windows       View = "windows"
	Files         View = "files"
)

// Views lists them.
var Views = []View{Queues, Communicators, Windows, Files}

// HasQueues says whether the view shows anything of the queues.
func (v View) HasQueues() bool { return v != Windows && v != Files }

// Show writes what a view shows of a snapshot, as tables.
func (v View) Show(w io.Writer, s *mqs.Snapshot, style Style) error {
	if v == Queues {
		return Text(w, s, style)
	}
	b := bufio.NewWriterSize(w, 1<<20)
	for i, p := range s.Processes {
		if i > 0 {
			fmt.Fprintln(b)
		}
		fmt.Fprintln(b, style.paint("1", heading(p)))
		if p.Unavailable != "" {
			fmt.Fprintf(b, "  %s.\n", sentence(p.Unavailable))
			continue
		}
		switch v {
		case Communicators:
			communicatorsTable(b, p)
		case Windows:
			windowsTable(b, p)
		case Files:
			filesTable(b, p)
		}
		for _, n := range p.Notes {
			fmt.Fprintf(b, "\nNote: %s.\n", sentence(n))
		}
	}
	return b.Flush()
}

func communicatorsTable(w *bufio.Writer, p *mqs.Process) {
	if len(p.Communicators) == 0 {
		fmt.Fprintln(w, "  There are no communicators.")
		return
	}
	rows := [][]string{{"communicator", "rank", "size", "kind", "members", "context", "handle", "Fortran", "sends", "receives", "unexpected"}}
	for _, c := range p.Communicators {
		members := membersText(c.Group, shownMembers)
		if c.Inter == mqs.Known(true) {
			members += " and " + membersText(c.RemoteGroup, shownMembers)
		}
		row := []string{printable.Line(c.Label()), number(c.LocalRank), number(c.Size), kindText(&c.Communicator) + failed(&c.Communicator), members,
			orUnknown(printable.Line(c.Context)), address(c.Handle), number(c.FortranHandle)}
		for _, q := range c.Queue {
			row = append(row, totalText(q))
		}
		rows = append(rows, row)
	}
	rowsText(w, rows)
}

// shownMembers is about how many characters name the members of a group in a table.
const shownMembers = 40

func windowsTable(w *bufio.Writer, p *mqs.Process) {
	if text := listState("windows", p.Windows == nil, len(p.Windows)); text != "" {
		fmt.Fprintln(w, text)
		return
	}
	rows := [][]string{{"window", "rank", "size", "flavor", "base", "bytes", "unit", "epoch", "handle", "Fortran"}}
	for i := range p.Windows {
		win := &p.Windows[i]
		rows = append(rows, []string{nameText(win.Name), number(win.LocalRank), number(win.Size), orUnknown(string(win.Flavor)), address(win.Base),
			number(win.Length), number(win.DisplacementUnit), epochsText(win), win.Handle.String(), number(win.FortranHandle)})
	}
	rowsText(w, rows)
}

func filesTable(w *bufio.Writer, p *mqs.Process) {
	if text := listState("files", p.Files == nil, len(p.Files)); text != "" {
		fmt.Fprintln(w, text)
		return
	}
	rows := [][]string{{"file", "rank", "size", "access mode", "handle", "Fortran"}}
	for i := range p.Files {
		f := &p.Files[i]
		mode := unknown
		if f.AccessMode != nil {
			mode = strings.Join(f.AccessMode, " | ")
		}
		rows = append(rows, []string{nameText(f.Name), number(f.LocalRank), number(f.Size), mode, f.Handle.String(), number(f.FortranHandle)})
	}
	rowsText(w, rows)
}

// listState is the sentence on a list without entries.
func listState(what string, isUnknown bool, n int) string {
	switch {
	case isUnknown:
		return "  Its " + what + " are not known. `mpi-handle' may know one by its handle."
	case n == 0:
		return "  There are no " + what + "."
	}
	return ""
}

func nameText(name mqs.Maybe[string]) string {
	switch {
	case !name.Known:
		return unknown
	case name.Value == "":
		return unnamed
	}
	return printable.Line(name.Value)
}

func address[T fmt.Stringer](m mqs.Maybe[T]) string {
	if !m.Known {
		return unknown
	}
	return m.Value.String()
}

// totalText is how many operations a queue has.
func totalText(q *mqs.Queue) string {
	switch {
	case q == nil || q.Unavailable != "":
		return unknown
	case q.Incomplete:
		return strconv.Itoa(q.Total) + " or more"
	}
	return strconv.Itoa(q.Total)
}

func rowsText(w *bufio.Writer, rows [][]string) {
	t := newTable(len(rows[0]))
	for _, row := range rows {
		for _, cell := range row {
			t.cell(cell)
		}
	}
	t.write(w, "  ")
}

// kindText says what kind of communicator it is, and how its processes are arranged.
func kindText(c *mqs.Communicator) string {
	var parts []string
	switch {
	case !c.Inter.Known:
		parts = append(parts, unknown)
	case c.Inter.Value:
		parts = append(parts, "inter, remote size "+remoteSize(c))
	case c.Topology == mqs.NoTopology || c.Topology == "":
		parts = append(parts, "intra")
	}
	switch c.Topology {
	case mqs.Cartesian:
		parts = append(parts, cartesianText(c.Dimensions))
	case mqs.Graph:
		parts = append(parts, "graph, "+count(len(c.Destinations), "neighbour"))
	case mqs.DistributedGraph:
		parts = append(parts, fmt.Sprintf("distributed graph, from %s, to %s", listText(c.Sources), listText(c.Destinations)))
	}
	if c.Internal {
		parts = append(parts, "internal")
	}
	return strings.Join(parts, ", ") + revoked(c)
}

// cartesianText describes a Cartesian topology: "Cartesian 2 x 3, periodic in 1, at (0, 2)".
func cartesianText(dims []mqs.Dimension) string {
	var sizes, periodic, place []string
	for i, d := range dims {
		sizes = append(sizes, strconv.Itoa(int(d.Size)))
		place = append(place, strconv.Itoa(int(d.Coordinate)))
		if d.Periodic != 0 {
			periodic = append(periodic, strconv.Itoa(i))
		}
	}
	text := "Cartesian " + strings.Join(sizes, " x ")
	if periodic != nil {
		text += ", periodic in " + strings.Join(periodic, " and ")
	}
	return text + ", at (" + strings.Join(place, ", ") + ")"
}

func remoteSize(c *mqs.Communicator) string {
	if c.RemoteGroup == nil {
		return unknown
	}
	return strconv.Itoa(len(c.RemoteGroup))
}
