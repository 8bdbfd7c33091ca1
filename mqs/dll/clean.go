package dll

import (
	"github.com/mpi-queues/mpi-queues/mqs/dll/wire"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
)

// clean makes a DLL's words fit for a sentence on a terminal.
func clean(r *wire.Reply) {
	r.Error = cleanText(r.Error)
	for i := range r.Notes {
		r.Notes[i] = cleanText(r.Notes[i])
	}
	for i := range r.Missing {
		r.Missing[i] = cleanText(r.Missing[i])
	}
	for i := range r.Faults {
		r.Faults[i].Text = cleanText(r.Faults[i].Text)
	}
	if r.Loaded != nil {
		r.Loaded.Version = cleanText(r.Loaded.Version)
		r.Loaded.Confinement = cleanText(r.Loaded.Confinement)
		r.Loaded.SymbolsError = cleanText(r.Loaded.SymbolsError)
		for _, names := range [][]string{r.Loaded.Exports, r.Loaded.Imports} {
			for i := range names {
				names[i] = cleanText(names[i])
			}
		}
	}
	if r.Opened != nil {
		for i := range r.Opened.Created {
			l := &r.Opened.Created[i]
			l.Image, l.Host = cleanText(l.Image), cleanText(l.Host)
		}
	}
}

// cleanText cuts a text so that it fits into a sentence, and removes what a terminal would take for
// commands. Line breaks stay.
func cleanText(s string) string {
	const most = 2000
	if len(s) > most {
		s = s[:most] + "..."
	}
	return printable.Text(s)
}
