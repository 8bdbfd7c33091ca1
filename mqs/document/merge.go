package document

import (
	"encoding/binary"
	"io"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// A node has many ranks that differ in numbers only. WriteMerged writes a snapshot for a program of the same build, as classes
// of processes: a class is all that its processes have alike, which is their texts, what is known of them and how many there are
// of what, and is written once; of each process there are then only its numbers, as how much they differ from those of the one
// before it in its class. A merged document is its format, and then entries, each of which begins with a number:
//
//	0: a text: how many bytes it has, and these
//	1: a class: how many numbers its processes have; how many texts, and each by its place among those before; and how many bytes,
//	   and these
//	n: a process of class n-2, and its numbers
//
// All numbers are varints (encoding/binary), and those of processes signed ones.
const (
	textEntry = iota
	classEntry
	firstClass
)

// The kinds of queues, as a byte.
const (
	noQueue = iota // it was not asked for
	unavailableQueue
	emptyQueue
	wholeQueue
	incompleteQueue
)

// merger takes processes apart.
type merger struct {
	out     []byte
	texts   map[string]uint64
	classes map[string]*class
	// The last group, and its ranges: ranks share theirs.
	lastGroup []mqs.Maybe[int32]
	lastText  string

	// Of the process at hand.
	alike []byte
	used  []uint64 // the texts
	own   []uint64 // the numbers
}

// class is what processes have alike. last are the numbers of the last one.
type class struct {
	number uint64
	last   []uint64
}

// WriteMerged writes a snapshot, merged.
func WriteMerged(out io.Writer, s *mqs.Snapshot) error {
	m := &merger{out: []byte(mergedFormat), texts: map[string]uint64{}, classes: map[string]*class{}}
	for _, p := range s.Processes {
		m.alike, m.used, m.own = m.alike[:0], m.used[:0], m.own[:0]
		m.mergeProcess(p)
		c := m.class()
		m.out = binary.AppendUvarint(m.out, firstClass+c.number)
		for i, n := range m.own {
			m.out = binary.AppendVarint(m.out, int64(n-c.last[i]))
		}
		copy(c.last, m.own)
		if len(m.out) >= chunkSize {
			if _, err := out.Write(m.out); err != nil {
				return err
			}
			m.out = m.out[:0]
		}
	}
	_, err := out.Write(m.out)
	return err
}

// class returns the class of the process at hand.
func (m *merger) class() *class {
	entry := binary.AppendUvarint([]byte{classEntry}, uint64(len(m.own)))
	entry = binary.AppendUvarint(entry, uint64(len(m.used)))
	for _, t := range m.used {
		entry = binary.AppendUvarint(entry, t)
	}
	entry = append(binary.AppendUvarint(entry, uint64(len(m.alike))), m.alike...)
	c := m.classes[string(entry)]
	if c == nil {
		c = &class{uint64(len(m.classes)), make([]uint64, len(m.own))}
		m.classes[string(entry)] = c
		m.out = append(m.out, entry...)
	}
	return c
}

func (m *merger) bool(is bool) bool {
	if is {
		m.alike = append(m.alike, 1)
	} else {
		m.alike = append(m.alike, 0)
	}
	return is
}

func (m *merger) number(n uint64) { m.own = append(m.own, n) }

func (m *merger) text(s string) {
	t, known := m.texts[s]
	if !known {
		t = uint64(len(m.texts))
		m.texts[s] = t
		m.out = append(binary.AppendUvarint(append(m.out, textEntry), uint64(len(s))), s...)
	}
	m.used = append(m.used, t)
}

// list begins a list of so many elements, which may be nil.
func (m *merger) list(n int, isNil bool) {
	if !isNil {
		n++
	}
	m.alike = binary.AppendUvarint(m.alike, uint64(n))
}

// group takes a group for its text.
func (m *merger) group(group []mqs.Maybe[int32]) {
	if m.bool(group != nil) {
		if len(group) == 0 || len(m.lastGroup) != len(group) || &m.lastGroup[0] != &group[0] {
			m.lastGroup, m.lastText = group, rangesOf(group)
		}
		m.text(m.lastText)
	}
}

func (m *merger) queues(queues *[3]*mqs.Queue) {
	for _, q := range queues {
		switch {
		case q == nil:
			m.alike = append(m.alike, noQueue)
			continue
		case q.Unavailable != "":
			m.alike = append(m.alike, unavailableQueue)
			m.text(q.Unavailable)
			continue
		case q.Incomplete:
			m.alike = append(m.alike, incompleteQueue)
		case len(q.Operations) == 0 && q.Total == 0:
			m.alike = append(m.alike, emptyQueue)
			continue
		default:
			m.alike = append(m.alike, wholeQueue)
		}
		m.number(uint64(q.Total))
		m.list(len(q.Operations), false)
		for i := range q.Operations {
			m.mergeOperation(&q.Operations[i])
		}
	}
}
