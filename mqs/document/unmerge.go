package document

import (
	"bufio"
	"encoding/binary"
	"errors"
	"hash/maphash"
	"io"
	"maps"
	"strings"
	"unsafe"

	"github.com/mpi-queues/mpi-queues/mqs"
)

// What is kept beside the things themselves, in bytes of memory.
const (
	// textCost is what a text takes in the lists and maps that have it, classCost what a class takes, and processCost what a
	// process takes in what is made of all processes of a job.
	textCost    = 128
	classCost   = 256
	processCost = 512
)

var (
	errNotMerged    = errors.New("it is not a process document of this version of mpi-queues")
	errTooMuch      = errors.New("it needs too much memory for its length")
	errTooMuchInAll = errors.New("the documents of all nodes together need too much memory")
)

// Seen are processes by what a document has of each. They are known by 64 bits of a hash whose seed nobody has who
// writes documents.
type Seen struct {
	seed maphash.Seed
	by   map[uint64]seenProcess
}

// seenProcess is a process and what it takes, in bytes of memory.
type seenProcess struct {
	*mqs.Process
	takes int64
}

// Drop forgets processes.
func (s *Seen) Drop(which func(*mqs.Process) bool) {
	maps.DeleteFunc(s.by, func(_ uint64, p seenProcess) bool { return which(p.Process) })
}

// unmerger makes the model of a merged document.
type unmerger struct {
	*reader
	in      *bufio.Reader
	account *Account
	groups  int64 // what groups have taken of the account
	known   []string
	hashes  []uint64 // of the texts
	read    []*readClass

	// What is left of the process at hand.
	alike []byte
	used  []string
	own   []uint64
}

// readClass is what processes have alike.
type readClass struct {
	alike []byte
	texts []string
	hash  uint64
	last  []uint64 // the numbers of the last process
}

// ReadMerged reads a document of [WriteMerged]. It may have processes as an earlier one had them: these are the same ones in
// memory, so that what stands costs little to be looked at again. It returns what the next document may have so.
// before may be nil. What is kept of the document is taken from its account.
func (p *Parser) ReadMerged(from io.Reader, account *Account, before *Seen) (*mqs.Snapshot, *Seen, error) {
	if before == nil {
		before = &Seen{seed: maphash.MakeSeed()}
	}
	u := &unmerger{reader: p.reader(), account: account, in: bufio.NewReader(from)}
	u.err = nil
	out, seen := &mqs.Snapshot{}, &Seen{before.seed, map[uint64]seenProcess{}}
	format := make([]byte, len(mergedFormat))
	if _, err := io.ReadFull(u.in, format); err != nil || string(format) != mergedFormat {
		return nil, nil, errNotMerged
	}
	var key []byte
	for u.err == nil {
		entry, err := binary.ReadUvarint(u.in)
		switch {
		case errors.Is(err, io.EOF):
			p.release(u.reader)
			return out, seen, nil
		case err != nil:
			return nil, nil, err
		case entry == textEntry:
			u.newText(before.seed)
			continue
		case entry == classEntry:
			u.class(before.seed)
			continue
		case entry-firstClass >= uint64(len(u.read)):
			return nil, nil, errNotMerged
		}
		c := u.read[entry-firstClass]
		key = binary.NativeEndian.AppendUint64(key[:0], c.hash)
		for i := range c.last {
			n, err := binary.ReadVarint(u.in)
			if err != nil {
				return nil, nil, ended(err)
			}
			c.last[i] += uint64(n)
			key = binary.NativeEndian.AppendUint64(key, c.last[i])
		}
		hash := maphash.Bytes(before.seed, key)
		process, isKnown := before.by[hash]
		if isKnown {
			u.makes(process.takes)
		} else {
			process = u.process(c)
		}
		out.Processes = append(out.Processes, process.Process)
		seen.by[hash] = process
	}
	return nil, nil, u.err
}

// newText reads a text.
func (u *unmerger) newText(seed maphash.Seed) {
	text := strings.ToValidUTF8(string(u.bytes(maxString, false)), "\uFFFD")
	text, takes := u.common.text(text)
	u.makes(takes)
	u.known = append(u.known, text)
	u.hashes = append(u.hashes, maphash.String(seed, text))
}

// process makes a process of a class.
func (u *unmerger) process(c *readClass) seenProcess {
	u.alike, u.used, u.own = c.alike, c.texts, c.last
	before := u.account.spent - u.groups
	u.makes(int64(unsafe.Sizeof(mqs.Process{})) + processCost)
	out := &u.processes.room(1)[0]
	u.unmergeProcess(out)
	if len(u.alike)+len(u.used)+len(u.own) > 0 {
		u.fail(errNotMerged)
	}
	return seenProcess{out, u.account.spent - u.groups - before}
}

