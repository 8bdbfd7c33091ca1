// Package document writes JSON documents: of a snapshot, of a report, of a handle, and of the ranks of a job,
// their values and their stacks. It reads those of snapshots back. The files *schema.json describe them.
// Documents come from strangers: each is read within bounds on its length and on what is made of it.
//
// A document has one definition, the model's structs: [mqs.Snapshot], [waitfor.Report], [mqs.Handle],
// [across.Ranks], [across.Values], [stacks.Tree] and what they are made of. From their fields, tags and
// comments ./gen makes the writer, the reader, what merges processes ([WriteMerged]) and the schemas, and for the tests one of each in which every
// field is filled. The tag json is the field's key, "-" if no document has the field. The tag document has options:
//
//	null         the zero value, or a number below min, is null: it stands for one not known
//	min=N        no number is smaller, which the schema says; a reader takes what there is
//	max=N        a list has no more elements, which the schema says
//	words=A|B    a string is one of these; words=OpClass: the key of a queue. The words of a type
//	             that has constants are those. Other words are not known to a reader.
//	hex          a number is written as an address
//	omit         an empty list has no key
//	line         the key begins a line
//	rows         each element has a line of its own, as objects always have
//	tuple        the elements of a list, which are structs, are lists of their fields' values
//	ranges       a list of ranks is a string: "0-3,6"
//	number       a string is a number as JSON has it, and is written so
//	ranks=KEY    before the list there is one of just its Rank fields, under this key
//	queues       queues.go writes and reads the field
//
// A value of [mqs.Maybe] is null if it is not known. A reader keeps equal lists of such once, as
// the groups of communicators are.
package document

import (
	"fmt"
	"io"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/across"
	"github.com/mpi-queues/mpi-queues/mqs/internal/jsonout"
	"github.com/mpi-queues/mpi-queues/mqs/stacks"
	"github.com/mpi-queues/mpi-queues/mqs/waitfor"
)

//go:generate go run ./gen

// The versions of the documents. They change when a program that reads a document would misread
// a new one; a new key is no such change.
const (
	Schema       = 1 // of a snapshot's
	ReportSchema = 1 // of a report's
	HandleSchema = 1 // of a handle's
	RanksSchema  = 1 // of ranks'
	ValuesSchema = 1 // of values'
	StacksSchema = 1 // of stacks'
)

// Write writes a snapshot as one document, an operation to a line.
func Write(out io.Writer, snapshot *mqs.Snapshot) error {
	s, b := jsonout.New(out), fmt.Appendf(nil, `{"schema": %d, "processes": [`, Schema)
	for i, p := range snapshot.Processes {
		b = append(jsonout.Comma(b, i), '\n')
		b = s.Full(appendProcess(b, s, p))
	}
	return s.End(append(b, "\n]}\n"...))
}

// WriteReport writes a report as one document, an entry of a list to a line.
func WriteReport(out io.Writer, r *waitfor.Report) error {
	return write(out, ReportSchema, r, appendReport)
}

// WriteHandle writes what a handle stands for as one document.
func WriteHandle(out io.Writer, h *mqs.Handle) error {
	return write(out, HandleSchema, h, appendHandle)
}

// WriteRanks writes where the ranks of a job are as one document, a rank to a line.
func WriteRanks(out io.Writer, r *across.Ranks) error {
	return write(out, RanksSchema, r, appendRanks)
}

// WriteValues writes the values of the ranks of a job as one document, a value to a line.
func WriteValues(out io.Writer, v *across.Values) error {
	return write(out, ValuesSchema, v, appendValues)
}

// WriteStacks writes the stacks of the ranks of a job as one document, a frame to a line.
func WriteStacks(out io.Writer, t *stacks.Tree) error {
	return write(out, StacksSchema, t, appendTree)
}

// write writes a document that is one object, whose members follow its version.
func write[T any](out io.Writer, version int, v *T, members func([]byte, *jsonout.Sink, *T) []byte) error {
	s, b := jsonout.New(out), fmt.Appendf(nil, `{"schema": %d`, version)
	return s.End(append(members(b, s, v), '\n'))
}
