package wire

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/mpi-queues/mpi-queues/mqs/document"
	"github.com/mpi-queues/mpi-queues/mqs/printable"
)

// Limits bound the memory of a [Receiver], whatever is sent to it.
type Limits struct {
	// Collectors is how many may send, Packed how many bytes one of them may send of its document, All
	// how many of all documents are kept at once, and Unpacked how long a document may be.
	Collectors            int
	Packed, All, Unpacked int64
	// Other is how many bytes of other text may come, such as greetings.
	Other int64
	// Budget is what documents that are kept are taken from, if it is not nil. Several receivers may have it in common.
	Budget *document.Budget
}

// DefaultLimits have room for a job of some thousand nodes.
func DefaultLimits() Limits {
	return Limits{Collectors: 20_000, Packed: 64 << 20, All: 512 << 20, Unpacked: 256 << 20, Other: 64 << 20}
}

// HostLimits have room for the collector of one host, and some that something there has started twice.
func HostLimits() Limits {
	l := DefaultLimits()
	l.Collectors, l.All, l.Other = 64, l.Packed, 1<<20
	return l
}

// Receiver puts the lines of collectors together. Several goroutines may read into it.
type Receiver struct {
	limits Limits

	mu         sync.Mutex
	collectors map[key]*Collector
	kept       int64 // of documents
	formats    []string
	damaged    int
	refused    int
	other      []string
}

type key struct{ node, token string }

// NewReceiver makes one with limits.
func NewReceiver(l Limits) *Receiver {
	if l.Budget == nil {
		l.Budget = new(document.Budget)
	}
	return &Receiver{limits: l, collectors: map[key]*Collector{}}
}

// Close gives back what the documents have taken of the budget.
func (r *Receiver) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.limits.Budget.Hold(-r.kept)
	r.kept, r.collectors = 0, nil
}

// The bounds on what is kept of text that is no collector's.
const (
	otherLines  = 8
	otherLength = 300
	maxFormats  = 4
	maxText     = 4 * LineLimit // a longer line is none of a collector's
)

// ErrOther reports that more text from other sources than collectors has come than [Limits.Other] allows.
var ErrOther = errors.New("it sends too much other output beside its answer")

// Read takes lines until the input ends, and tells of each collector after a line of it has changed what
// is known of it. An error is the input's, or ErrOther.
func (r *Receiver) Read(from io.Reader, changed func(Status)) error {
	in := bufio.NewReaderSize(from, maxText)
	other := int64(0)
	for isRest := false; ; {
		text, err := in.ReadSlice('\n')
		isWhole := !errors.Is(err, bufio.ErrBufferFull)
		isOther := true
		if !isRest && isWhole && len(text) > 0 {
			// A line without an end may be cut where its checksum does not show it.
			var s Status
			var ok bool
			if s, ok, isOther = r.take(bytes.TrimSuffix(text, []byte("\n"))); ok && changed != nil {
				changed(s)
			}
		}
		if isOther {
			if other += int64(len(text)); other > r.limits.Other {
				return ErrOther
			}
		}
		isRest = !isWhole
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && isWhole:
			return err
		}
	}
}

// take takes one line. ok is false if it changes nothing, and isOther reports that it is not a collector's.
func (r *Receiver) take(text []byte) (s Status, ok, isOther bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l, err := parse(text)
	var other *formatError
	switch {
	case errors.As(err, &other):
		if !slices.Contains(r.formats, other.format) && len(r.formats) < maxFormats {
			r.formats = append(r.formats, other.format)
		}
		return s, false, true
	case errors.Is(err, errForeign):
		if said := strings.TrimSpace(printable.Line(string(text[:min(len(text), otherLength)]))); said != "" && len(r.other) < otherLines {
			r.other = append(r.other, said)
		}
		return s, false, true
	case err != nil:
		r.damaged++
		return s, false, false
	}
	if l.kind == wants {
		return Status{Node: l.node, Wants: true}, true, false
	}
	k := key{l.node, l.token}
	c := r.collectors[k]
	if c == nil {
		if len(r.collectors) >= r.limits.Collectors {
			r.refused++
			return s, false, false
		}
		c = &Collector{Status: Status{Node: l.node}, token: l.token, end: -1, limits: r.limits}
		r.collectors[k] = c
	}
	before := c.Status
	room := min(r.limits.All-r.kept, r.limits.Budget.Left())
	held := c.held
	c.take(l, room)
	r.kept += c.held - held
	r.limits.Budget.Hold(c.held - held)
	return c.Status, c.Status != before, false
}

// Collectors are those that have sent something, by their nodes' names.
func (r *Receiver) Collectors() []*Collector {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []*Collector
	for _, c := range r.collectors {
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b *Collector) int { return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.token, b.token)) })
	return out
}

// Others is what came besides: the formats of lines of other versions of this program, the beginning of
// what is no collector's, how many lines were damaged, and how many came of collectors beyond the limit.
type Others struct {
	Formats, Text    []string
	Damaged, Refused int
}

// Others is what came besides so far.
func (r *Receiver) Others() Others {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Others{slices.Clone(r.formats), slices.Clone(r.other), r.damaged, r.refused}
}
