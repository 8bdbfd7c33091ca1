package helper

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/dll/locate"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
)

// line writes a fact that is known.
func line(w io.Writer, name, value string) { said(w, name, printable.Line(value)) }

// said writes a sentence, or several lines of them.
func said(w io.Writer, name, text string) {
	if text != "" {
		fmt.Fprintf(w, "%-9s %s\n", name+":", printable.Text(text))
	}
}

func describe(w io.Writer, p *mqs.Process) {
	line(w, "Program", p.Image)
	line(w, "MPI", cmp.Or(strings.TrimSpace(p.MPI+" "+p.MPIVersion), "not recognised"))
	line(w, "Library", p.Library)
	if p.Unavailable != "" {
		said(w, "Queues", "not available: "+p.Unavailable)
		return
	}
	line(w, "Source", p.Source)
	switch p.Layout {
	case "dwarf":
		line(w, "Layout", "the library's debug information (DWARF)")
	case "table":
		line(w, "Layout", "the embedded table of "+p.LayoutName+", proved on this process")
	}
	if p.DLL != "" {
		line(w, "DLL", strings.TrimSpace(p.DLL+" "+p.DLLVersion))
	}
	for _, n := range p.Notes {
		said(w, "Note", n)
	}
}

// handleDLLs writes which DLLs for handles the MPI library names. They are for other debuggers.
func handleDLLs(w io.Writer, r *inferior.Reader) error {
	found, err := locate.ReadHandles(r)
	for _, c := range found.Candidates {
		line(w, "Handle DLL", c.Path+", which "+c.Symbol+" names and mpi-queues does not need")
	}
	return err
}
