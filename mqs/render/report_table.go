package render

import (
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/internal/jsonout"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
	"github.com/mpi-queues/mpi-queues/mqs/waitfor"
)

// The table in a report's page holds all operations of a job, which may be millions. So it consists of
// columns of numbers, and has each text once.

// anyTag stands for any tag. It is not a number, as tags are.
const anyTag = "\"*\""

// operationTable holds the columns of the table. A value that is not known is null.
type operationTable struct {
	strings map[string]int
	texts   []string

	// For each process: its rank, its group, and the number of its operations.
	rank, group, count valueColumn
	// For each operation, process by process.
	comm, local, queue, status, peerLocal, peerGlobal, tag, bytes, kind, datatype, buffer, internal, note valueColumn
}

// valueColumn is a column of values in JSON, in the order in which they are added.
type valueColumn struct {
	json []byte
	n    int
}

// next begins the next value.
func (c *valueColumn) next() {
	c.json = jsonout.Comma(c.json, c.n)
	c.n++
}

func (c *valueColumn) add(v int) {
	c.next()
	c.json = strconv.AppendInt(c.json, int64(v), 10)
}

// raw adds what is JSON already.
func (c *valueColumn) raw(value string) {
	c.next()
	c.json = append(c.json, value...)
}

func (c *valueColumn) maybe(m mqs.Maybe[int32]) {
	if m.Known {
		c.add(int(m.Value))
	} else {
		c.raw("null")
	}
}

// long adds a number that may be too large for a number of JavaScript's.
func (c *valueColumn) long(v uint64, known bool) {
	switch {
	case !known:
		c.raw("null")
	case v >= 1<<53:
		c.next()
		c.json = jsonout.Hex(c.json, v)
	default:
		c.add(int(v))
	}
}

// newOperationTable makes the table of a report's operations.
func newOperationTable(r *waitfor.Report) *operationTable {
	o := &operationTable{strings: map[string]int{}}
	for i := range r.Ranks {
		rank := &r.Ranks[i]
		n := 0
		if rank.Process != nil {
			n = o.process(rank.Process)
		}
		o.rank.add(int(rank.Rank))
		o.group.add(rank.Group)
		o.count.add(n)
	}
	return o
}

func (o *operationTable) process(p *mqs.Process) int {
	n := 0
	for _, c := range p.Communicators {
		label := -1
		for class, q := range c.Queue {
			if q == nil {
				continue
			}
			for i := range q.Operations {
				if label < 0 {
					label = o.text(c.Label())
				}
				o.comm.add(label)
				o.operation(c, mqs.OpClass(class), &q.Operations[i])
			}
			n += len(q.Operations)
		}
	}
	return n
}

func (o *operationTable) operation(c *mqs.Queues, class mqs.OpClass, op *mqs.PendingOperation) {
	global := op.DesiredGlobalRank
	if !global.Known {
		global = c.GlobalRank(op.DesiredLocalRank.Value)
		global.Known = global.Known && op.DesiredLocalRank.Known
	}
	o.local.maybe(c.LocalRank)
	o.queue.add(int(class))
	o.status.add(o.text(string(op.Status)))
	o.peerLocal.maybe(op.DesiredLocalRank)
	o.peerGlobal.maybe(global)
	if op.TagWild.Known && op.TagWild.Value {
		o.tag.raw(anyTag)
	} else {
		o.tag.maybe(op.DesiredTag)
	}
	o.bytes.long(uint64(op.DesiredLength.Value), op.DesiredLength.Known)
	o.kind.add(o.text(op.Kind))
	o.datatype.add(o.text(datatype(op)))
	o.buffer.long(uint64(op.Buffer.Value), op.Buffer.Known)
	internal := 0
	if op.Internal || c.Internal {
		internal = 1
	}
	o.internal.add(internal)
	o.note.add(o.text(remarks(class, op)))
}

// text returns the index of a text.
func (o *operationTable) text(s string) int {
	n, ok := o.strings[s]
	if !ok {
		n = len(o.texts)
		o.strings[s] = n
		o.texts = append(o.texts, printable.Line(s))
	}
	return n
}

// write writes the table as one JSON object that can stand in a script element.
func (o *operationTable) write(w io.Writer, r *waitfor.Report) error {
	places := make([]string, len(r.Groups))
	for i := range r.Groups {
		places[i] = printable.Line(r.Groups[i].Text)
	}
	sink, b := jsonout.New(w), []byte(`{"texts": `)
	b = append(script(b, o.texts), `, "places": `...)
	b = script(b, places)
	for _, c := range []struct {
		key string
		*valueColumn
	}{{"rank", &o.rank}, {"group", &o.group}, {"count", &o.count}, {"comm", &o.comm}, {"local", &o.local}, {"queue", &o.queue},
		{"status", &o.status}, {"peerLocal", &o.peerLocal}, {"peerGlobal", &o.peerGlobal}, {"tag", &o.tag}, {"bytes", &o.bytes},
		{"kind", &o.kind}, {"datatype", &o.datatype}, {"buffer", &o.buffer}, {"internal", &o.internal}, {"note", &o.note}} {
		b = append(b, ",\n\""+c.key+"\": ["...)
		b = append(b, c.json...)
		b = sink.Full(append(b, ']'))
	}
	return sink.End(append(b, '}'))
}

// script appends texts as JSON that holds no HTML.
func script(b []byte, texts []string) []byte {
	b = append(b, '[')
	for i, text := range texts {
		quoted, err := json.Marshal(strings.ToValidUTF8(text, "\uFFFD")) // escapes <, > and &
		if err != nil {
			panic(err) // a string always marshals
		}
		b = append(jsonout.Comma(b, i), quoted...)
	}
	return append(b, ']')
}
