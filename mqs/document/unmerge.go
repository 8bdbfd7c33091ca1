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

// What may be made of a merged document, in bytes of memory: some, and more for each byte that is read. An operation takes 264,
// and seven bytes where it differs little from that of the rank before.
const (
	freeMemory    = 32 << 20
	memoryPerByte = 128
)

var (
	errNotMerged = errors.New("it is no document of processes of this version of mpi-queues")
	errTooMuch   = errors.New("it has more processes than is right for its length")
)

// Seen are processes by what a document has of each. They are known by 64 bits of a hash whose seed nobody has who
// writes documents.
type Seen struct {
	seed maphash.Seed
	by   map[uint64]*mqs.Process
}

// Drop forgets processes.
func (s *Seen) Drop(which func(*mqs.Process) bool) {
	maps.DeleteFunc(s.by, func(_ uint64, p *mqs.Process) bool { return which(p) })
}

// unmerger makes the model of a merged document.
type unmerger struct {
	*reader
	in     *bufio.Reader
	memory int64 // that may still be made
	left   int   // members of groups that may still be made
	known  []string
	hashes []uint64 // of the texts
	read   []*readClass

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
// before may be nil.
func (p *Parser) ReadMerged(from io.Reader, before *Seen) (*mqs.Snapshot, *Seen, error) {
	if before == nil {
		before = &Seen{seed: maphash.MakeSeed()}
	}
	u := &unmerger{reader: p.reader(), memory: freeMemory, left: maxMembers}
	u.in = bufio.NewReader(&counted{from, &u.memory})
	u.err = nil
	out, seen := &mqs.Snapshot{}, &Seen{before.seed, map[uint64]*mqs.Process{}}
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
			text := strings.ToValidUTF8(string(u.bytes(maxString)), "\uFFFD")
			u.known = append(u.known, u.intern([]byte(text)))
			u.hashes = append(u.hashes, maphash.String(before.seed, text))
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
		process := before.by[hash]
		if process == nil {
			process = u.process(c)
		}
		out.Processes = append(out.Processes, process)
		seen.by[hash] = process
	}
	return nil, nil, u.err
}

// process makes a process of a class.
func (u *unmerger) process(c *readClass) *mqs.Process {
	u.alike, u.used, u.own = c.alike, c.texts, c.last
	u.makes(int64(unsafe.Sizeof(mqs.Process{})))
	out := &u.processes.room(1)[0]
	u.unmergeProcess(out)
	if len(u.alike)+len(u.used)+len(u.own) > 0 {
		u.fail(errNotMerged)
	}
	return out
}

// class reads a class.
func (u *unmerger) class(seed maphash.Seed) {
	numbers, texts := u.uvarint(), u.uvarint()
	u.makes(8*int64(numbers) + 16*int64(texts))
	if numbers > maxProcess || texts > maxProcess || u.err != nil {
		u.fail(errTooMuch)
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
	c.alike = u.bytes(maxProcess)
	c.hash = maphash.Bytes(seed, append(key, c.alike...))
	u.read = append(u.read, c)
}

// counted counts the bytes that are read as memory that may be made.
type counted struct {
	from   io.Reader
	memory *int64
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.from.Read(b)
	*c.memory += int64(n) * memoryPerByte
	return n, err
}

// makes accounts for memory that is about to be made.
func (u *unmerger) makes(n int64) {
	if u.memory -= n; u.memory < 0 || n < 0 {
		u.fail(errTooMuch)
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

// bytes reads bytes behind their number.
func (u *unmerger) bytes(most uint64) []byte {
	n := u.uvarint()
	if n > most {
		u.fail(errTooMuch)
		return nil
	}
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
	group, err := u.ranges.of(text, &u.left)
	if err != nil {
		u.fail(err)
	}
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
