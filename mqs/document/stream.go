package document

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/sync/errgroup"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/internal/frugal"
)

// Parse reads a document of [Write] back.
func Parse(text []byte) (*mqs.Snapshot, error) {
	return new(Parser).Read(bytes.NewReader(text))
}

// Parser reads documents of [Write], also those of older versions, which lack
// keys. What its documents have in common, such as names and groups, is kept
// once. It may be used by several goroutines.
type Parser struct {
	mu      sync.RWMutex
	strings map[string]string
	groups  map[string][]mqs.Maybe[int32]
	common  common // of merged documents
	// idle are readers that can be used again.
	idle []*reader
}

// chunkSize is how many bytes of processes are parsed by one core at a time.
const chunkSize = 512 << 10

// Read reads one document. Its processes are parsed by all cores, and only a few
// of them are there as text at a time: a document may be of a hundred thousand.
func (p *Parser) Read(r io.Reader) (*mqs.Snapshot, error) {
	chunks, err := p.read(r)
	if err != nil {
		return nil, err
	}
	return together(chunks), nil
}

// together are the processes of a document.
func together(chunks []*chunk) *mqs.Snapshot {
	out := &mqs.Snapshot{}
	for _, c := range chunks {
		out.Processes = append(out.Processes, c.processes...)
	}
	return out
}

// read reads the processes of a document.
func (p *Parser) read(r io.Reader) ([]*chunk, error) {
	var (
		group  errgroup.Group
		chunks []*chunk
	)
	s := splitter{work: func(c *chunk) {
		if chunks == nil {
			group.SetLimit(runtime.NumCPU())
		}
		chunks = append(chunks, c)
		group.Go(func() error { return p.parse(c) })
	}}
	splitErr := s.split(frugal.NewReader(r))
	if c := s.rest(); c != nil && splitErr == nil { // all that there is, if the document is of one rank
		chunks = append(chunks, c)
		splitErr = p.parse(c)
	}
	// What is wrong with an earlier process is said rather than what is wrong with the rest.
	if err := errors.Join(group.Wait(), splitErr); err != nil {
		for _, c := range chunks {
			if c.err != nil {
				return nil, c.err
			}
		}
		return nil, err
	}
	count := 0
	for _, c := range chunks {
		count += len(c.processes)
	}
	return chunks, s.check(count)
}

// reader returns one that nobody uses.
func (p *Parser) reader() *reader {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.idle); n > 0 {
		r := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return r
	}
	return &reader{Parser: p}
}

// release takes a reader back.
func (p *Parser) release(r *reader) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, r)
}

func (p *Parser) parse(c *chunk) error {
	r := p.reader()
	defer func() {
		*c.text = (*c.text)[:0]
		blocks.Put(c.text)
		c.text = nil
	}()
	start := 0
	for _, end := range c.ends {
		process, err := r.process((*c.text)[start:end])
		if err != nil {
			c.err = fmt.Errorf("not a snapshot of mpi-queues: line %d: %w", c.line+lineOf(err, (*c.text)[:end], start), clause(err))
			return c.err
		}
		c.processes = append(c.processes, process)
		start = end
	}
	p.release(r) // not one that has failed
	return nil
}

// lineOf counts the lines before what is wrong in the JSON value at start.
func lineOf(err error, text []byte, start int) int {
	var syntax *jsontext.SyntacticError
	var kind *json.SemanticError
	at := start
	switch {
	case errors.As(err, &syntax):
		at += int(syntax.ByteOffset)
	case errors.As(err, &kind):
		at += int(kind.ByteOffset)
	}
	return bytes.Count(text[:min(at, len(text))], []byte("\n"))
}

// clause says what is wrong with a JSON text, as its reader knows it: not by what Go has for it.
func clause(err error) error {
	var syntax *jsontext.SyntacticError
	var kind *json.SemanticError
	switch {
	case errors.As(err, &syntax) && errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("unexpected end")
	case errors.As(err, &syntax):
		return syntax.Err
	case errors.As(err, &kind) && kind.Err == nil:
		return fmt.Errorf("%s can't be %s", cmp.Or(string(kind.JSONPointer), "it"), named(kind.JSONKind))
	case errors.As(err, &kind):
		return fmt.Errorf("%s: %w", cmp.Or(string(kind.JSONPointer), "it"), kind.Err)
	}
	return err
}

// named is the name of a kind of JSON values, with its article.
func named(kind jsontext.Kind) string {
	switch kind {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"', '0':
		return "a " + kind.String()
	}
	return kind.String()
}

// chunk is some processes of a document.
type chunk struct {
	text *[]byte // of blocks
	ends []int   // of the processes
	line int     // of the document at its start

	processes []*mqs.Process
	err       error
}

func (c *chunk) add(b []byte) { *c.text = append(*c.text, b...) }

// blocks are buffers: there may be a hundred thousand documents, one for each rank.
var blocks = sync.Pool{New: func() any {
	b := make([]byte, 0, chunkSize)
	return &b
}}

// What a document may have, in bytes. Strings are names and sentences, the envelope has a
// few numbers, and a process with a million operations 600 MiB.
const (
	maxString   = 1 << 20
	maxEnvelope = 1 << 20
	maxProcess  = 1 << 30
)

