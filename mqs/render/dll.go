package render

import (
	"bufio"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
	"github.com/mpi-queues/mpi-queues/mqs/read"
)

// Values of [mqs.Process.Source] that name a DLL.
const (
	sourceDLL  = string(read.DLL)
	sourceBoth = string(read.Both)
)

// notApplicable marks a value that does not apply in the table of differences.
const notApplicable = "-"

// readByDLL returns the clause of a process's heading that names its DLL.
func readByDLL(p *mqs.Process) string {
	switch {
	case p.DLL == "":
		return ""
	case p.Source == sourceBoth:
		return ", compared with " + filepath.Base(p.DLL)
	case p.DLLVersion == "":
		return ", read by " + filepath.Base(p.DLL)
	}
	return fmt.Sprintf(", read by %s (%s)", filepath.Base(p.DLL), p.DLLVersion)
}

// onlyInterface says whether no operation of a queue has a value for which the interface of DLLs has
// no field.
func onlyInterface(q *mqs.Queue) bool {
	for i := range q.Operations {
		if op := &q.Operations[i]; op.Count.Known || op.Datatype.Known || op.Kind != "" {
			return false
		}
	}
	return true
}

// differencesText says where the native decoder and the DLL differ, if both have read the process.
func differencesText(w *bufio.Writer, p *mqs.Process, style Style) {
	if p.Source != sourceBoth || p.DLL == "" {
		return
	}
	name := printable.Line(filepath.Base(p.DLL))
	if len(p.Differences) == 0 {
		fmt.Fprintf(w, "\nThe native decoder and %s agree.\n", name)
		return
	}
	fmt.Fprintf(w, "\n%s\n", style.paint("1", "Differences between the native decoder and "+name))
	titles := []string{"communicator", "queue", "#", "field", "native", "DLL"}
	t := newTable(len(titles))
	for _, title := range titles {
		t.cell(title)
	}
	for i := range p.Differences {
		d := &p.Differences[i]
		missing := unknown
		switch d.Field {
		case "communicator", "queue", "operation":
			missing = notApplicable // it is known that there is none
		}
		place := notApplicable
		if d.Operation.Known {
			place = number(d.Operation)
		}
		t.cell(cellOr(d.Communicator, notApplicable))
		t.cell(cellOr(strings.ReplaceAll(d.Queue, "_", " "), notApplicable))
		t.cell(place)
		t.cell(cellOr(d.Field, notApplicable))
		t.cell(cellOr(d.Native, missing))
		t.cell(cellOr(d.DLL, missing))
	}
	t.write(w, "  ")
}

// maxCell is the number of characters of a value that the table of differences shows. One long
// sentence would push all other rows apart.
const maxCell = 72

// cellOr makes a cell of a value, or of what stands in place of an empty value.
func cellOr(value, empty string) string {
	value = printable.Line(value)
	if value == "" {
		return empty
	}
	if utf8.RuneCountInString(value) > maxCell {
		return string([]rune(value)[:maxCell-3]) + "..."
	}
	return value
}
