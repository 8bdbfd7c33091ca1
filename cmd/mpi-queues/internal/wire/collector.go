package wire

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mpi-queues/mpi-queues/mqs/printable"
)

// Status is what a collector has said.
type Status struct {
	// Node is the name of its node, Machine what the machine calls itself, and Version the program's; those
	// are empty until it has introduced itself.
	Node, Machine, Version string
	// Progress is what it has said last, and Failure why it has no document; empty if it has not.
	Progress, Failure string
	// IsWhole is true once its document is there.
	IsWhole bool
	// Wants is true if the program is not there, and is waited for.
	Wants bool
}

// Collector is what has come of one.
type Collector struct {
	Status
	token  string
	limits Limits

	said int // the number of its progress
	// parts are those of the packed document, by number; packed is that as a whole.
	parts  map[int][]byte
	packed []byte
	// held is what parts take, in bytes; end is how many there are, -1 if not known.
	held int64
	end  int
	sum  string
	// wrong is why the document can't be put together.
	wrong error
}

// partCost is what a part takes besides its bytes.
const partCost = 128

// take takes a line. The document may take room more bytes.
func (c *Collector) take(l line, room int64) {
	switch l.kind {
	case hello:
		version, machine, _ := strings.Cut(string(l.payload), "\n")
		if c.Version == "" {
			c.Version, c.Machine = printable.Line(version), printable.Line(machine)
		}
	case progress:
		if l.number >= c.said {
			c.said, c.Progress = l.number, printable.Line(string(l.payload))
		}
	case failed:
		if c.Failure == "" {
			c.Failure = printable.Line(string(l.payload))
		}
	case data:
		c.takePart(l, room)
	case end:
		if c.end >= 0 && (c.end != l.number || c.sum != string(l.payload)) {
			c.refuse(errors.New("the document ends in two ways"))
			return
		}
		c.end, c.sum = l.number, string(l.payload)
		c.join()
	}
}

func (c *Collector) takePart(l line, room int64) {
	if c.wrong != nil || c.IsWhole {
		return
	}
	if old, known := c.parts[l.number]; known {
		if !bytes.Equal(old, l.payload) {
			c.refuse(fmt.Errorf("part %d of the document came in two ways", l.number+1))
		}
		return
	}
	cost := int64(len(l.payload)) + partCost
	switch {
	case len(l.payload) == 0:
		c.refuse(errors.New("a part of the document is empty"))
		return
	case c.held+cost > c.limits.Packed:
		c.refuse(fmt.Errorf("the document takes more than the %d bytes that one may take", c.limits.Packed))
		return
	case cost > room:
		c.refuse(fmt.Errorf("the documents of all nodes take more than the %d bytes that they may take together", c.limits.All))
		return
	}
	if c.parts == nil {
		c.parts = map[int][]byte{}
	}
	c.parts[l.number] = l.payload
	c.held += cost
	c.join()
}

// refuse gives the document up.
func (c *Collector) refuse(why error) {
	c.wrong, c.parts, c.packed, c.held, c.IsWhole = why, nil, nil, 0, false
}

// join puts the document together if all of it is there.
func (c *Collector) join() {
	if c.wrong != nil || c.IsWhole || c.end < 0 || len(c.parts) < c.end {
		return
	}
	sum := crc32.New(sums)
	var packed []byte
	for i := range c.end {
		part, known := c.parts[i]
		if !known { // there are others, behind its end
			c.refuse(errors.New("the document goes on behind its end"))
			return
		}
		_, _ = sum.Write(part) // it never fails
		packed = append(packed, part...)
	}
	if len(c.parts) > c.end {
		c.refuse(errors.New("the document goes on behind its end"))
		return
	}
	if fmt.Sprintf("%08x", sum.Sum32()) != c.sum {
		c.refuse(errors.New("the document's checksum is not that of its parts"))
		return
	}
	c.packed, c.parts, c.IsWhole = bytes.Clone(packed), nil, true
	c.held = int64(len(c.packed))
}

// Packed is how many bytes the document is packed to.
func (c *Collector) Packed() int64 { return int64(len(c.packed)) }

// ErrTooLong means that a document unpacks to more than is allowed.
var ErrTooLong = errors.New("the document is longer than is allowed")

// Document reads the document. It fails with what is missing, as a clause.
func (c *Collector) Document() (io.Reader, error) {
	switch {
	case c.wrong != nil:
		return nil, c.wrong
	case c.Failure != "":
		return nil, errors.New(c.Failure)
	case !c.IsWhole:
		return nil, errors.New(c.missing())
	}
	from, err := gzip.NewReader(bytes.NewReader(c.packed))
	if err != nil {
		return nil, fmt.Errorf("the document can't be unpacked: %w", err)
	}
	from.Multistream(false)
	return &bounded{from, c.limits.Unpacked}, nil
}

// missing says what of the document has not come.
func (c *Collector) missing() string {
	if len(c.parts) == 0 && c.end < 0 {
		last := ""
		if c.Progress != "" {
			last = ", and was last heard of with: " + c.Progress
		}
		return "it began and sent no document" + last
	}
	const most = 5
	var gaps []string
	lost, next := 0, 0
	gap := func(to int) { // of the parts from next up to it
		if to <= next {
			return
		}
		lost += to - next
		text := strconv.Itoa(next + 1)
		if to > next+1 {
			text += "-" + strconv.Itoa(to)
		}
		if len(gaps) < most {
			gaps = append(gaps, text)
		} else if len(gaps) == most {
			gaps = append(gaps, "…")
		}
	}
	for _, number := range slices.Sorted(maps.Keys(c.parts)) {
		gap(number)
		next = number + 1
	}
	gap(c.end)
	switch {
	case c.end >= 0:
		return fmt.Sprintf("%d of the document's %d parts did not come: %s", lost, c.end, strings.Join(gaps, ", "))
	case lost > 0:
		return fmt.Sprintf("the document is cut off behind part %d, and %d before that did not come: %s", next, lost, strings.Join(gaps, ", "))
	}
	return fmt.Sprintf("the document is cut off behind part %d", next)
}

// bounded reads no more than some bytes.
type bounded struct {
	from io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		// What has just that length ends here.
		var one [1]byte
		if n, err := io.ReadFull(b.from, one[:]); n == 0 {
			return 0, err
		}
		return 0, ErrTooLong
	}
	n, err := b.from.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}
