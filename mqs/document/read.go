package document

import (
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mpi-queues/mpi-queues/mqs"
	"github.com/mpi-queues/mpi-queues/mqs/inferior"
)

// lenient takes what encoding/json took, with which documents were read before.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// reader makes the model of what package json has read of one process. What is not there is not
// known.
type reader struct {
	*Parser
	err error // the first one
}

// process parses one process.
func (p *Parser) process(text []byte) (*mqs.Process, error) {
	var doc processJSON
	if err := json.Unmarshal(text, &doc, lenient); err != nil {
		return nil, err
	}
	r, out := reader{Parser: p}, new(mqs.Process)
	r.readProcess(out, &doc)
	for i := range out.Threads {
		// A thread in a call is where it is, also in a document that does not say so.
		t := &out.Threads[i]
		t.Placed = t.Placed || t.Call != ""
	}
	return out, r.err
}

// intern returns the one copy of a string that is kept.
func (p *Parser) intern(s string) string {
	if s == "" {
		return ""
	}
	p.mu.RLock()
	kept, ok := p.strings[s]
	p.mu.RUnlock()
	if ok {
		return kept
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.strings == nil {
		p.strings = map[string]string{}
	}
	p.strings[s] = s
	return s
}

func (p *Parser) internMaybe(text *string) mqs.Maybe[string] {
	if text == nil {
		return mqs.Maybe[string]{}
	}
	return mqs.Known(p.intern(*text))
}

func (p *Parser) internAll(texts []string) []string {
	for i, text := range texts {
		texts[i] = p.intern(text)
	}
	return texts
}

// group parses the ranks of a group. All members of a communicator have the
// same one, which is parsed and kept once.
func (r *reader) group(text jsontext.Value) []mqs.Maybe[int32] {
	if len(text) == 0 || string(text) == "null" {
		return nil
	}
	r.mu.RLock()
	kept, ok := r.groups[string(text)]
	r.mu.RUnlock()
	if ok {
		return kept
	}
	var ranks []*int32
	if err := json.Unmarshal(text, &ranks, lenient); err != nil {
		if r.err == nil {
			r.err = err
		}
		return nil
	}
	group := make([]mqs.Maybe[int32], len(ranks))
	for i, rank := range ranks {
		group[i] = maybe(rank)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.groups == nil {
		r.groups = map[string][]mqs.Maybe[int32]{}
	}
	r.groups[string(text)] = group
	return group
}

func maybe[T any](p *T) mqs.Maybe[T] {
	if p == nil {
		return mqs.Maybe[T]{}
	}
	return mqs.Known(*p)
}

// number is one that is written as an address.
func number(a *inferior.Addr) mqs.Maybe[uint64] {
	if a == nil {
		return mqs.Maybe[uint64]{}
	}
	return mqs.Known(uint64(*a))
}

// oneOf returns a word if it is one of those, else none.
func oneOf[T ~string](word T, words ...T) T {
	if slices.Contains(words, word) {
		return word
	}
	return ""
}
