package render

import (
	"bufio"
	"cmp"
	"fmt"
	"slices"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
)

// collectivesOf are the requests of non-blocking and persistent collectives on a communicator, by their numbers.
func collectivesOf(p *mqs.Process, c *mqs.Queues) []mqs.CollectiveRequest {
	var out []mqs.CollectiveRequest
	for _, r := range p.CollectiveRequests {
		if r.Comm == mqs.Known(c.UniqueID) {
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, func(a, b mqs.CollectiveRequest) int { return cmp.Compare(a.Sequence.Value, b.Sequence.Value) })
	return out
}

// collectivesText shows them as a table.
func collectivesText(w *bufio.Writer, requests []mqs.CollectiveRequest, style Style) {
	if len(requests) == 0 {
		return
	}
	fmt.Fprintf(w, "  %s\n", style.paint("35", "Non-blocking collectives"))
	t := newTable(5)
	for _, title := range []string{"number", "status", "call", "request", "note"} {
		t.cell(title)
	}
	for _, r := range requests {
		note := ""
		if r.Persistent {
			note = "persistent"
		}
		for _, cell := range []string{number(r.Sequence), orUnknown(printable.Line(string(r.Status))), orUnknown(printable.Line(r.Call)), r.Request.String(), note} {
			t.cell(cell)
		}
	}
	t.write(w, "    ")
}
