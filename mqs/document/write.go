// Package document writes the JSON documents of a snapshot and of a report, and reads those of
// snapshots back: schema.json and report-schema.json describe them. Documents come from
// strangers: each is read within bounds on its length and on what is made of it.
package document

import (
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
)

// Schema is the version of the JSON document, which mqs/document/schema.json describes.
const Schema = 1

// notAskedFor stands in place of a queue that a filter left out.
const notAskedFor = "not asked for"

// Write writes the snapshot as one document, an operation to a line. It is
// spelled out by hand, since a hundred thousand operations are no rarity: a test
// holds it against the schema.
func Write(out io.Writer, s *mqs.Snapshot) error {
	w := &jsonWriter{out: out}
	w.raw(`{"schema": `).int(Schema).raw(`, "processes": [`)
	for i, p := range s.Processes {
		w.comma(i).raw("\n")
		w.process(p)
	}
	w.raw("\n]}\n").flush(0)
	return w.err
}

type jsonWriter struct {
	b   []byte
	out io.Writer
	err error
}

// jsonPiece is how many bytes are written at once.
const jsonPiece = 1 << 20

// flush hands on what has been written, if it is more than n bytes.
func (w *jsonWriter) flush(n int) {
	if len(w.b) > n && w.err == nil {
		_, w.err = w.out.Write(w.b)
		w.b = w.b[:0]
	}
}

func (w *jsonWriter) raw(s string) *jsonWriter { w.b = append(w.b, s...); return w }
func (w *jsonWriter) int(v int64) *jsonWriter  { w.b = strconv.AppendInt(w.b, v, 10); return w }
func (w *jsonWriter) bool(v bool) *jsonWriter  { w.b = strconv.AppendBool(w.b, v); return w }

func (w *jsonWriter) comma(i int) *jsonWriter {
	if i > 0 {
		w.raw(",")
	}
	return w
}

// str writes a string. Names come out of a foreign process, and JSON can go to a
// terminal: see [printable.AppendJSON].
func (w *jsonWriter) str(s string) *jsonWriter {
	plain := utf8.ValidString(s)
	for i := 0; plain && i < len(s); i++ {
		plain = s[i] >= ' ' && s[i] < 0x7f && s[i] != '"' && s[i] != '\\'
	}
	if plain {
		w.b = append(append(append(w.b, '"'), s...), '"')
		return w
	}
	w.b = printable.AppendJSON(w.b, s)
	return w
}

// strOrNull writes null for an empty string, which stands for one not known.
func (w *jsonWriter) strOrNull(s string) *jsonWriter {
	if s == "" {
		return w.raw("null")
	}
	return w.str(s)
}

func (w *jsonWriter) hex(v uint64) *jsonWriter {
	w.raw(`"0x`)
	w.b = strconv.AppendUint(w.b, v, 16)
	return w.raw(`"`)
}

func maybe[T any](w *jsonWriter, key string, m mqs.Maybe[T], write func(T)) {
	w.raw(key)
	if m.Known {
		write(m.Value)
	} else {
		w.raw("null")
	}
}

func maybeInt[T int | int32 | int64](w *jsonWriter, key string, m mqs.Maybe[T]) {
	maybe(w, key, m, func(v T) { w.int(int64(v)) })
}

