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

// none marks what does not apply in the table of differences.
const none = "-"

// readByDLL is the clause of a process's heading that names its DLL.
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

// onlyInterface is true of a queue in which no operation has what the interface
// of DLLs has no place for.
func onlyInterface(q *mqs.Queue) bool {
	for i := range q.Operations {
		if op := &q.Operations[i]; op.Count.Known || op.Datatype.Known || op.Kind != "" {
			return false
		}
	}
	return true
}

// differencesText says where the native decoder and the DLL differ, if both were asked.
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
			missing = none // it is known that there is none
		}
		place := none
		if d.Operation.Known {
			place = number(d.Operation)
		}
		t.cell(or(d.Communicator, none))
		t.cell(or(strings.ReplaceAll(d.Queue, "_", " "), none))
		t.cell(place)
		t.cell(or(d.Field, none))
		t.cell(or(d.Native, missing))
		t.cell(or(d.DLL, missing))
	}
	t.write(w, "  ")
}

// widest is how many characters of a value a table of differences shows: one
// long sentence would push all other rows apart.
const widest = 72

// or makes a cell of a value, or of what stands in place of an empty one.
func or(value, empty string) string {
	value = printable.Line(value)
	if value == "" {
		return empty
	}
	if utf8.RuneCountInString(value) > widest {
		return string([]rune(value)[:widest-3]) + "..."
	}
	return value
}
