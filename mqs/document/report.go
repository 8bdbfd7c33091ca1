package document

import (
	"io"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/waitfor"
)

// ReportSchema is the version of the report's JSON document, which
// mqs/document/report-schema.json describes.
const ReportSchema = 1

// WriteReport writes a report as one document, an entry of a list to a line.
func WriteReport(out io.Writer, r *waitfor.Report) error {
	w := &jsonWriter{out: out}
	w.raw(`{"schema": `).int(ReportSchema)
	w.raw(`, "verdict": `).str(string(r.Verdict))
	w.raw(`, "why": `).str(r.Why)
	maybeInt(w, `, "world_size": `, r.WorldSize)
	list(w, "deadlocks", r.Deadlocks, w.deadlock)
	list(w, "groups", r.Groups, w.stateGroup)
	list(w, "near_misses", r.NearMisses, func(m *waitfor.NearMiss) {
		w.raw(`{"kind": `).str(string(m.Kind)).raw(`, "text": `).str(m.Text)
		w.raw(`, "ranks": `).ranks(m.Ranks).raw("}")
	})
	missing := make([]int32, len(r.Missing))
	for i, m := range r.Missing {
		missing[i] = m.Rank
	}
	w.raw(",\n\"missing_ranks\": ").ranks(missing)
	list(w, "missing", r.Missing, func(m *waitfor.Missing) {
		w.raw(`{"rank": `).int(int64(m.Rank)).raw(`, "why": `).strOrNull(m.Why).raw("}")
	})
	list(w, "notes", r.Notes, func(note *string) { w.str(*note) })
	w.raw("}\n").flush(0)
	return w.err
}

// list writes a list, an entry to a line.
func list[T any](w *jsonWriter, key string, entries []T, write func(*T)) {
	w.raw(",\n\"" + key + "\": [")
	for i := range entries {
		w.comma(i).raw("\n ")
		write(&entries[i])
		w.flush(jsonPiece)
	}
	w.raw("]")
}

func (w *jsonWriter) ranks(ranks []int32) *jsonWriter {
	w.raw("[")
	for i, r := range ranks {
		w.comma(i).int(int64(r))
	}
	return w.raw("]")
}

func (w *jsonWriter) deadlock(d *waitfor.Deadlock) {
	w.raw(`{"ranks": `).ranks(d.Ranks).raw(`, "cycle": [`)
	for i := range d.Cycle {
		c := &d.Cycle[i]
		w.comma(i).raw("\n  {\"rank\": ").int(int64(c.Rank))
		w.raw(`, "waits_for": `).int(int64(c.For))
		w.raw(`, "operation": `).strOrNull(c.Operation)
		w.raw(`, "queue": `).strOrNull(classOf(c.Class))
		w.raw(`, "call": `).strOrNull(c.Call)
		w.where(c.Function, c.File, c.Line)
		w.raw("}")
		w.flush(jsonPiece)
	}
	w.raw("]}")
}

func (w *jsonWriter) stateGroup(g *waitfor.Group) {
	w.raw(`{"ranks": `).str(waitfor.Ranges(g.Ranks))
	w.raw(`, "state": `).str(string(g.State))
	w.raw(`, "call": `).strOrNull(g.Call)
	w.raw(`, "communicator": `).strOrNull(g.Communicator)
	w.where(g.Function, g.File, g.Line)
	w.raw(`, "text": `).str(g.Text).raw("}")
}

// where writes a place in the program's source.
func (w *jsonWriter) where(function, file string, line int) {
	w.raw(`, "function": `).strOrNull(function)
	w.raw(`, "file": `).strOrNull(file)
	maybeInt(w, `, "line": `, mqs.Maybe[int]{Value: line, Known: line > 0})
}

// classOf is the key of a queue in JSON, empty for a collective.
func classOf(class mqs.Maybe[mqs.OpClass]) string {
	if !class.Known {
		return ""
	}
	return class.Value.String()
}
