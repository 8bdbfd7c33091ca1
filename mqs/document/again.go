package document

import (
	"bytes"
	"hash/maphash"
	"io"
	"maps"

	"github.com/mpi-queues/mpi-queues/mqs"
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

// ReadAgain is [Parser.Read] of a document that may have processes as an earlier one had them: these are the same ones in
// memory, so that what stands costs little to be looked at again. It returns what the next document may have so.
// before may be nil.
func (p *Parser) ReadAgain(r io.Reader, before *Seen) (*mqs.Snapshot, *Seen, error) {
	if before == nil {
		before = &Seen{seed: maphash.MakeSeed()}
	}
	chunks, err := p.read(r, before)
	if err != nil {
		return nil, nil, err
	}
	seen := &Seen{before.seed, map[uint64]*mqs.Process{}}
	for _, c := range chunks {
		for i, hash := range c.hashes {
			seen.by[hash] = c.processes[i]
		}
	}
	return together(chunks), seen, nil
}

// process reads a process of a chunk, unless it is one that was seen before.
func (s *Seen) process(c *chunk, r *reader, text []byte) (*mqs.Process, error) {
	if s == nil {
		return r.process(text)
	}
	hash := maphash.Bytes(s.seed, bytes.TrimLeft(text, "\n")) // which a chunk has between its processes
	c.hashes = append(c.hashes, hash)
	if known := s.by[hash]; known != nil {
		return known, nil
	}
	return r.process(text)
}
