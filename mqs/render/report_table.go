package render

import (
	"encoding/json"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/internal/jsonout"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
	"github.com/mpi-queues/mpi-queues/mqs/waitfor"
)

// The table in a report's page holds all operations of a job, which may be millions. So it consists of
// columns of numbers, and has each text once. A column is written as it is made: all of them together are as
// large as the job.

// anyTag stands for any tag. It is not a number, as tags are.
const anyTag = "\"*\""

// operationTable writes the columns of the table. A value that is not known is null.
type operationTable struct {
	report  *waitfor.Report
	sink    *jsonout.Sink
	strings map[string]int
	texts   []string
	// label is the text of what the communicator comm is called.
	comm  *mqs.Queues
	label int
}

// row is an operation, and the queue that it is in.
type row struct {
	*mqs.Queues
	class mqs.OpClass
	op    *mqs.PendingOperation
}

// operationColumns are those that have a value for each operation, process by process.
var operationColumns = []struct {
	key   string
	value func(o *operationTable, b []byte, r row) []byte
}{
	{"comm", func(o *operationTable, b []byte, r row) []byte {
		return whole(b, o.labelOf(r.Queues))
	}},
	{"local", func(_ *operationTable, b []byte, r row) []byte {
		return maybe(b, r.LocalRank)
	}},
	{"queue", func(_ *operationTable, b []byte, r row) []byte {
		return whole(b, int(r.class))
	}},
	{"status", func(o *operationTable, b []byte, r row) []byte {
		return whole(b, o.text(string(r.op.Status)))
	}},
	{"peerLocal", func(_ *operationTable, b []byte, r row) []byte {
		return maybe(b, r.op.DesiredLocalRank)
	}},
	{"peerGlobal", func(_ *operationTable, b []byte, r row) []byte {
		global := r.op.DesiredGlobalRank
		if !global.Known && r.op.DesiredLocalRank.Known {
			global = r.GlobalRank(r.op.DesiredLocalRank.Value)
		}
		return maybe(b, global)
	}},
	{"tag", func(_ *operationTable, b []byte, r row) []byte {
		if r.op.TagWild.Known && r.op.TagWild.Value {
			return append(b, anyTag...)
		}
		return maybe(b, r.op.DesiredTag)
	}},
	{"bytes", func(_ *operationTable, b []byte, r row) []byte {
		return long(b, uint64(r.op.DesiredLength.Value), r.op.DesiredLength.Known)
	}},
	{"kind", func(o *operationTable, b []byte, r row) []byte {
		return whole(b, o.text(r.op.Kind))
	}},
	{"datatype", func(o *operationTable, b []byte, r row) []byte {
		return whole(b, o.text(datatype(r.op)))
	}},
	{"buffer", func(_ *operationTable, b []byte, r row) []byte {
		return long(b, uint64(r.op.Buffer.Value), r.op.Buffer.Known)
	}},
	{"internal", func(_ *operationTable, b []byte, r row) []byte {
		if r.op.Internal || r.Internal {
			return whole(b, 1)
		}
		return whole(b, 0)
	}},
	{"note", func(o *operationTable, b []byte, r row) []byte {
		return whole(b, o.text(remarks(r.class, r.op)))
	}},
}

func whole(b []byte, v int) []byte { return strconv.AppendInt(b, int64(v), 10) }

func maybe(b []byte, m mqs.Maybe[int32]) []byte {
	if !m.Known {
		return append(b, "null"...)
	}
	return whole(b, int(m.Value))
}

// long appends a number that may be too large for a number of JavaScript's.
func long(b []byte, v uint64, known bool) []byte {
	switch {
	case !known:
		return append(b, "null"...)
	case v >= 1<<53:
		return jsonout.Hex(b, v)
	}
	return whole(b, int(v))
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

// labelOf returns the index of what a communicator is called.
func (o *operationTable) labelOf(c *mqs.Queues) int {
	if c != o.comm {
		o.comm, o.label = c, o.text(c.Label())
	}
	return o.label
}

// rows are the operations of a process that was read.
func rows(p *mqs.Process) iter.Seq[row] {
	return func(yield func(row) bool) {
		if p == nil {
			return
		}
		for _, c := range p.Communicators {
			for class, q := range c.Queue {
				if q == nil {
					continue
				}
				for i := range q.Operations {
					if !yield(row{c, mqs.OpClass(class), &q.Operations[i]}) {
						return
					}
				}
			}
		}
	}
}

// writeOperations writes the table as one JSON object that can stand in a script element.
func writeOperations(w io.Writer, r *waitfor.Report) error {
	o := &operationTable{report: r, sink: jsonout.New(w), strings: map[string]int{}}
	places := make([]string, len(r.Groups))
	for i := range r.Groups {
		places[i] = printable.Line(r.Groups[i].Text)
	}
	b := script([]byte(`{"places": `), places)
	b = o.ranks(b, "rank", func(r *waitfor.Rank) int { return int(r.Rank) })
	b = o.ranks(b, "group", func(r *waitfor.Rank) int { return r.Group })
	b = o.ranks(b, "count", func(r *waitfor.Rank) int {
		n := 0
		for range rows(r.Process) {
			n++
		}
		return n
	})
	for i := range operationColumns {
		b = o.operations(b, i)
	}
	b = script(append(b, ",\n\"texts\": "...), o.texts)
	return o.sink.End(append(b, '}'))
}

// ranks writes a column that has a value for each process.
func (o *operationTable) ranks(b []byte, key string, value func(*waitfor.Rank) int) []byte {
	b = append(b, ",\n\""+key+"\": ["...)
	for i := range o.report.Ranks {
		b = o.sink.Full(whole(jsonout.Comma(b, i), value(&o.report.Ranks[i])))
	}
	return append(b, ']')
}

// operations writes one of the operationColumns.
func (o *operationTable) operations(b []byte, column int) []byte {
	value, n := operationColumns[column].value, 0
	b = append(b, ",\n\""+operationColumns[column].key+"\": ["...)
	for i := range o.report.Ranks {
		for r := range rows(o.report.Ranks[i].Process) {
			b = o.sink.Full(value(o, jsonout.Comma(b, n), r))
			n++
		}
	}
	return append(b, ']')
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
