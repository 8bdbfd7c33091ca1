// Package compare compares two readings of one process.
package compare

import (
	"fmt"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// Compare lists where a DLL's view of a process differs from the native one: of the communicator
// that a user calls comm, empty for all, and of the MPI library's own communicators and traffic
// if internal is true. Both must hold all operations, the internal ones too: a DLL can't tell
// those apart.
func Compare(native, dll *mqs.Process, comm string, internal bool) []mqs.Difference {
	c := comparison{internal: internal}
	pairs, rest := matchCommunicators(native.Communicators, dll.Communicators)
	for i, n := range native.Communicators {
		if n.Internal && !internal || comm != "" && !n.Is(comm) {
			continue
		}
		var d *mqs.Queues
		if pairs[i] >= 0 {
			d = dll.Communicators[pairs[i]]
		}
		c.communicator(n, d)
	}
	for _, k := range rest {
		if d := dll.Communicators[k]; comm == "" || d.Is(comm) {
			c.add(mqs.Difference{Communicator: describe(&d.Communicator), Field: "communicator", DLL: "shown"})
		}
	}
	return c.found
}

// comparison collects differences.
type comparison struct {
	internal bool // the MPI library's own is compared too
	found    []mqs.Difference
}

func (c *comparison) add(d mqs.Difference) { c.found = append(c.found, d) }

// describe is a label that tells communicators of one name apart.
func describe(c *mqs.Communicator) string {
	if c.Name.Value == "" {
		return c.Label()
	}
	return fmt.Sprintf("%s (%s)", c.Name.Value, c.UniqueID)
}

func (c *comparison) communicator(n, d *mqs.Queues) {
	at := mqs.Difference{Communicator: describe(&n.Communicator)}
	if d == nil {
		at.Field, at.Native = "communicator", "shown"
		c.add(at)
		return
	}
	compare(c, at, "unique_id", mqs.Known(n.UniqueID), mqs.Known(d.UniqueID))
	compare(c, at, "local_rank", n.LocalRank, d.LocalRank)
	compare(c, at, "size", n.Size, d.Size)
	c.text(at, "name", n.Name.Value, d.Name.Value) // a DLL can't tell an empty name from none
	nativeGroup, dllGroup := groupWords(n.Group, d.Group)
	c.text(at, "group", nativeGroup, dllGroup)
	for _, class := range mqs.OpClasses {
		if n.Queue[class] != nil && d.Queue[class] != nil {
			at.Queue = class.String()
			c.queue(at, n.Queue[class], d.Queue[class])
		}
	}
}

// manyRanks is how many entries of a group are spelled out.
const manyRanks = 16

// groupWords are two groups in words, the same for two that say the same. Of
// long ones it is what follows their first difference.
func groupWords(a, b []mqs.Maybe[int32]) (string, string) {
	from := 0
	if len(a) > manyRanks || len(b) > manyRanks {
		for from < min(len(a), len(b)) && plain(a[from]) == plain(b[from]) {
			from++
		}
	}
	words := func(g []mqs.Maybe[int32]) string {
		if g == nil {
			return ""
		}
		var words []string
		if from > 0 {
			words = append(words, fmt.Sprintf("%d ranks, from %d on:", len(g), from))
		}
		for _, r := range g[from:min(from+manyRanks, len(g))] {
			words = append(words, word(r))
		}
		if from+manyRanks < len(g) {
			words = append(words, "...")
		}
		return strings.Join(words, " ")
	}
	return words(a), words(b)
}

// word is a value in words.
func word[T any](m mqs.Maybe[T]) string {
	if !m.Known {
		return "?"
	}
	return fmt.Sprint(m.Value)
}

// compare notes a field of which the two values are not the same.
func compare[T comparable](c *comparison, at mqs.Difference, field string, n, d mqs.Maybe[T]) {
	if plain(n) == plain(d) {
		return
	}
	at.Field = field
	if n.Known {
		at.Native = fmt.Sprint(n.Value)
	}
	if d.Known {
		at.DLL = fmt.Sprint(d.Value)
	}
	c.add(at)
}

func (c *comparison) text(at mqs.Difference, field, n, d string) {
	if n != d {
		at.Field, at.Native, at.DLL = field, n, d
		c.add(at)
	}
}

func (c *comparison) queue(at mqs.Difference, n, d *mqs.Queue) {
	if n.Unavailable != "" || d.Unavailable != "" {
		if n.Unavailable == "" || d.Unavailable == "" {
			c.text(at, "queue", c.queueWords(n), c.queueWords(d))
		}
		return
	}
	pairs, rest := matchOperations(n.Operations, d.Operations)
	// What the filter hides counts in neither of the two.
	hidden := func(op *mqs.PendingOperation) bool { return op.Internal && !c.internal }
	gone := make([]bool, len(d.Operations))
	for i := range n.Operations {
		if pairs[i] >= 0 && hidden(&n.Operations[i]) {
			gone[pairs[i]], pairs[i] = true, -1
		}
	}
	isMoved, order := moved(pairs), placesInOrder(pairs)
	shown, paired := 0, 0
	for i := range n.Operations {
		op := &n.Operations[i]
		if hidden(op) {
			continue
		}
		at.Operation = mqs.Known(shown)
		shown++
		if pairs[i] < 0 {
			c.text(at, "operation", operationWords(op), "")
			continue
		}
		c.operation(at, op, &d.Operations[pairs[i]])
		if isMoved[i] {
			c.text(at, "position", fmt.Sprint(paired), fmt.Sprint(order[i]))
		}
		paired++
	}
	place, counted := 0, 0
	for _, k := range rest {
		for ; counted < k; counted++ {
			if !gone[counted] {
				place++
			}
		}
		at.Operation = mqs.Known(place)
		c.text(at, "operation", "", operationWords(&d.Operations[k]))
	}
}

func (c *comparison) queueWords(q *mqs.Queue) string {
	if q.Unavailable != "" {
		return "not available: " + q.Unavailable
	}
	n := 0
	for i := range q.Operations {
		if !q.Operations[i].Internal || c.internal {
			n++
		}
	}
	if n == 1 {
		return "1 operation"
	}
	return fmt.Sprintf("%d operations", n)
}

// operationWords tells an operation from others.
func operationWords(op *mqs.PendingOperation) string {
	tag := word(op.DesiredTag)
	if op.TagWild.Value {
		tag = "any"
	}
	return fmt.Sprintf("peer %s, tag %s, %s bytes at %s", word(op.DesiredLocalRank), tag, word(op.DesiredLength), word(op.Buffer))
}

func (c *comparison) operation(at mqs.Difference, n, d *mqs.PendingOperation) {
	compare(c, at, "status", mqs.Maybe[mqs.Status]{Value: n.Status, Known: n.Status != ""}, mqs.Maybe[mqs.Status]{Value: d.Status, Known: d.Status != ""})
	compare(c, at, "desired_local_rank", n.DesiredLocalRank, d.DesiredLocalRank)
	compare(c, at, "desired_global_rank", n.DesiredGlobalRank, d.DesiredGlobalRank)
	compare(c, at, "tag_wild", n.TagWild, d.TagWild)
	compare(c, at, "desired_tag", n.DesiredTag, d.DesiredTag)
	compare(c, at, "desired_length", n.DesiredLength, d.DesiredLength)
	compare(c, at, "system_buffer", n.SystemBuffer, d.SystemBuffer)
	compare(c, at, "buffer", n.Buffer, d.Buffer)
	compare(c, at, "actual_local_rank", n.ActualLocalRank, d.ActualLocalRank)
	compare(c, at, "actual_global_rank", n.ActualGlobalRank, d.ActualGlobalRank)
	compare(c, at, "actual_tag", n.ActualTag, d.ActualTag)
	compare(c, at, "actual_length", n.ActualLength, d.ActualLength)
}