// class reads a class.
func (u *unmerger) class(seed maphash.Seed) {
	numbers, texts := u.uvarint(), u.uvarint()
	if numbers > maxProcess || texts > maxProcess {
		u.fail(errTooMuch)
	}
	if u.makes(classCost + 8*int64(numbers) + 16*int64(texts)); u.err != nil {
		return
	}
	c := &readClass{last: make([]uint64, numbers)}
	key := binary.NativeEndian.AppendUint64(nil, numbers)
	for range texts {
		t := u.uvarint()
		if t >= uint64(len(u.known)) {
			u.fail(errNotMerged)
			return
		}
		c.texts = append(c.texts, u.known[t])
		key = binary.NativeEndian.AppendUint64(key, u.hashes[t])
	}
	c.alike = u.bytes(maxProcess, true)
	c.hash = maphash.Bytes(seed, append(key, c.alike...))
	u.read = append(u.read, c)
}

// makes accounts for memory that is about to be made.
func (u *unmerger) makes(n int64) {
	if err := u.account.Spend(n); err != nil {
		u.fail(err)
	}
}

// ended is an error in the middle of something.
func ended(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (u *unmerger) uvarint() uint64 {
	if u.err != nil {
		return 0
	}
	n, err := binary.ReadUvarint(u.in)
	if err != nil {
		u.fail(ended(err))
		return 0
	}
	return n
}

// bytes reads bytes behind their number. They are accounted for if they are kept.
func (u *unmerger) bytes(most uint64, areKept bool) []byte {
	n := u.uvarint()
	if n > most {
		u.fail(errTooMuch)
	}
	if areKept && u.err == nil {
		u.makes(int64(n))
	}
	if u.err != nil {
		return nil
	}
	if n <= blockSize {
		b := make([]byte, n)
		if _, err := io.ReadFull(u.in, b); err != nil {
			u.fail(ended(err))
		}
		return b
	}
	// Not made beforehand: the document may claim more than it has.
	b, err := io.ReadAll(io.LimitReader(u.in, int64(n)))
	if err == nil && uint64(len(b)) < n {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		u.fail(err)
	}
	return b
}

// byte returns the next byte of what the class has alike.
func (u *unmerger) byte() byte {
	if len(u.alike) == 0 {
		u.fail(errNotMerged)
		return 0
	}
	b := u.alike[0]
	u.alike = u.alike[1:]
	return b
}

func (u *unmerger) bool() bool { return u.byte() != 0 }

func (u *unmerger) readText(v *string) {
	if len(u.used) == 0 {
		u.fail(errNotMerged)
		return
	}
	*v, u.used = u.used[0], u.used[1:]
}

// unmergeWord reads a text that is one of those words, or none.
func unmergeWord[T ~string](u *unmerger, v *T, words ...T) {
	var text string
	u.readText(&text)
	for _, word := range words {
		if text == string(word) {
			*v = word
		}
	}
}

// unmergeInt reads one of the process's own numbers.
func unmergeInt[T ~int | ~int32 | ~int64 | ~uint16 | ~uint64](u *unmerger, v *T) {
	if len(u.own) == 0 {
		u.fail(errNotMerged)
		return
	}
	n := u.own[0]
	u.own = u.own[1:]
	if *v = T(n); uint64(*v) != n {
		u.fail(errNotMerged)
	}
}

// length reads how many elements a list has, each of so many bytes of memory; -1 of one that is nil.
func (u *unmerger) length(size uintptr) int {
	n, used := binary.Uvarint(u.alike)
	if used <= 0 || n > maxProcess {
		u.fail(errNotMerged)
		return -1
	}
	u.alike = u.alike[used:]
	if u.makes(int64(n) * int64(size)); u.err != nil {
		return -1
	}
	return int(n) - 1
}

func unmergeList[T any](u *unmerger, s *store[T], read func(*unmerger, *T)) []T {
	var element T
	n := u.length(unsafe.Sizeof(element))
	if n < 0 {
		return nil
	}
	out := s.room(n)
	for i := range out {
		if read(u, &out[i]); u.err != nil {
			return nil
		}
	}
	return out
}

func (u *unmerger) group() []mqs.Maybe[int32] {
	if !u.bool() {
		return nil
	}
	var text string
	u.readText(&text)
	before := u.account.spent
	group, err := u.common.group(text, u.account)
	if err != nil {
		u.fail(err)
	}
	u.groups += u.account.spent - before
	return group
}

func (u *unmerger) queues() (queues [3]*mqs.Queue) {
	for class := range queues {
		kind := u.byte()
		if kind == noQueue {
			continue
		}
		if kind == emptyQueue {
			queues[class] = &empty
			continue
		}
		u.makes(int64(unsafe.Sizeof(mqs.Queue{})))
		q := &u.headers.room(1)[0]
		queues[class] = q
		if kind == unavailableQueue {
			u.readText(&q.Unavailable)
			continue
		}
		unmergeInt(u, &q.Total)
		q.Operations = unmergeList(u, &u.operations, (*unmerger).unmergeOperation)
		q.Total, q.Incomplete = max(q.Total, len(q.Operations)), kind == incompleteQueue
	}
	return queues
}
