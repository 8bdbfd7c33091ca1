package wire

import (
	"compress/gzip"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"strings"
	"sync"
	"unicode/utf8"
)

// Sender writes what one collector has to say. Each line is one write. Several goroutines may use it, but
// only one sends a document.
type Sender struct {
	node, token string

	mu       sync.Mutex
	to       io.Writer
	progress int
}

// NewSender introduces a collector: the node that it is on, the machine's name for itself, which tells it
// from others whatever they are called, and the version of the program.
func NewSender(to io.Writer, node, machine, version string) (*Sender, error) {
	var token [6]byte
	_, _ = rand.Read(token[:]) // it never fails (crypto/rand)
	node = cut(node, maxNode)
	if node == "" {
		return nil, errors.New("this node has no name")
	}
	s := &Sender{node: node, token: hex.EncodeToString(token[:]), to: to}
	return s, s.send(hello, 0, []byte(cut(version, chunk/2)+"\n"+cut(machine, chunk/2-1)))
}

// Progress says how far the collector is. That it fails means that nobody reads any more.
func (s *Sender) Progress(text string) error {
	s.mu.Lock()
	n := s.progress
	s.progress++
	s.mu.Unlock()
	return s.send(progress, n, []byte(cut(text, chunk)))
}

// Failed says why there is no document, in a sentence.
func (s *Sender) Failed(reason string) error { return s.send(failed, 0, []byte(cut(reason, chunk))) }

// Document sends what write writes, packed. It is there as a whole once this has returned without an error.
func (s *Sender) Document(write func(io.Writer) error) error {
	parts := &parts{s: s, sum: crc32.New(sums)}
	pack := gzip.NewWriter(parts)
	err := write(pack)
	if err == nil {
		err = pack.Close()
	}
	if err == nil {
		err = parts.flush()
	}
	if err != nil {
		return err
	}
	return s.send(end, parts.sent, fmt.Appendf(nil, "%08x", parts.sum.Sum32()))
}

func (s *Sender) send(k kind, number int, payload []byte) error {
	if number > maxNumber {
		return errors.New("there are more lines than can be numbered")
	}
	l := line{s.node, s.token, k, number, payload}
	text := l.append(nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.to.Write(text)
	return err
}

// parts sends bytes in lines.
type parts struct {
	s    *Sender
	sum  hash.Hash32
	kept []byte
	sent int
}

func (p *parts) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		room := min(chunk-len(p.kept), len(b))
		p.kept, b = append(p.kept, b[:room]...), b[room:]
		if len(p.kept) == chunk {
			if err := p.flush(); err != nil {
				return 0, err
			}
		}
	}
	return n, nil
}

func (p *parts) flush() error {
	if len(p.kept) == 0 {
		return nil
	}
	_, _ = p.sum.Write(p.kept) // it never fails
	err := p.s.send(data, p.sent, p.kept)
	p.kept = p.kept[:0]
	p.sent++
	return err
}

// cut keeps the beginning of a text that is too long.
func cut(text string, most int) string {
	const sign = "…"
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= most {
		return text
	}
	n := most - len(sign)
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + sign
}