func (w *jsonWriter) process(p *mqs.Process) {
	w.raw(`{"inferior": `).int(int64(p.Inferior))
	w.raw(`, "pid": `).int(int64(p.PID))
	maybeInt(w, `, "global_rank": `, p.GlobalRank)
	maybeInt(w, `, "world_size": `, p.WorldSize)
	w.raw(`, "image": `).strOrNull(p.Image)
	w.raw(`, "mpi": `).strOrNull(p.MPI)
	w.raw(`, "mpi_version": `).strOrNull(p.MPIVersion)
	w.raw(`, "library": `).strOrNull(p.Library)
	w.raw(`, "source": `).strOrNull(p.Source)
	w.raw(`, "dll": `).strOrNull(p.DLL)
	w.raw(`, "dll_version": `).strOrNull(p.DLLVersion)
	w.raw(`, "layout": `).strOrNull(p.Layout)
	w.raw(`, "layout_name": `).strOrNull(p.LayoutName)
	w.raw(`, "unavailable": `).strOrNull(p.Unavailable)
	w.raw(`, "phase": `).strOrNull(string(p.Phase))
	w.raw(`, "state": `).strOrNull(string(p.State))
	maybe(w, `, "thread_multiple": `, p.ThreadMultiple, func(v bool) { w.bool(v) })
	maybe(w, `, "arriving": `, p.Arriving, func(v bool) { w.bool(v) })
	maybe(w, `, "progress": `, p.Progress, func(v uint64) { w.int(int64(v)) })
	w.threads(p.Threads)
	w.raw(",\n \"communicators\": [")
	for i, c := range p.Communicators {
		w.comma(i).raw("\n  ")
		w.communicator(c)
	}
	w.raw("],\n \"differences\": [")
	for i := range p.Differences {
		w.comma(i).raw("\n  ")
		w.difference(&p.Differences[i])
		w.flush(jsonPiece)
	}
	w.raw("],\n \"notes\": [")
	for i, n := range p.Notes {
		w.comma(i).str(n)
	}
	w.raw("]}")
}

func (w *jsonWriter) threads(threads []mqs.Thread) {
	w.raw(",\n \"threads\": ")
	if threads == nil {
		w.raw("null")
		return
	}
	w.raw("[")
	for i := range threads {
		t := &threads[i]
		w.comma(i).raw("\n  {\"number\": ").int(int64(t.Number))
		w.raw(`, "placed": `).bool(t.Placed)
		w.raw(`, "call": `).strOrNull(t.Call)
		w.raw(`, "activity": `).strOrNull(string(t.Activity))
		maybeInt(w, `, "joined": `, t.Joined)
		w.raw(`, "function": `).strOrNull(t.Function)
		w.raw(`, "file": `).strOrNull(t.File)
		maybeInt(w, `, "line": `, mqs.Maybe[int]{Value: t.Line, Known: t.Line > 0})
		w.address(`, "communicator": `, t.Comm)
		maybeInt(w, `, "root": `, t.Root)
		maybeInt(w, `, "source": `, t.Source)
		maybeInt(w, `, "tag": `, t.Tag)
		w.raw(`, "requests": [`)
		for k, r := range t.Requests {
			w.comma(k).hex(uint64(r))
		}
		w.raw(`], "all_requests": `).bool(t.AllRequests).raw("}")
	}
	w.raw("]")
}

func (w *jsonWriter) communicator(c *mqs.Queues) {
	w.raw(`{"unique_id": `).hex(uint64(c.UniqueID))
	maybeInt(w, `, "local_rank": `, c.LocalRank)
	maybeInt(w, `, "size": `, c.Size)
	maybe(w, `, "name": `, c.Name, func(v string) { w.str(v) })
	maybe(w, `, "inter": `, c.Inter, func(v bool) { w.bool(v) })
	w.raw(`, "internal": `).bool(c.Internal)
	w.raw(`, "context": `).strOrNull(c.Context)
	w.raw(`, "group": `).group(c.Group)
	w.raw(`, "remote_group": `).group(c.RemoteGroup)
	for _, class := range mqs.OpClasses {
		q := c.Queue[class]
		w.raw(",\n   \"" + class.String() + "\": ")
		if q == nil || q.Unavailable != "" {
			w.raw("null")
			continue
		}
		w.raw("[")
		for i := range q.Operations {
			w.comma(i).raw("\n    ")
			w.operation(&q.Operations[i])
			w.flush(jsonPiece)
		}
		w.raw("]")
	}
	w.unavailable(c)
	w.traffic(c.Traffic)
	w.raw("}")
}