// splitter takes a document apart into its processes and the rest, the
// envelope, in which {} stands for each process. It knows strings and brackets
// only: whether the parts are JSON is for those who parse them.
type splitter struct {
	work     func(*chunk)
	envelope []byte
	chunk    *chunk
	line     int
	err      error // what the document has too much of

	read     int64 // bytes before the block at hand
	stringAt int64 // where the last string begins
	standIns int   // bytes of the envelope that stand for processes

	depth              int
	inString, escaped  bool
	inArray, inProcess bool
	key                int // where the last string of the envelope begins
}

// Kinds of bytes outside of strings.
const (
	quote = iota + 1
	opening
	closing
)

var structure = [256]byte{'"': quote, '{': opening, '[': opening, '}': closing, ']': closing}

func (s *splitter) split(r io.Reader) error {
	s.line = 1
	buffer := blocks.Get().(*[]byte)
	defer blocks.Put(buffer)
	block := (*buffer)[:cap(*buffer)]
	for {
		n, err := r.Read(block)
		s.block(block[:n])
		s.read += int64(n)
		if s.inString && s.read-s.stringAt > maxString {
			s.tooLong("a string", maxString)
		}
		switch {
		case s.err != nil:
			return s.err
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case isForeign(s.envelope):
			return nil // whatever it is, it need not be read to its end
		}
	}
}

// block goes on with the next bytes of the document.
func (s *splitter) block(b []byte) {
	start := 0
	for i := 0; i < len(b); i++ {
		if s.inString {
			switch c := b[i]; {
			case s.escaped:
				s.escaped = false
			case c == '\\':
				s.escaped = true
			case c == '"':
				s.inString = false
			}
			continue
		}
		switch structure[b[i]] {
		case quote:
			s.inString, s.stringAt = true, s.read+int64(i)
			if s.depth == 1 {
				s.key = len(s.envelope) + i - start
			}
		case opening:
			if s.depth == 2 && s.inArray && b[i] == '{' {
				s.keep(b[start:i])
				start, s.inProcess = i, true
			} else if s.depth == 1 && b[i] == '[' {
				s.keep(b[start:i])
				start, s.inArray = i, bytes.HasPrefix(s.envelope[min(s.key, len(s.envelope)):], []byte(`"processes"`))
			}
			s.depth++
		case closing:
			s.depth--
			if s.inProcess && s.depth == 2 {
				s.keep(b[start : i+1])
				start = i + 1
				s.endProcess()
			}
			s.inArray = s.inArray && s.depth > 1
		}
	}
	s.keep(b[start:])
}

// keep keeps bytes of a process or of the envelope.
func (s *splitter) keep(b []byte) {
	if s.inProcess {
		if s.chunk == nil {
			s.chunk = &chunk{text: blocks.Get().(*[]byte), line: s.line}
		}
		s.chunk.add(b)
		before := 0
		if n := len(s.chunk.ends); n > 0 {
			before = s.chunk.ends[n-1]
		}
		if len(*s.chunk.text)-before > maxProcess {
			s.tooLong("a process", maxProcess)
		}
	} else {
		if s.chunk != nil {
			// Lines between processes count as the chunk's own.
			s.chunk.add(bytes.Repeat([]byte("\n"), bytes.Count(b, []byte("\n"))))
		}
		if len(s.envelope)+len(b)-s.standIns > maxEnvelope+s.standIns {
			s.tooLong("what stands beside the processes", maxEnvelope)
			return
		}
		s.envelope = append(s.envelope, b...)
	}
	s.line += bytes.Count(b, []byte("\n"))
}

// tooLong ends the reading: what a document has of one thing is kept whole.
func (s *splitter) tooLong(what string, limit int) {
	s.err = fmt.Errorf("not a snapshot of mpi-queues: line %d: %s has more than %d MiB", s.line, what, limit>>20)
}

func (s *splitter) endProcess() {
	const standIn = "{}"
	s.inProcess = false
	s.envelope = append(s.envelope, standIn...)
	s.standIns += len(standIn)
	s.chunk.ends = append(s.chunk.ends, len(*s.chunk.text))
	if len(*s.chunk.text) >= chunkSize {
		s.work(s.chunk)
		s.chunk = nil
	}
}

// rest returns the last processes, nil if there are none that have not been handed on. One that has no end is
// an error to those who parse it.
func (s *splitter) rest() *chunk {
	if s.chunk != nil && s.inProcess {
		s.chunk.ends = append(s.chunk.ends, len(*s.chunk.text))
	}
	return s.chunk
}

// isForeign tells text that is no JSON object, as soon as it begins.
func isForeign(text []byte) bool {
	text = bytes.TrimLeft(text, " \t\r\n")
	return len(text) > 0 && text[0] != '{'
}

// check holds the envelope against what a snapshot has.
func (s *splitter) check(processes int) error {
	var doc struct {
		Schema    int        `json:"schema"`
		Processes []struct{} `json:"processes"`
	}
	if err := json.Unmarshal(s.envelope, &doc, lenient); err != nil {
		return fmt.Errorf("not a snapshot of mpi-queues: %w", clause(err))
	}
	if doc.Schema != Schema {
		return fmt.Errorf("the snapshot has schema %d, this version reads %d", doc.Schema, Schema)
	}
	if len(doc.Processes) != processes {
		return errors.New("not a snapshot of mpi-queues: one of its processes is null")
	}
	return nil
}