// traffic writes a line of three numbers for each peer.
func (w *jsonWriter) traffic(traffic []mqs.Traffic) {
	w.raw(`, "traffic": `)
	if traffic == nil {
		w.raw("null")
		return
	}
	w.raw("[")
	for i, t := range traffic {
		w.comma(i).raw("[").int(int64(t.Peer)).raw(",").int(int64(t.Sent)).raw(",").int(int64(t.Arrived)).raw("]")
	}
	w.raw("]")
}

// unavailable says for each queue that is null why it is; and how many
// operations there are where a limit has cut a queue.
func (w *jsonWriter) unavailable(c *mqs.Queues) {
	n := 0
	w.raw(",\n   \"unavailable\": {")
	for _, class := range mqs.OpClasses {
		if q := c.Queue[class]; q != nil && q.Unavailable != "" {
			w.comma(n).str(class.String()).raw(": ").str(q.Unavailable)
			n++
		} else if q == nil {
			w.comma(n).str(class.String()).raw(": ").str(notAskedFor)
			n++
		}
	}
	w.raw(`}, "totals": {`)
	n = 0
	for _, class := range mqs.OpClasses {
		if q := c.Queue[class]; q != nil && q.Unavailable == "" {
			w.comma(n).str(class.String()).raw(": ")
			if q.Incomplete {
				w.raw("null")
			} else {
				w.int(int64(q.Total))
			}
			n++
		}
	}
	w.raw("}")
}

func (w *jsonWriter) group(g []mqs.Maybe[int32]) *jsonWriter {
	if g == nil {
		return w.raw("null")
	}
	w.raw("[")
	for i, r := range g {
		maybeInt(w.comma(i), "", r)
	}
	return w.raw("]")
}

func (w *jsonWriter) difference(d *mqs.Difference) {
	w.raw(`{"communicator": `).strOrNull(d.Communicator)
	w.raw(`, "queue": `).strOrNull(d.Queue)
	maybeInt(w, `, "operation": `, d.Operation)
	w.raw(`, "field": `).str(d.Field)
	w.raw(`, "native": `).strOrNull(d.Native)
	w.raw(`, "dll": `).strOrNull(d.DLL).raw("}")
}

func (w *jsonWriter) operation(op *mqs.PendingOperation) {
	w.raw(`{"status": `).strOrNull(string(op.Status))
	maybeInt(w, `, "desired_local_rank": `, op.DesiredLocalRank)
	maybeInt(w, `, "desired_global_rank": `, op.DesiredGlobalRank)
	maybe(w, `, "tag_wild": `, op.TagWild, func(v bool) { w.bool(v) })
	maybeInt(w, `, "desired_tag": `, op.DesiredTag)
	maybeInt(w, `, "desired_length": `, op.DesiredLength)
	maybe(w, `, "system_buffer": `, op.SystemBuffer, func(v bool) { w.bool(v) })
	w.address(`, "buffer": `, op.Buffer)
	maybeInt(w, `, "actual_local_rank": `, op.ActualLocalRank)
	maybeInt(w, `, "actual_global_rank": `, op.ActualGlobalRank)
	maybeInt(w, `, "actual_tag": `, op.ActualTag)
	maybeInt(w, `, "actual_length": `, op.ActualLength)
	w.raw(`, "extra_text": [`)
	for i, line := range op.ExtraText {
		w.comma(i).str(line)
	}
	w.raw(`], "kind": `).strOrNull(op.Kind)
	maybe(w, `, "datatype": `, op.Datatype, func(v string) { w.str(v) })
	maybeInt(w, `, "count": `, op.Count)
	w.address(`, "request": `, op.Request)
	maybe(w, `, "message_id": `, op.MessageID, func(v uint64) { w.hex(v) })
	w.raw(`, "internal": `).bool(op.Internal).raw("}")
}

func (w *jsonWriter) address(key string, a mqs.Maybe[inferior.Addr]) {
	maybe(w, key, a, func(v inferior.Addr) { w.hex(uint64(v)) })
}
